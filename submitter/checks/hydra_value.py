"""Text as Hydra's override grammar reads it → a Python value. Simple ones without importing Hydra (0.2 s)."""

from __future__ import annotations

import re
from functools import cache

from submitter.job.hydra_grammar import FLOAT, INTEGER
from submitter.job.model import Number, RawText, Value

UNREADABLE = object()
"""A text that Hydra's grammar refuses, a sweep, or an interpolation inside a structure."""

_CONSTANTS = {"null": None, "true": True, "false": False, "": ""}
_BARE = re.compile(r"[A-Za-z0-9_/\-+.%*@?|:$]+")
_REFERENCE = re.compile(r"[A-Za-z0-9_/\-.]*\$\{[^{}'\"]*\}[A-Za-z0-9_/\-.]*")

_ITEM = r"""(?:"[^"\\$]*"|'[^'\\$]*'|[A-Za-z0-9_/\-+.]+)"""
_FLAT_LIST = re.compile(rf"\[\s*{_ITEM}(?:\s*,\s*{_ITEM})*\s*\]")
"""`["console"]`, `[model, optimizer]`: without escapes, interpolations and structures."""


def read(text: str) -> object:
    """None, bool, int, float, str, list or dict; `UNREADABLE`."""
    text = text.strip()
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    number = _number(text)
    if number is not None:
        return number
    if _BARE.fullmatch(text) or _REFERENCE.fullmatch(text):
        return text
    if _FLAT_LIST.fullmatch(text):
        return [item[1:-1] if item[0] in "\"'" else read(item) for item in re.findall(_ITEM, text)]
    return _hydra(text)


def plain(value: Value | object) -> object:
    """A job's typed value, or what Hydra's parser made, as Python's own."""
    if isinstance(value, Number):
        number = _number(value.spelling)
        return value.spelling if number is None else number
    if isinstance(value, RawText):
        return read(value.text)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if value is None or value is UNREADABLE or isinstance(value, (bool, int, float, str)):
        return value
    return str(getattr(value, "text", value))  # Hydra's QuotedString


def _number(text: str) -> int | float | None:
    if INTEGER.fullmatch(text):
        return int(text)
    if FLOAT.fullmatch(text) or text.lower().lstrip("+-") in ("inf", "nan"):
        return float(text.replace("_", ""))
    return None


@cache
def _hydra(text: str) -> object:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import Override
    from hydra.errors import HydraException

    try:
        override: Override = OverridesParser.create().parse_override(f"key={text}")
        if override.is_sweep_override():
            return UNREADABLE
        return plain(override.value())
    except (HydraException, RecursionError):
        return UNREADABLE
