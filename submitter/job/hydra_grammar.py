"""What Hydra 1.3's override grammar reads as what, as patterns: quick, and without importing Hydra (0.2 s).

https://hydra.cc/docs/1.3/advanced/override_grammar/basic/ ; the tests hold these against Hydra's own parser.
"""

from __future__ import annotations

import re

_INT = r"(?:0|[1-9](?:_?[0-9])*)"
_POINT = rf"(?:{_INT}\.|{_INT}?\.[0-9](?:_?[0-9])*)"
_EXPONENT = rf"(?:{_POINT}|{_INT})[eE][+-]?[0-9](?:_?[0-9])*"

_ID = r"[A-Za-z_][A-Za-z0-9_-]*"
_NAME = r"[A-Za-z_$][A-Za-z0-9_$-]*"
_PART = rf"(?:{_NAME}|{_INT})"
_PACKAGE = rf"(?:{_PART}(?:\.{_PART})+|{_NAME})"

OPTIONS = ("--config-name", "--config-path", "--config-dir")
"""Options of Hydra's command line that choose the configuration: a job file gives them as keys of an argument group."""

INTEGER = re.compile(rf"[+-]?{_INT}")
FLOAT = re.compile(rf"[+-]?(?:{_EXPONENT}|{_POINT})")
EXPONENT = re.compile(rf"[+-]?{_EXPONENT}")
KEY = re.compile(rf"(?:~|\+{{0,2}})(?:{_PACKAGE}|{_ID}(?:/{_ID})+)(?:@{_PACKAGE}?)?")

_WORD = re.compile(rf"[+-]?(?:{_EXPONENT}|{_POINT}|{_INT}|inf|nan)|true|false|null", re.IGNORECASE)
_DICT_KEY = re.compile(r"[A-Za-z0-9_/\-\\+.$%*@?|()\[\]{}:=, \t]+")
_SPECIAL = re.compile(r"[\\()\[\]{}:=, \t]")


def is_reserved(text: str) -> bool:
    """Unquoted, Hydra reads `text` as a number, bool or null."""
    return _WORD.fullmatch(text) is not None


def dict_key_text(key: str) -> str | None:
    """`key` as Hydra's grammar wants it in `{key:value}`, where nothing can be quoted; None: cannot be written."""
    if _DICT_KEY.fullmatch(key) is None or is_reserved(key):
        return None
    return _SPECIAL.sub(r"\\\g<0>", key)
