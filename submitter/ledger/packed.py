"""Numbers as the ledger keeps them: eight bytes each, little-endian, in the order of the row's names. Pure."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence

_ABSENT = struct.pack("<Q", 0x7FF8_4E50_5552_554E)
"""One of the 2**52 bit patterns that mean "not a number"; no arithmetic makes it."""
(_ABSENT_NUMBER,) = struct.unpack("<d", _ABSENT)
_SWAPS = sys.byteorder == "big"


def pack(values: Iterable[float]) -> bytes:
    return _swapped(array("d", values)).tobytes()


def unpack(data: bytes) -> array[float]:
    numbers = array("d")
    numbers.frombytes(data)
    return _swapped(numbers)


def pack_some(names: Sequence[str], metrics: Mapping[str, float]) -> bytes:
    """Of these names alone, with a mark for those that are not there. Read as a number, the mark is nan."""
    return pack([metrics.get(name, _ABSENT_NUMBER) for name in names])


def as_metrics(names: Sequence[str], data: bytes) -> dict[str, float]:
    """What the row had: without those that `pack_some` marked."""
    found = dict(zip(names, unpack(data), strict=True))
    if _ABSENT not in data:
        return found
    return {name: value for number, (name, value) in enumerate(found.items()) if not _is_absent(data, number)}


def _is_absent(data: bytes, number: int) -> bool:
    return data[8 * number : 8 * number + 8] == _ABSENT


def _swapped(numbers: array[float]) -> array[float]:
    if _SWAPS:
        numbers.byteswap()
    return numbers
