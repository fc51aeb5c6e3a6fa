"""The commonest arguments as Hydra's parser reads them, without it: the parser takes 0.6 ms for each.

A test holds every field against the parser's own.
"""

from __future__ import annotations

import re
from typing import Any

from submitter.job.hydra_grammar import FLOAT, INTEGER, is_reserved

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_WORD = re.compile(rf"(?P<sign>\+{{0,2}})(?P<key>{_NAME}(?:\.{_NAME})*)=(?P<value>[A-Za-z0-9_/.+-]+)")
_CONSTANTS = {"true": True, "false": False, "null": None}


def simple_override(word: str) -> Any:
    """Hydra's `Override` for `key=value` with a plain number, constant or name; None: the parser has to read it."""
    from hydra.core.override_parser.types import Override, OverrideType, ValueType

    match = _WORD.fullmatch(word)
    if match is None or (value := _value(match["value"])) is _NOT_SIMPLE:
        return None
    kinds = {"": OverrideType.CHANGE, "+": OverrideType.ADD, "++": OverrideType.FORCE_ADD}
    return Override(
        type=kinds[match["sign"]],
        key_or_group=match["key"],
        value_type=ValueType.ELEMENT,
        _value=value,
        input_line=word,
    )


_NOT_SIMPLE = object()


def _value(text: str) -> object:
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if INTEGER.fullmatch(text):
        return int(text)
    if FLOAT.fullmatch(text):
        return float(text)
    return _NOT_SIMPLE if is_reserved(text) or not text[0].isalpha() else text
