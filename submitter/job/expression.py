"""`${{ 1024 * 32 }}`: integers, variables' names, `+ - * // %` and parentheses. A parser of its own, never `eval`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from submitter.errors import Place, UsageError

MAX_EXPRESSION_CHARS = 200
MAX_PARENTHESES = 20
"""Depth; keeps the recursion small."""
MAX_RESULT = 2**63 - 1
"""Also of every step, so that no product grows without bound; what YAML, Hydra and torch all take for an integer."""
MAX_DIGITS = 20
MAX_SAME_OCTAL = 7
"""Up to here a leading zero says the same in bash, which reads `010` as 8."""

_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>//|[-+*%()]))")
_SUM = {"+": operator.add, "-": operator.sub}
_PRODUCT = {"*": operator.mul, "//": operator.floordiv, "%": operator.mod}
_DIVISIONS = (operator.floordiv, operator.mod)

Lookup = Callable[[str], int]


def names_in(text: str) -> list[str]:
    """The variables that an expression refers to."""
    return [match["name"] for match in _TOKEN.finditer(text) if match["name"]]


def evaluate(text: str, lookup: Lookup, place: Place, *, as_bash: bool = False) -> int:
    """The value of the expression `text`, the part between `${{` and `}}`. UsageError: not one, or out of bounds.

    `as_bash`: what bash computes otherwise is refused too: a quotient or remainder with a negative operand, which it
    rounds towards zero, and `--A`, which is one less.
    """
    if len(text) > MAX_EXPRESSION_CHARS:
        raise UsageError("job.expression_long", place, limit=MAX_EXPRESSION_CHARS)
    if as_bash and ("--" in text or "++" in text):
        raise UsageError("job.expression", place, expression=text.strip())
    return _Parser(text.strip(), lookup, place, as_bash).whole()


class _Parser:
    def __init__(self, text: str, lookup: Lookup, place: Place, as_bash: bool) -> None:
        self._as_bash = as_bash
        self._text = text
        self._lookup = lookup
        self._place = place
        self._tokens = self._split()
        self._at = 0
        self._depth = 0

    def whole(self) -> int:
        value = self._chain(_SUM)
        if self._peek() is not None:
            raise self._error()
        return value

    def _split(self) -> list[str]:
        tokens: list[str] = []
        position = 0
        while position < len(self._text):
            match = _TOKEN.match(self._text, position)
            if match is None:
                raise self._error()
            tokens.append(match[0].strip())
            position = match.end()
        return tokens

    def _chain(self, signs: dict[str, Callable[[int, int], int]]) -> int:
        """A sum of products, or a product of factors, from left to right."""
        operand = self._factor if signs is _PRODUCT else lambda: self._chain(_PRODUCT)
        value = operand()
        while (sign := self._peek()) in signs:
            self._at += 1
            value = self._apply(signs[sign], value, operand())
        return value

    def _factor(self) -> int:
        negative = False
        while (token := self._peek()) in ("+", "-"):
            negative ^= token == "-"
            self._at += 1
        value = self._atom()
        return -value if negative else value

    def _atom(self) -> int:
        token = self._peek()
        self._at += 1
        if token == "(":
            return self._parenthesis()
        if token is None or not (token.isidentifier() or token.isdigit()):
            raise self._error()
        return self._bounded(self._literal(token) if token.isdigit() else self._lookup(token))

    def _literal(self, digits: str) -> int:
        if digits.startswith("0") and int(digits) > MAX_SAME_OCTAL:
            raise UsageError("job.expression_octal", self._place, expression=self._text, value=digits)
        return int(digits)

    def _parenthesis(self) -> int:
        self._depth += 1
        if self._depth > MAX_PARENTHESES:
            raise self._error()
        value = self._chain(_SUM)
        if self._peek() != ")":
            raise self._error()
        self._at += 1
        self._depth -= 1
        return value

    def _apply(self, function: Callable[[int, int], int], left: int, right: int) -> int:
        if function in _DIVISIONS and right == 0:
            raise UsageError("job.expression_zero", self._place, expression=self._text)
        if function in _DIVISIONS and self._as_bash and min(left, right) < 0:
            raise UsageError("job.expression_negative", self._place, expression=self._text)
        return self._bounded(function(left, right))

    def _bounded(self, value: int) -> int:
        if abs(value) > MAX_RESULT:
            raise UsageError("job.expression_range", self._place, expression=self._text, limit=MAX_RESULT)
        return value

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _error(self) -> UsageError:
        return UsageError("job.expression", self._place, expression=self._text)
