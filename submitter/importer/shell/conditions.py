"""`[ … ]`, `test` and `[[ … ]]`. Whatever a condition looks at is decided."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from submitter.importer.model import Template
from submitter.importer.shell import patterns
from submitter.importer.shell.arithmetic import Arithmetic
from submitter.importer.shell.files import exists, is_file, is_folder, size_of
from submitter.importer.shell.flow import DiscardCommand
from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import literal
from submitter.importer.syntax import Node

if TYPE_CHECKING:
    from submitter.importer.shell.words import Words

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b, "-ne": lambda a, b: a != b, "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b, "-gt": lambda a, b: a > b, "-ge": lambda a, b: a >= b,
}  # fmt: skip
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda a, b: a == b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b, ">": lambda a, b: a > b,
}  # fmt: skip
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_MODES = {"-r": os.R_OK, "-w": os.W_OK, "-x": os.X_OK}
_KINDS = {"-L": stat.S_ISLNK, "-h": stat.S_ISLNK, "-p": stat.S_ISFIFO, "-S": stat.S_ISSOCK, "-b": stat.S_ISBLK,
          "-c": stat.S_ISCHR}  # fmt: skip
_UNARY = (
    "-z",
    "-n",
    "-e",
    "-a",
    "-f",
    "-d",
    "-s",
    "-r",
    "-w",
    "-x",
    "-L",
    "-h",
    "-p",
    "-S",
    "-b",
    "-c",
    "-v",
    "-t",
    "-o",
)
_BINARY = (*_COMPARE, *_TEXTS, "-nt", "-ot", "-ef")


class WrongTestError(Exception):
    """bash says so, and goes on with status 2."""


def test_command(shell: Shell, arguments: Sequence[Element]) -> int:
    """The status of `test arguments…`, by POSIX's rules for the number of arguments."""
    try:
        return int(not _Test(shell, arguments).whole())
    except WrongTestError as error:
        shell.note("importer.bad_test", problem=str(error)[:80])
        return 2


def test_clause(words: Words, node: Node) -> int:
    """The status of `[[ node ]]`."""
    try:
        return int(not _clause(words, node))
    except DiscardCommand:
        return 1
    except WrongTestError as error:
        words.shell.note("importer.bad_test", problem=str(error)[:80])
        return 2


class _Test:
    def __init__(self, shell: Shell, arguments: Sequence[Element]) -> None:
        self._shell = shell
        self._templates = [argument.template for argument in arguments]
        self._texts = [argument.text for argument in arguments]

    def whole(self) -> bool:
        return self._of(0, len(self._texts))

    def _of(self, low: int, high: int) -> bool:
        count, texts = high - low, self._texts[low:high]
        if count == 0:
            return False
        if count == 1:
            return self._shell.decide(self._templates[low]) != ""
        if count == 2:
            if texts[0] == "!":
                return not self._of(low + 1, high)
            if texts[0] in _UNARY:
                return unary(self._shell, texts[0], self._templates[low + 1])
            raise WrongTestError(texts[0])
        if count == 3 and texts[1] in _BINARY:
            return binary(self._shell, self._templates[low], texts[1], self._templates[low + 2])
        return self._long(low, high, texts)

    def _long(self, low: int, high: int, texts: list[str]) -> bool:
        for sign in ("-o", "-a"):
            if sign in texts[1:-1]:
                at = low + 1 + texts[1:-1].index(sign)
                left = self._of(low, at)
                right = self._of(at + 1, high)
                return left or right if sign == "-o" else left and right
        if texts[0] == "!":
            return not self._of(low + 1, high)
        if texts[0] == "(" and texts[-1] == ")":
            return self._of(low + 1, high - 1)
        raise WrongTestError("too many arguments")


def unary(shell: Shell, sign: str, template: Template) -> bool:
    text = shell.decide(template)
    if sign in ("-z", "-n"):
        return (text == "") == (sign == "-z")
    if sign == "-v":
        return _is_set(shell, text)
    if sign == "-t":
        return False
    if sign == "-o":
        return text[:1] in shell.options or text in shell.options
    shell.note("importer.file_decides", "warning", path=text[:120])
    return _file(shell, sign, text)


def binary(shell: Shell, left: Template, sign: str, right: Template) -> bool:
    first, second = shell.decide(left), shell.decide(right)
    if sign in _COMPARE:
        return _COMPARE[sign](_integer(first), _integer(second))
    if sign in _TEXTS:
        return _TEXTS[sign](first, second)
    shell.note("importer.file_decides", "warning", path=f"{first} {sign} {second}"[:120])
    try:
        ages = [os.stat(os.path.join(shell.cwd, path)) for path in (first, second)]  # noqa: PTH116, PTH118
    except OSError:
        there = [os.path.exists(os.path.join(shell.cwd, path)) for path in (first, second)]  # noqa: PTH110, PTH118
        return sign != "-ef" and there == [sign == "-nt", sign == "-ot"]  # what is there is newer than what is not
    if sign == "-ef":
        return os.path.samestat(*ages)
    return ages[0].st_mtime > ages[1].st_mtime if sign == "-nt" else ages[0].st_mtime < ages[1].st_mtime


def _integer(text: str) -> int:
    if _INTEGER.fullmatch(text) is None or abs(int(text)) >= 1 << 63:
        raise WrongTestError(f"{text}: integer expression expected")
    return int(text)


def _is_set(shell: Shell, name: str) -> bool:
    name = name.partition("[")[0]
    variable = shell.variable(name)
    if variable is not None:
        return variable.value is not None or bool(variable.elements)
    given = shell.given(name)
    shell.decide(shell.input(name))
    if given is None:
        shell.record.unset.add(name)
    return given is not None


def _file(shell: Shell, sign: str, path: str) -> bool:
    if not path:
        return False
    if sign in ("-e", "-a"):
        return exists(shell, path)
    if sign == "-f":
        return is_file(shell, path)
    if sign == "-d":
        return is_folder(shell, path)
    if sign == "-s":
        return size_of(shell, path) > 0
    full = os.path.join(shell.cwd, path)  # noqa: PTH118
    if sign in _MODES:
        return exists(shell, path) and (os.access(full, _MODES[sign]) or not os.path.exists(full))  # noqa: PTH110
    try:
        return bool(_KINDS[sign](os.lstat(full).st_mode))
    except OSError:
        return False


def _clause(words: Words, node: Node) -> bool:
    shell = words.shell
    shell.step()
    kind = node.get("Type", "Word")
    if kind == "ParenTest":
        return _clause(words, node["X"])
    if kind == "Word":
        return shell.decide(words.text(node)) != ""
    if kind == "UnaryTest":
        if node["Op"] == "!":
            return not _clause(words, node["X"])
        return unary(shell, node["Op"], words.text(node["X"]))
    sign = node["Op"]
    if sign in ("&&", "||"):
        left = _clause(words, node["X"])
        return left if left == (sign == "||") else _clause(words, node["Y"])
    if sign in ("=", "==", "!="):
        text = shell.decide(words.text(node["X"]))
        matched = patterns.matches(words.pattern(node["Y"]), text)
        return not matched if sign == "!=" else matched
    if sign == "=~":
        return _regex(words, node)
    if sign in _COMPARE:
        try:
            return _COMPARE[sign](Arithmetic(words).number(node["X"]), Arithmetic(words).number(node["Y"]))
        except DiscardCommand:  # bash tells the error, and the comparison is false
            return False
    return binary(shell, words.text(node["X"]), sign, words.text(node["Y"]))


def _regex(words: Words, node: Node) -> bool:
    """POSIX's extended expressions, as far as Python's agree with them."""
    shell = words.shell
    text = shell.decide(words.text(node["X"]))
    chars = words.pattern(node["Y"])
    expression = "".join(char.text if char.special else re.escape(char.text) for char in chars)
    for name, inside in patterns.CLASSES.items():
        expression = expression.replace(f"[:{name}:]", inside)
    try:
        found = re.search(re.sub(r"(?<!\\)\$$", r"\\Z", expression), text, re.DOTALL)
    except re.error as error:
        raise shell.fail("importer.unsupported", what=f"the expression {expression[:40]}: {error}") from None
    groups = [found[0], *(group or "" for group in found.groups())] if found else []
    shell.assign_array("BASH_REMATCH", {index: Element(literal(group)) for index, group in enumerate(groups)})
    return found is not None
