"""A text that bash evaluates as arithmetic, because a variable holds it → the nodes that the script's own syntax gives.

Nothing in it is expanded: a `$` or a quote in it is an error, as in bash.
"""

from __future__ import annotations

import re

from submitter.importer.syntax import Node

_TOKEN = re.compile(
    r"\s*(?P<number>[0-9][0-9A-Za-z#@_]*)|\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\s*(?P<sign>\*\*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|[-+*/%<>&|^!~?:=,()])"
)
_LEVELS = (
    (",",), ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="), ("?",), ("||",), ("&&",), ("|",),
    ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"), ("**",),
)  # fmt: skip
"""From the loosest to the tightest, as bash's manual lists them."""
_RIGHT = {1, 2, 13}
"""Levels that group from the right."""
_MAX_CHARS = 2_000
_MAX_TOKENS = 200


class NoExpressionError(Exception):
    """What bash calls a syntax error in an expression."""


def parse_expression(text: str) -> Node:
    if len(text) > _MAX_CHARS:
        raise NoExpressionError(text[:40])
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split(text)
        self._at = 0

    def whole(self) -> Node:
        node = self._level(0)
        if self._peek() is not None:
            raise self._error()
        return node

    def _split(self, text: str) -> list[str]:
        tokens: list[str] = []
        position, text = 0, text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None or len(tokens) >= _MAX_TOKENS:
                raise self._error()
            tokens.append(found[0].strip())
            position = found.end()
        return tokens

    def _level(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while (sign := self._peek()) in _LEVELS[level]:
            self._at += 1
            if sign == "?":
                return self._conditional(left)
            right = self._level(level if level in _RIGHT else level + 1)
            left = {"Type": "BinaryArithm", "Op": sign, "X": left, "Y": right}
            if level in _RIGHT:
                return left
        return left

    def _conditional(self, condition: Node) -> Node:
        yes = self._level(0)
        if self._peek() != ":":
            raise self._error()
        self._at += 1
        choice = {"Type": "BinaryArithm", "Op": ":", "X": yes, "Y": self._level(2)}
        return {"Type": "BinaryArithm", "Op": "?", "X": condition, "Y": choice}

    def _unary(self) -> Node:
        sign = self._peek()
        if sign in ("!", "~", "+", "-", "++", "--"):
            self._at += 1
            return {"Type": "UnaryArithm", "Op": sign, "X": self._unary()}
        return self._atom()

    def _atom(self) -> Node:
        token = self._peek()
        self._at += 1
        if token == "(":
            node = self._level(0)
            if self._peek() != ")":
                raise self._error()
            self._at += 1
            return {"Type": "ParenArithm", "X": node}
        if token is None or not (token[0].isalnum() or token[0] == "_"):
            raise self._error()
        word: Node = {"Type": "Word", "Parts": [{"Type": "Lit", "Value": token}]}
        if self._peek() in ("++", "--") and not token[0].isdigit():
            self._at += 1
            return {"Type": "UnaryArithm", "Op": self._tokens[self._at - 1], "Post": True, "X": word}
        return word

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _error(self) -> NoExpressionError:
        return NoExpressionError(self._text[:40])
