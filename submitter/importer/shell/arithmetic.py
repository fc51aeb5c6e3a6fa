"""`$(( ))`: 64-bit integers as bash has them, and beside the value what a job file's `${{ }}` can say of it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from submitter.importer.model import Arith, Defined, Input, Part, Template
from submitter.importer.shell.expression import NoExpressionError, parse_expression
from submitter.importer.shell.flow import DiscardCommand
from submitter.importer.shell.state import Element
from submitter.importer.shell.template import is_literal, joined, literal, text_of
from submitter.importer.syntax import Node

if TYPE_CHECKING:
    from submitter.importer.shell.words import Words

_LIMIT = 1 << 64
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9]+#[0-9A-Za-z@_]+|[0-9]+")
_SIMPLE = re.compile(r"\s*(?:-?[0-9][0-9A-Za-z#]*|[A-Za-z_][A-Za-z0-9_]*)\s*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_AND_SIGN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*[-+*/%<>&|^!~?:=,()]")
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,17}")
_MAX_SPELLED = 200
"""What a job file takes."""
_DEEPEST = 30
"""Names that refer to names, and parentheses in a variable's text."""

Operand = tuple[int, Template | None]
"""The value, and the same in a job file's spelling; None: it has none."""


def _element(word: Node) -> Node | None:
    """`A[1]`, without a `$`."""
    parts = word.get("Parts", [])
    part = parts[0] if len(parts) == 1 else {}
    return part if part.get("Type") == "ParamExp" and part.get("Short") and part.get("Index") else None


def _is_plain(word: Node) -> bool:
    parts = word.get("Parts", [])
    return len(parts) == 1 and parts[0]["Type"] == "Lit"


def _quotient(left: int, right: int) -> int:
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
    "<<": lambda left, right: left << (right % 64), ">>": lambda left, right: left >> (right % 64),
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "==": lambda left, right: int(left == right), "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right), "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right), ">=": lambda left, right: int(left >= right),
}  # fmt: skip
_SPELLED = {"+": " + ", "-": " - ", "*": " * ", "/": " // ", "%": " % "}
_ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="}


def template_of(words: Words, node: Node) -> Template:
    """The expansion of `$(( node ))`."""
    value, spelled = Arithmetic(words).value(node)
    if spelled is not None and len(text_of(spelled)) > _MAX_SPELLED:
        return words.shell.fixed((Arith(spelled, str(value)),))
    return (
        (Arith(spelled, str(value)),) if spelled is not None and not is_literal_number(spelled) else literal(str(value))
    )


def is_literal_number(spelled: Template) -> bool:
    return is_literal(spelled) and _DECIMAL.fullmatch(text_of(spelled)) is not None


class Arithmetic:
    def __init__(self, words: Words, depth: int = 0) -> None:
        self._words = words
        self._shell = words.shell
        self._depth = depth
        self._expanded: dict[int, Template] = {}
        self._touched: list[Template] = []

    def number(self, node: Node) -> int:
        """The value alone: whatever it hangs on is decided."""
        return self._alone(self.value(node))

    def value(self, node: Node) -> Operand:
        """bash first expands every `$` in the text, and only then reads it as an expression."""
        before, self._expanded = self._expanded, {}
        try:
            self._expand(node)
            if all(_SIMPLE.fullmatch(text_of(template)) for template in self._expanded.values()):
                return self._operand(node)
            return self._of_text(self._written(node))
        except DiscardCommand:
            for template in self._touched:
                self._shell.depends(template)
            raise
        finally:
            self._expanded = before

    def _expand(self, node: Node) -> None:
        if node.get("Type", "Word") == "Word":
            if not _is_plain(node):
                self._expanded[id(node)] = self._words.text(node)
            return
        for side in ("X", "Y"):
            if side in node:
                self._expand(node[side])

    def of_text(self, text: str) -> int:
        """What a variable's text counts as."""
        return self._of_text(text)[0]

    def _alone(self, operand: Operand) -> int:
        value, spelled = operand
        if spelled is not None:
            self._shell.decide((Arith(spelled, str(value)),))
        return value

    def _number(self, node: Node) -> int:
        return self._alone(self._operand(node))

    def _operand(self, node: Node) -> Operand:
        self._shell.step()
        kind = node.get("Type", "Word")
        handler: Any = {
            "BinaryArithm": self._binary, "UnaryArithm": self._unary, "ParenArithm": self._paren, "Word": self._word,
        }.get(kind)  # fmt: skip
        if handler is None:
            raise self._shell.fail("importer.unsupported", what=f"arithmetic {kind}")
        value, spelled = handler(node)
        return _wrapped(value), spelled

    def _written(self, node: Node) -> str:
        """The expression as a text, with what its `$` parts are: bash reads it only then."""
        kind = node.get("Type", "Word")
        if kind == "BinaryArithm":
            return f"{self._written(node['X'])} {node['Op']} {self._written(node['Y'])}"
        if kind == "UnaryArithm":
            inner = self._written(node["X"])
            return f"{inner}{node['Op']}" if node.get("Post") else f"{node['Op']}{inner}"
        if kind == "ParenArithm":
            return f"({self._written(node['X'])})"
        return self._shell.decide(self._expanded[id(node)]) if not _is_plain(node) else node["Parts"][0]["Value"]

    def _binary(self, node: Node) -> Operand:
        sign = node["Op"]
        if sign in _ASSIGNING:
            return self._assignment(node["X"], sign, node["Y"])
        if sign in ("&&", "||", "?"):
            for template in self._expanded.values():  # also of the side that is not taken: an error there counts
                self._shell.depends(template)
        if sign in ("&&", "||"):
            return self._logical(sign, node)
        if sign == "?":
            chosen = "X" if self._number(node["X"]) else "Y"
            return self._operand(node["Y"][chosen])
        if sign == ",":
            self._operand(node["X"])
            return self._operand(node["Y"])
        left, right = self._operand(node["X"]), self._operand(node["Y"])
        if sign in ("/", "%") and right[0] == 0:
            raise self._discard("division by 0")
        if sign == "**":
            self._plain(left, right)
            return self._power(left, right), None
        if sign not in BINARY:
            raise self._shell.fail("importer.unsupported", what=f"arithmetic {sign}")
        value = BINARY[sign](left[0], right[0])
        return value, self._spelled(sign, left, right)

    def _spelled(self, sign: str, left: Operand, right: Operand) -> Template | None:
        beyond = sign in ("/", "%") and (left[0] < 0 or right[0] < 0)  # a job file floors, bash truncates
        if left[1] is None or right[1] is None or sign not in _SPELLED or beyond:
            self._plain(left, right)
            return None
        return joined([left[1], literal(_SPELLED[sign]), right[1]])

    def _plain(self, *operands: Operand) -> None:
        """A result that no job file can express: its operands are decided."""
        for value, spelled in operands:
            if spelled is not None:
                self._shell.decide((Arith(spelled, str(value)),))

    def _power(self, left: Operand, right: Operand) -> int:
        if right[0] < 0:
            raise self._discard("exponent less than 0")
        return pow(left[0], right[0], _LIMIT)

    def _logical(self, sign: str, node: Node) -> Operand:
        left = bool(self._number(node["X"]))
        if left == (sign == "||"):
            return int(left), literal(str(int(left)))
        value = int(bool(self._number(node["Y"])))
        return value, literal(str(value))

    def _unary(self, node: Node) -> Operand:
        sign = node["Op"]
        if sign in ("++", "--"):
            return self._step(node)
        value, spelled = self._operand(node["X"])
        if sign == "+":
            return value, spelled
        if sign == "-":
            return -value, joined([literal("-"), spelled]) if spelled is not None else None
        self._plain((value, spelled))
        result = int(not value) if sign == "!" else ~value
        return result, literal(str(result)) if result >= 0 else None

    def _paren(self, node: Node) -> Operand:
        value, spelled = self._operand(node["X"])
        return value, None if spelled is None else joined([literal("("), spelled, literal(")")])

    def _step(self, node: Node) -> Operand:
        """`i++`, `--i`."""
        old = self._of_target(node["X"])
        new = _wrapped(old[0] + (1 if node["Op"] == "++" else -1))
        self._plain(old)
        self._store(node["X"], literal(str(new)))
        value = old[0] if node.get("Post") else new
        return value, literal(str(value)) if value >= 0 else None

    def _assignment(self, target: Node, sign: str, node: Node) -> Operand:
        right = self._operand(node)
        if sign == "=":
            value, spelled = right
        else:
            left = self._of_target(target)
            if sign in ("/=", "%=") and right[0] == 0:
                raise self._discard("division by 0")
            value, spelled = _wrapped(BINARY[sign[:-1]](left[0], right[0])), self._spelled(sign[:-1], left, right)
        symbolic = spelled is not None and not is_literal_number(spelled)
        self._store(target, (Arith(spelled, str(value)),) if symbolic and spelled else literal(str(value)))
        return value, literal(str(value)) if value >= 0 else None

    def _of_target(self, node: Node) -> Operand:
        return self._of_template(self._words.text(node)) if _element(node) else self._of_name(self._name(node))

    def _store(self, node: Node, template: Template) -> None:
        element = _element(node)
        if element is None:
            self._shell.assign(self._name(node), template)
            return
        name, variable = element["Param"]["Value"], self._shell.variable(element["Param"]["Value"])
        elements = dict((variable.elements if variable else None) or {})
        elements[self._words.key(variable, element["Index"])] = Element(template, self._shell.line, group=name)
        self._shell.assign_array(name, elements, keyed=bool(variable and variable.keyed))

    def _name(self, node: Node) -> str:
        text = node["Parts"][0]["Value"] if node.get("Type", "Word") == "Word" and _is_plain(node) else ""
        if _NAME.fullmatch(text) is None:
            raise self._discard("attempted assignment to non-variable")
        return text

    def _word(self, node: Node) -> Operand:
        """A number, a name, or an expansion whose text is an expression."""
        if _is_plain(node):
            return self._of_text(node["Parts"][0]["Value"])
        return self._of_template(self._expanded[id(node)])

    def _of_text(self, text: str) -> Operand:
        text = text.strip()
        if text == "":
            return 0, literal("0")
        if _NAME.fullmatch(text):
            return self._of_name(text)
        if _NUMBER.fullmatch(text):
            value = self._read_number(text)
            return value, literal(str(value))
        return self._of_expression(text)

    def _of_name(self, name: str) -> Operand:
        return self._of_template(self._words.parameter_value(name))

    def _of_template(self, template: Template) -> Operand:
        text = text_of(template)
        self._touched.append(template)
        if is_literal(template):
            return self._inner()._of_text(text)
        part: Part = template[0]
        if len(template) == 1 and isinstance(part, Arith):
            return int(text), joined([literal("("), part.parts, literal(")")])
        if len(template) == 1 and isinstance(part, Defined) and is_integer_template(part.definition.template):
            return int(text), template
        if len(template) == 1 and isinstance(part, Input) and _DECIMAL.fullmatch(text.removeprefix("-")):
            return int(text), template
        return self._inner()._of_text(self._shell.decide(template))[0], None

    def _inner(self) -> Arithmetic:
        if self._depth > _DEEPEST:
            raise self._discard("expression recursion level exceeded")
        return Arithmetic(self._words, self._depth + 1)

    def _of_expression(self, text: str) -> Operand:
        """A variable that holds `1024 * 2`: bash evaluates it."""
        if re.match(r"\s*[A-Za-z_]\w*\[", text):
            raise self._shell.fail("importer.unsupported", what="an element of an array in a text that is calculated")
        try:
            node = parse_expression(text)
        except NoExpressionError as error:
            if "u" in self._shell.options and (name := _NAME_AND_SIGN.match(text)):
                self._of_name(name[1])  # bash has looked it up by then, and stops where it is not set
            raise self._discard(f"syntax error in expression: {error}") from None
        return self._inner().number(node), None

    def _discard(self, problem: str) -> DiscardCommand:
        self._shell.note("importer.expansion_error", problem=problem)
        return DiscardCommand(problem)

    def _read_number(self, text: str) -> int:
        try:
            if "#" in text:
                base, _, digits = text.partition("#")
                return int(digits, int(base))
            if text[:2].lower() == "0x":
                return int(text, 16)
            return int(text, 8) if text.startswith("0") and len(text) > 1 else int(text)
        except ValueError:
            raise self._discard(f"{text[:40]}: no number") from None


def is_integer_template(template: Template) -> bool:
    """A job file can calculate with it: a plain integer, or arithmetic, or another such name."""
    if is_literal(template):
        return _DECIMAL.fullmatch(text_of(template)) is not None
    if len(template) != 1:
        return False
    part = template[0]
    if isinstance(part, Defined):
        return is_integer_template(part.definition.template)
    return isinstance(part, Arith) or (isinstance(part, Input) and _DECIMAL.fullmatch(part.text) is not None)


def _wrapped(value: int) -> int:
    value &= _LIMIT - 1
    return value - _LIMIT if value >= _LIMIT >> 1 else value
