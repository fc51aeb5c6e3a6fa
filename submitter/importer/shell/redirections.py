"""`> file`, `2>&1`, `<<EOF`: where a command's output goes, and what it reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from submitter.importer.model import Template
from submitter.importer.shell import files
from submitter.importer.shell.template import EMPTY, joined, literal, text_of
from submitter.importer.syntax import Node

if TYPE_CHECKING:
    from submitter.importer.shell.words import Words


class Redirections:
    def __init__(self, words: Words) -> None:
        self._words = words
        self._shell = words.shell

    def around(self, redirections: Sequence[Node], run: Callable[[], int]) -> int:
        shell = self._shell
        if not redirections:
            return run()
        out, stdin = shell.out, shell.stdin
        target: tuple[str, bool] | None = None
        for redirection in redirections:
            found = self._redirect(redirection)
            target = found if found is not None else target
        launches = len(shell.record.launches)
        try:
            status = run()
            if target is not None:
                self._write(target, shell.out, told=launches == len(shell.record.launches))
            return status
        finally:
            shell.out, shell.stdin = out, stdin

    def _redirect(self, node: Node) -> tuple[str, bool] | None:
        """Sets standard input or output; returns the file that the output goes to, and whether at its end."""
        shell, sign = self._shell, node["Op"]
        number = (node.get("N") or {}).get("Value", "")
        if node.get("Hdoc") is not None:
            plain = any(
                part["Type"] != "Lit" or "\\" in part.get("Value", "") for part in node["Word"].get("Parts", [])
            )
            text = self._words.heredoc(node["Hdoc"], plain=plain)
            shell.stdin = _without_tabs(text) if sign == "<<-" else text
            return None
        if sign in ("<<", "<<-"):
            shell.stdin = EMPTY
            return None
        if sign == "<":
            shell.stdin = self.read(node)
            return None
        template = self._words.text(node.get("Word"))
        if sign == "<<<":
            shell.stdin = joined([template, literal("\n")])
        elif sign in (">&", "<&"):
            if sign == ">&" and number in ("", "1") and text_of(template) != "1":
                shell.out = []
        elif number in ("", "1") or sign in ("&>", "&>>"):
            return self._to_file(template, append=">>" in sign)
        return None

    def read(self, node: Node) -> Template:
        """What is in the file of `< file`."""
        path = self._shell.decide(self._words.text(node["Word"]))
        found = files.content(self._shell, path)
        return found if found is not None else self._shell.unknown(f"< {path}"[:80], "input")

    def _to_file(self, template: Template, *, append: bool) -> tuple[str, bool] | None:
        shell = self._shell
        path = text_of(template)
        shell.out = []
        if path.startswith("/dev/"):
            return None
        folder = path.rpartition("/")[0]
        if folder and not files.is_folder(shell, folder):
            shell.note("importer.no_folder", path=path[:120], folder=folder[:120])
        return path, append

    def _write(self, target: tuple[str, bool], out: list[Template] | None, *, told: bool) -> None:
        path, append = target
        files.write(self._shell, path, joined(out or []), append=append)
        if told and out:
            self._shell.note("importer.writes_file", "warning", path=path[:120])


def _without_tabs(template: Template) -> Template:
    text = text_of(template)
    return literal(re.sub(r"^\t+", "", text, flags=re.MULTILINE)) if "\t" in text else template
