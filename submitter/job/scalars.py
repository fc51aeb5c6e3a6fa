"""One YAML scalar → its typed value, with no silent change between YAML's reading and Hydra's.

| written | becomes |
|---|---|
| `16`, `-0.5`, `1_000` | number in this very spelling (YAML and Hydra agree on it) |
| `1e-6`, `'1e-6'` | number: PyYAML reads both as a string, and `safe_dump` writes either |
| `.inf`, `-.inf`, `.nan` | number in Hydra's spelling |
| `0x10`, `010`, `1:30`, `0b1` | refused: YAML reads 16, 8, 90, 1, Hydra a string |
| `2024-01-01` | refused: YAML reads a date, Hydra has none |
| `True`, `yes`, `on` | bool |
| `null`, `~`, nothing | null |
| the rest, and whatever is in quotes | string |
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from submitter.errors import Place, UsageError
from submitter.job.document import Scalar, plain_kind
from submitter.job.hydra_grammar import EXPONENT, FLOAT, INTEGER
from submitter.job.model import Number, RawText

MAX_NUMBER_CHARS = 100

ScalarValue = None | bool | Number | str | RawText

_NOT_FINITE = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
_TRUE = ("yes", "true", "on")


@dataclass(frozen=True)
class Resolved:
    """A scalar's value, its text as written (flags keep it), and where it came from."""

    value: ScalarValue
    spelling: str
    place: Place


def typed(scalar: Scalar, place: Place) -> Resolved:
    """The value of a scalar in which no variable has been replaced. UsageError: see the table above."""
    return Resolved(_value(scalar, place), scalar.text, place)


def text_of(value: ScalarValue) -> str:
    """The text that stands for `value` inside a longer string. Bools are canonical: `safe_dump` respells them."""
    if value is None:
        return "null"
    if isinstance(value, RawText):
        return value.text
    return value.spelling if isinstance(value, Number) else str(value)


def visible(text: str) -> str:
    """`text` as an error shows it: the empty one can be seen."""
    return text or "''"


def _value(scalar: Scalar, place: Place) -> ScalarValue:
    kind = plain_kind(scalar.text)
    if kind == "str" or not scalar.plain:
        return _string(scalar.text, kind, place)
    if kind == "null":
        return None
    if kind == "bool":
        return scalar.text.lower() in _TRUE
    if kind in ("int", "float"):
        return _number(scalar.text, place)
    raise UsageError("job.unquoted", place, value=scalar.text, kind=kind)


def _string(text: str, kind: str, place: Place) -> str | Number:
    if kind == "str" and EXPONENT.fullmatch(text):
        return _number(text, place)
    return text


def _number(text: str, place: Place) -> Number:
    if len(text) > MAX_NUMBER_CHARS:
        raise UsageError("job.number_long", place, limit=MAX_NUMBER_CHARS)
    if special := _NOT_FINITE.get(text.lower()):
        return Number(special)
    if INTEGER.fullmatch(text):
        return Number(text)
    if FLOAT.fullmatch(text) is None:
        raise _not_hydras(text, place)
    if float(text) in (float("inf"), float("-inf")):
        raise UsageError("job.number_range", place, value=text)
    return Number(text)


def _not_hydras(text: str, place: Place) -> UsageError:
    try:
        number = yaml.safe_load(text)
    except ValueError:  # PyYAML takes `0x_` for a number, and then fails to read it
        return UsageError("job.number_broken", place, value=text)
    return UsageError("job.number_spelling", place, value=text, number=number)
