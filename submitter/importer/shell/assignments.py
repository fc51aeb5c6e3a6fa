"""`A=x`, `A+=(…)`, `export A=x`, `local`, `declare`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from submitter.importer.model import Template
from submitter.importer.shell.arithmetic import Arithmetic
from submitter.importer.shell.braces import expanded
from submitter.importer.shell.state import Element, Variable
from submitter.importer.shell.template import joined, literal, text_of
from submitter.importer.syntax import Node, comments_of, line_of

if TYPE_CHECKING:
    from submitter.importer.shell.words import Words


class Assignments:
    def __init__(self, words: Words) -> None:
        self._words = words
        self._shell = words.shell

    def assign(self, node: Node, *, export: bool = False) -> None:
        shell = self._shell
        name = shell.target(node["Name"]["Value"])
        if node.get("Array") is not None:
            self._assign_array(name, node)
        elif node.get("Index") is not None:
            self._assign_element(name, node)
        else:
            value = node["Text"] if "Text" in node else self._words.text(node.get("Value"))
            shell.assign(name, self._appended(name, value) if node.get("Append") else value, export=export)

    def _appended(self, name: str, value: Template) -> Template:
        variable = self._shell.variables.get(name)
        if variable is not None and variable.integer:
            total = Arithmetic(self._words)
            texts = [text_of(self._words.parameter_value(name)) or "0", text_of(value) or "0"]
            return literal(str(sum(total.of_text(text) for text in texts)))
        if variable is None and self._shell.given(name) is None:
            return joined([self._shell.input(name), value])
        if variable is not None and variable.value is None and variable.elements is None:
            return value
        return joined([self._words.parameter_value(name), value])

    def _assign_array(self, name: str, node: Node) -> None:
        old = self._shell.variables.get(name)
        keyed = bool(old and old.keyed)
        elements: dict[int | str, Element] = {}
        if node.get("Append") and old is not None:
            elements = dict(old.elements or ({0: Element(old.value)} if old.value is not None else {}))
        at = max((int(key) for key in elements), default=-1) + 1 if not keyed else 0
        for item in node["Array"].get("Elems", []):
            self._shell.line = line_of(item)
            if item.get("Index") is not None:
                key = self._words.key(old if keyed else None, item["Index"])
                elements[key] = Element(self._words.text(item.get("Value")), line_of(item))
                at = int(key) + 1 if not keyed else at
                continue
            comments = comments_of(item)
            for number, field in enumerate(self._words.fields([item["Value"]], element=True)):
                elements[at] = _grouped(field, name, comments if number == 0 else ())
                at += 1
        self._shell.assign_array(name, elements, keyed=keyed)

    def _assign_element(self, name: str, node: Node) -> None:
        old = self._shell.variables.get(name)
        key = self._words.key(old, node["Index"])
        elements = dict((old.elements if old else None) or {})
        value = self._words.text(node.get("Value"))
        if node.get("Append") and key in elements:
            value = joined([elements[key].template, value])
        elements[key] = Element(value, self._shell.line, group=name)
        self._shell.assign_array(name, elements, keyed=bool(old and old.keyed))

    def declare(self, node: Node) -> int:
        """`export`, `local`, `declare`, `readonly`, `typeset`."""
        kind = node["Variant"]["Value"]
        options = "".join(_option(arg) for arg in node.get("Args", []) if _option(arg).startswith("-"))
        plus = "".join(_option(arg) for arg in node.get("Args", []) if _option(arg).startswith("+"))
        removing = ("n" in options and kind == "export") or "x" in plus
        ready = [self._ready(arg) for arg in node.get("Args", [])]
        for arg in ready:
            if arg.get("Name") is None:
                if not _option(arg):
                    self._declare_dynamic(kind == "export" or "x" in options, arg)
                continue
            self._declare_one(kind, options, arg, removing)
        return 0

    def _ready(self, arg: Node) -> Node:
        """`export A=1 B=$A`: bash expands all words before it sets the first name."""
        if arg.get("Name") is None or arg.get("Naked") or arg.get("Array") is not None or arg.get("Index") is not None:
            return arg
        return {**arg, "Ready": [{**one, "Text": self._words.text(one.get("Value"))} for one in _brace_expanded(arg)]}

    def _declare_one(self, kind: str, options: str, arg: Node, removing: bool) -> None:
        shell = self._shell
        name = arg["Name"]["Value"]
        if kind in ("local", "declare", "typeset") and "g" not in options:
            shell.declare_local(name)
        if kind == "local" and shell.locals and arg.get("Naked"):
            shell.variables[name] = Variable(None, line=shell.line)
        if "A" in options:
            shell.variables[name] = Variable(None, {}, keyed=True, line=shell.line)
        if "i" in options:
            shell.variables[name] = Variable(None, integer=True, line=shell.line)
        if "n" in options and kind != "export":
            target = text_of(self._words.text(arg.get("Value"))) or None
            shell.variables[name] = Variable(None, reference=target, line=shell.line)
            return
        if set(options) & set("lu") and kind != "export":
            raise shell.fail("importer.unsupported", what=f"{kind} {options}")
        export = kind == "export" or "x" in options
        if arg.get("Naked"):
            if "a" in options and name not in shell.variables:
                shell.assign_array(name, {})
            if export or removing:
                self._export(name, not removing)
            return
        for one in arg.get("Ready", [arg]):
            self.assign(one, export=export)
        if "i" in options:
            number = Arithmetic(self._words).of_text(text_of(self._words.parameter_value(name)))
            shell.assign(name, literal(str(number)))
        if removing:
            self._export(name, False)
        if kind == "readonly" or "r" in options:
            shell.variables[name] = replace(shell.variables[name], readonly=True)

    def _declare_dynamic(self, export: bool, arg: Node) -> None:
        """`export "$pair"`, `declare "$name=$value"`: the name is only known now."""
        for field in self._words.fields([arg["Value"]]):
            name, equals, value = field.text.partition("=")
            if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
                if not name.startswith("-"):
                    self._shell.note("importer.bad_export", text=field.text[:60])
                continue
            self._shell.decide(field.template)
            if equals:
                self._shell.assign(name, literal(value), export=export)
            elif export:
                self._export(name, True)

    def _export(self, name: str, exported: bool) -> None:
        shell = self._shell
        variable = shell.variables.get(name)
        if variable is None:
            given = shell.given(name)
            if exported and given is not None:
                shell.variables[name] = Variable(shell.input(name), exported=True, declared=True, line=shell.line)
            elif exported:
                shell.variables[name] = Variable(None, exported=True, declared=True, outside=True, line=shell.line)
            return
        shell.variables[name] = replace(variable, exported=exported, declared=exported)


def _brace_expanded(arg: Node) -> list[Node]:
    """`export A={x,y}` is `export A=x A=y`."""
    value = arg.get("Value")
    if value is None:
        return [arg]
    return [{**arg, "Value": {**value, "Parts": parts}} for parts in expanded(value.get("Parts", []))]


def _grouped(field: Element, group: str, comments: tuple[str, ...]) -> Element:
    """An array of arrays keeps the names of the inner ones."""
    return Element(field.template, field.line, field.comments or comments, field.group or group)


def _option(arg: Node) -> str:
    parts = (arg.get("Value") or {}).get("Parts", []) if arg.get("Name") is None else []
    text = parts[0].get("Value", "") if len(parts) == 1 and parts[0]["Type"] == "Lit" else ""
    return text if text[:1] in ("-", "+") else ""
