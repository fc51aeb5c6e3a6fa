"""Statements, one after another: lists, pipes, branches, loops, functions, redirections."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from submitter.importer.model import Template
from submitter.importer.shell import files, patterns
from submitter.importer.shell.arithmetic import Arithmetic
from submitter.importer.shell.braces import expanded
from submitter.importer.shell.commands import run_command
from submitter.importer.shell.conditions import test_clause
from submitter.importer.shell.flow import BreakLoop, ContinueLoop, DiscardCommand, ExitShell, ReturnFrom
from submitter.importer.shell.state import BashStopsError, Element, Shell, Variable
from submitter.importer.shell.template import EMPTY, joined, literal, text_of
from submitter.importer.shell.words import Words
from submitter.importer.syntax import Node, end_line, line_of

_MAX_ROUNDS = 10_000
"""Of one loop; a launch script loops over nodes and ports."""
_DROPPED_SHOWN = 60


class Statements:
    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.words = Words(shell, self)

    def run(self, statements: Sequence[Node]) -> int:
        for statement in statements:
            self._statement(statement)
        return self.shell.status

    def run_script(self, statements: Sequence[Node]) -> int:
        """The top level of a script: an error in an expansion drops what was read as one, `a; b` on a line too."""
        dropped = 0
        for statement in statements:
            if line_of(statement) == dropped:
                continue
            try:
                self._statement(statement)
            except DiscardCommand:
                dropped = end_line(statement)
                self.shell.status = 1
                self.shell.tested = 0
        return self.shell.status

    def tested(self, statements: Sequence[Node]) -> bool:
        """As a condition: `set -e` does not count in it."""
        self.shell.tested += 1
        try:
            return self.run(statements) == 0
        finally:
            self.shell.tested -= 1

    def captured(self, statements: Sequence[Node], node: Node) -> Template:
        """The output of `$( )`, in a subshell, without the line ends at its end."""
        shell = self.shell
        line = shell.line
        child = shell.fork()
        child.out = []
        child.options.discard("e")  # bash drops it in `$( )`
        child.stdin = shell.stdin
        shell.status = Statements(child).guarded(statements)
        shell.line = line
        return _without_line_ends(shell, joined(child.out), line_of(node))

    def guarded(self, statements: Sequence[Node]) -> int:
        """The exit status of a subshell."""
        try:
            return self.run(statements)
        except ExitShell as end:
            return end.status
        except DiscardCommand:
            return 1
        except BashStopsError as error:
            self.shell.note(error.text_id, "warning", error.place.line if error.place else None, **error.values)
            return 1
        except (ReturnFrom, BreakLoop, ContinueLoop):
            return self.shell.status

    # ── one statement ────────────────────────────────────────────────────────────────────────────────────────────

    def _statement(self, node: Node) -> None:
        shell = self.shell
        shell.step()
        shell.line = line_of(node)
        shell.comments = _comments(node)
        command = node.get("Cmd")
        if command is None:  # redirections alone: `> file`
            self._redirected(node.get("Redirs", []), lambda: 0)
            return
        if node.get("Background"):
            self._background(node)
            return
        status = self._redirected(node.get("Redirs", []), lambda: self.command(command))
        shell.status = int(not status) if node.get("Negated") else status
        if status and not node.get("Negated") and _counts(command):
            self._error_exit(line_of(node))

    def _error_exit(self, line: int) -> None:
        shell = self.shell
        if "e" in shell.options and not shell.tested:
            shell.note("importer.stops", line=line, status=shell.status)
            raise ExitShell(shell.status, line)

    def _background(self, node: Node) -> None:
        child = self.shell.fork()
        Statements(child).guarded([{**node, "Background": False}])
        self.shell.status = 0

    def command(self, node: Node) -> int:
        handler = _COMMANDS.get(node["Type"])
        if handler is None:
            raise self.shell.fail("importer.unsupported", line_of(node), what=node["Type"])
        return handler(self, node)

    # ── simple commands ──────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, node: Node) -> int:
        shell = self.shell
        fields = self.words.fields(node.get("Args", []))
        if not fields:
            shell.status = 0
            for assign in node.get("Assigns", []):
                self.assign(assign)
            self._trace(node)
            return shell.status
        if not node.get("Assigns"):
            return run_command(self, fields, node)
        return self._with_environment(node, fields)

    def _trace(self, node: Node) -> None:
        if node.get("Args"):  # `$EMPTY`: a command whose words all vanished
            self.shell.note("importer.no_words", line=line_of(node))

    def _with_environment(self, node: Node, fields: list[Element]) -> int:
        """`VAR=x command`: the assignments are the command's alone."""
        shell = self.shell
        before = {assign["Name"]["Value"]: shell.variables.get(assign["Name"]["Value"]) for assign in node["Assigns"]}
        for assign in node["Assigns"]:
            self.assign(assign, export=True)
        try:
            return run_command(self, fields, node)
        finally:
            for name, variable in before.items():
                if variable is None:
                    shell.variables.pop(name, None)
                else:
                    shell.variables[name] = variable

    def assign(self, node: Node, *, export: bool = False) -> None:
        shell = self.shell
        name = node["Name"]["Value"]
        if node.get("Array") is not None:
            self._assign_array(name, node)
        elif node.get("Index") is not None:
            self._assign_element(name, node)
        else:
            value = self.words.text(node.get("Value"))
            shell.assign(name, self._appended(name, value) if node.get("Append") else value, export=export)

    def _appended(self, name: str, value: Template) -> Template:
        variable = self.shell.variables.get(name)
        if variable is not None and variable.integer:
            total = Arithmetic(self.words)
            texts = [text_of(self.words.parameter_value(name)) or "0", text_of(value) or "0"]
            return literal(str(sum(total._of_text(text)[0] for text in texts)))
        if variable is None and self.shell.given(name) is None:
            return value
        return joined([self.words.parameter_value(name), value])

    def _assign_array(self, name: str, node: Node) -> None:
        old = self.shell.variables.get(name)
        keyed = bool(old and old.keyed)
        elements: dict[int | str, Element] = {}
        if node.get("Append") and old is not None:
            elements = dict(old.elements or ({0: Element(old.value)} if old.value is not None else {}))
        at = max((int(key) for key in elements), default=-1) + 1 if not keyed else 0
        for item in node["Array"].get("Elems", []):
            self.shell.line = line_of(item)
            if item.get("Index") is not None:
                key = self.words._parameters.key(old if keyed else None, item["Index"])
                elements[key] = Element(self.words.text(item.get("Value")), line_of(item))
                at = int(key) + 1 if not keyed else at
                continue
            comments = _comments(item)
            for number, field in enumerate(self.words.fields([item["Value"]])):
                elements[at] = _grouped(field, name, comments if number == 0 else ())
                at += 1
        self.shell.assign_array(name, elements, keyed=keyed)

    def _assign_element(self, name: str, node: Node) -> None:
        old = self.shell.variables.get(name)
        key = self.words._parameters.key(old, node["Index"])
        elements = dict((old.elements if old else None) or {})
        value = self.words.text(node.get("Value"))
        if node.get("Append") and key in elements:
            value = joined([elements[key].template, value])
        elements[key] = Element(value, self.shell.line, group=name)
        self.shell.assign_array(name, elements, keyed=bool(old and old.keyed))

    def _declare(self, node: Node) -> int:
        """`export`, `local`, `declare`, `readonly`, `typeset`."""
        shell = self.shell
        shell.status = 0
        kind = node["Variant"]["Value"]
        options = "".join(_option(arg) for arg in node.get("Args", []) if _option(arg).startswith("-"))
        removing = "n" in options and kind == "export"
        for arg in node.get("Args", []):
            if arg.get("Name") is None:
                if not _option(arg):
                    self._declare_dynamic(kind, arg)
                continue
            self._declare_one(kind, options, arg, removing)
        return 0 if kind != "local" else shell.status

    def _declare_one(self, kind: str, options: str, arg: Node, removing: bool) -> None:
        shell = self.shell
        name = arg["Name"]["Value"]
        if kind in ("local", "declare", "typeset") and "g" not in options:
            shell.declare_local(name)
        if kind == "local" and shell.locals and arg.get("Naked"):
            shell.variables[name] = Variable(None, line=shell.line)
        if "A" in options:
            shell.variables[name] = Variable(None, {}, keyed=True, line=shell.line)
        if "i" in options:
            shell.variables[name] = Variable(None, integer=True, line=shell.line)
        export = kind == "export" or "x" in options
        if arg.get("Naked"):
            if "a" in options and name not in shell.variables:
                shell.assign_array(name, {})
            self._export(name, not removing) if export else None
            return
        for one in _brace_expanded(arg):
            self.assign(one, export=export)
        if "i" in options:
            number = Arithmetic(self.words)._of_template(self.words.parameter_value(name))[0]
            shell.assign(name, literal(str(number)))
        if removing:
            self._export(name, False)

    def _declare_dynamic(self, kind: str, arg: Node) -> None:
        """`export "$pair"`, `declare "$name=$value"`: the name is only known now."""
        for field in self.words.fields([arg["Value"]]):
            name, equals, value = field.text.partition("=")
            if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
                if not name.startswith("-"):
                    self.shell.note("importer.bad_export", text=field.text[:60])
                continue
            self.shell.decide(field.template)
            if equals:
                self.shell.assign(name, literal(value), export=kind == "export")
            elif kind == "export":
                self._export(name, True)

    def _export(self, name: str, exported: bool) -> None:
        shell = self.shell
        variable = shell.variables.get(name)
        if variable is None:
            given = shell.given(name)
            if exported and given is not None:
                shell.variables[name] = Variable(shell.input(name), exported=True, declared=True, line=shell.line)
            elif exported:
                shell.variables[name] = Variable(None, exported=True, declared=True, line=shell.line)
            return
        shell.variables[name] = replace(variable, exported=exported, declared=exported)

    # ── lists and pipes ──────────────────────────────────────────────────────────────────────────────────────────

    def _binary(self, node: Node) -> int:
        if node["Op"] in ("|", "|&"):
            return self._pipe(node)
        left = self.tested([node["X"]])
        if left == (node["Op"] == "||"):
            return self.shell.status
        self._statement(node["Y"])
        return self.shell.status

    def _pipe(self, node: Node) -> int:
        stages = [*_stages(node["X"]), node["Y"]]
        statuses = []
        flowing: Template = self.shell.stdin
        for number, stage in enumerate(stages):
            last = number == len(stages) - 1
            child = self.shell.fork()
            child.stdin, child.in_pipe = flowing, True
            child.out = self.shell.out if last else []
            statuses.append(Statements(child).guarded([stage]))
            if not last:
                flowing = joined(child.out or [])
        failed = [status for status in statuses if status]
        return failed[-1] if failed and "pipefail" in self.shell.options else statuses[-1]

    # ── branches and loops ───────────────────────────────────────────────────────────────────────────────────────

    def _if(self, node: Node) -> int:
        clause: Node | None = node
        while clause is not None:
            conditions = clause.get("Cond", [])
            if not conditions or self.tested(conditions):
                self.shell.status = 0
                return self.run(clause.get("Then", []))
            clause = clause.get("Else")
        return 0

    def _case(self, node: Node) -> int:
        text = self.shell.decide(self.words.text(node["Word"]))
        falling = False
        for item in node.get("Items", []):
            if not falling and not any(patterns.matches(self.words.pattern(p), text) for p in item["Patterns"]):
                continue
            self.shell.status = 0
            self.run(item.get("Stmts", []))
            if item["Op"] == ";;":
                return self.shell.status
            falling = item["Op"] == ";&"
        return self.shell.status if falling else 0

    def _for(self, node: Node) -> int:
        if node.get("Select"):
            raise self.shell.fail("importer.unsupported", what="select")
        loop = node["Loop"]
        if loop["Type"] == "CStyleLoop":
            return self._c_style(loop, node["Do"])
        name = loop["Name"]["Value"]
        items = self.words.fields(loop.get("Items", [])) if loop.get("InPos") or "Items" in loop else self.shell.params
        status = 0
        for item in list(items):
            self.shell.assign(name, item.template)
            status, more = self._round(node["Do"])
            if not more:
                break
        return status

    def _c_style(self, loop: Node, body: Sequence[Node]) -> int:
        arithmetic = Arithmetic(self.words)
        if loop.get("Init"):
            arithmetic.value(loop["Init"])
        status = 0
        for _ in range(_MAX_ROUNDS):
            if loop.get("Cond") and not arithmetic.number(loop["Cond"]):
                return status
            status, more = self._round(body)
            if not more:
                return status
            if loop.get("Post"):
                arithmetic.value(loop["Post"])
        raise self.shell.fail("importer.endless_loop", limit=_MAX_ROUNDS)

    def _while(self, node: Node) -> int:
        line, status = self.shell.line, 0
        for _ in range(_MAX_ROUNDS):
            if self.tested(node["Cond"]) == bool(node.get("Until")):
                return status
            status, more = self._round(node["Do"])
            if not more:
                return status
        raise self.shell.fail("importer.endless_loop", line, limit=_MAX_ROUNDS)

    def _round(self, body: Sequence[Node]) -> tuple[int, bool]:
        """The status of one round, and whether another may follow."""
        self.shell.step()
        try:
            return self.run(body), True
        except BreakLoop as end:
            if end.levels > 1:
                raise BreakLoop(end.levels - 1) from None
            return 0, False
        except ContinueLoop as end:
            if end.levels > 1:
                raise ContinueLoop(end.levels - 1) from None
            return 0, True

    def _block(self, node: Node) -> int:
        return self.run(node.get("Stmts", []))

    def _subshell(self, node: Node) -> int:
        return Statements(self.shell.fork()).guarded(node.get("Stmts", []))

    def _function(self, node: Node) -> int:
        self.shell.functions[node["Name"]["Value"]] = node["Body"]
        return 0

    def call_function(self, body: Node, arguments: list[Element]) -> int:
        shell = self.shell
        params, shell.params = shell.params, arguments
        shell.depth += 1
        shell.check_depth()
        shell.push_frame()
        try:
            self._statement(body)
            return shell.status
        except ReturnFrom as end:
            return end.status
        finally:
            shell.pop_frame()
            shell.depth -= 1
            shell.params = params

    def _arithmetic(self, node: Node) -> int:
        return self._calculated([node["X"]])

    def _let(self, node: Node) -> int:
        return self._calculated(node["Exprs"])

    def _calculated(self, expressions: Sequence[Node]) -> int:
        """An error in them fails this command alone."""
        try:
            values = [Arithmetic(self.words).number(expression) for expression in expressions]
        except DiscardCommand:
            return 1
        return int(not values[-1])

    def _test(self, node: Node) -> int:
        return test_clause(self.words, node["X"])

    def _time(self, node: Node) -> int:
        self._statement(node["Stmt"])
        return self.shell.status

    # ── redirections ─────────────────────────────────────────────────────────────────────────────────────────────

    def _redirected(self, redirections: Sequence[Node], run: Callable[[], int]) -> int:
        shell = self.shell
        if not redirections:
            return run()
        out, stdin = shell.out, shell.stdin
        target: tuple[str, bool] | None = None
        for redirection in redirections:
            found = self._redirect(redirection)
            target = found if found is not None else target
        try:
            status = run()
            if target is not None:
                self._write(target, shell.out)
            return status
        finally:
            shell.out, shell.stdin = out, stdin

    def _redirect(self, node: Node) -> tuple[str, bool] | None:
        """Sets standard input or output; returns the file that the output goes to, and whether at its end."""
        shell, sign = self.shell, node["Op"]
        number = (node.get("N") or {}).get("Value", "")
        if node.get("Hdoc") is not None:
            plain = any(
                part["Type"] != "Lit" or "\\" in part.get("Value", "") for part in node["Word"].get("Parts", [])
            )
            text = self.words.heredoc(node["Hdoc"], plain=plain)
            shell.stdin = _without_tabs(text) if sign == "<<-" else text
            return None
        if sign in ("<<", "<<-"):
            shell.stdin = EMPTY
            return None
        template = self.words.text(node.get("Word"))
        if sign == "<<<":
            shell.stdin = joined([template, literal("\n")])
        elif sign == "<":
            self._read_from(template)
        elif sign in (">&", "<&"):
            if sign == ">&" and number in ("", "1") and text_of(template) != "1":
                shell.out = []
        elif number in ("", "1") or sign in ("&>", "&>>"):
            return self._to_file(template, append=">>" in sign)
        return None

    def _read_from(self, template: Template) -> None:
        path = self.shell.decide(template)
        found = files.content(self.shell, path)
        self.shell.stdin = found if found is not None else self.shell.unknown(f"< {path}"[:80], "input")

    def _to_file(self, template: Template, *, append: bool) -> tuple[str, bool] | None:
        shell = self.shell
        path = text_of(template)
        shell.out = []
        if path.startswith("/dev/"):
            return None
        folder = path.rpartition("/")[0]
        if folder and not files.is_folder(shell, folder):
            shell.note("importer.no_folder", path=path[:120], folder=folder[:120])
        return path, append

    def _write(self, target: tuple[str, bool], out: list[Template] | None) -> None:
        path, append = target
        files.write(self.shell, path, joined(out or []), append=append)
        if self.shell.quiet == 0 and out:
            self.shell.note("importer.writes_file", "warning", path=path[:120])


_COMMANDS: dict[str, Callable[[Statements, Node], int]] = {
    "CallExpr": Statements._call,
    "DeclClause": Statements._declare,
    "BinaryCmd": Statements._binary,
    "IfClause": Statements._if,
    "CaseClause": Statements._case,
    "ForClause": Statements._for,
    "WhileClause": Statements._while,
    "Block": Statements._block,
    "Subshell": Statements._subshell,
    "FuncDecl": Statements._function,
    "ArithmCmd": Statements._arithmetic,
    "LetClause": Statements._let,
    "TestClause": Statements._test,
    "TimeClause": Statements._time,
}


def _brace_expanded(arg: Node) -> list[Node]:
    """`export A={x,y}` is `export A=x A=y`."""
    value = arg.get("Value")
    if value is None:
        return [arg]
    return [{**arg, "Value": {**value, "Parts": parts}} for parts in expanded(value.get("Parts", []))]


def _counts(command: Node) -> bool:
    """Whether `set -e` looks at this status here, and not already inside."""
    return command["Type"] not in ("IfClause", "CaseClause", "ForClause", "WhileClause", "Block") and not (
        command["Type"] == "BinaryCmd" and command["Op"] in ("&&", "||")
    )


def _stages(node: Node) -> list[Node]:
    command = node.get("Cmd") or {}
    plain = not node.get("Redirs") and not node.get("Negated")
    if plain and command.get("Type") == "BinaryCmd" and command["Op"] in ("|", "|&"):
        return [*_stages(command["X"]), command["Y"]]
    return [node]


def _grouped(field: Element, group: str, comments: tuple[str, ...]) -> Element:
    """An array of arrays keeps the names of the inner ones."""
    return Element(field.template, field.line, field.comments or comments, field.group or group)


def _option(arg: Node) -> str:
    parts = (arg.get("Value") or {}).get("Parts", []) if arg.get("Name") is None else []
    text = parts[0].get("Value", "") if len(parts) == 1 and parts[0]["Type"] == "Lit" else ""
    return text if text[:1] in ("-", "+") else ""


def _comments(node: Node) -> tuple[str, ...]:
    return tuple(comment.get("Text", "").strip() for comment in node.get("Comments", []))


def _without_tabs(template: Template) -> Template:
    text = text_of(template)
    return literal(re.sub(r"^\t+", "", text, flags=re.MULTILINE)) if "\t" in text else template


def _without_line_ends(shell: Shell, template: Template, _line: int) -> Template:
    text = text_of(template)
    stripped = text.rstrip("\n").replace("\0", "")
    if stripped == text:
        return template
    from submitter.importer.model import Lit

    last: Any = template[-1]
    if isinstance(last, Lit):
        rest = last.text.rstrip("\n")
        shorter = joined([template[:-1], literal(rest)])
        if text_of(shorter) == stripped:
            return shorter
    return literal(shell.decide(template).rstrip("\n").replace("\0", ""))
