"""The known name that a mistyped one was most likely meant to be."""

from __future__ import annotations

from collections.abc import Iterable

from submitter.texts import NONE as NONE

ALIKE = 0.5
"""Of difflib's ratio: below, two names share a few letters by chance."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The most alike of `known`, capitals aside; `NONE` when none is near."""
    from difflib import SequenceMatcher  # only when there is an error to tell

    # Long names are cut: the comparison's time grows with the square of the length.
    wanted = name[:100].lower()
    ratio = {other: SequenceMatcher(None, other.lower(), wanted).ratio() for other in known}
    near = [other for other in ratio if ratio[other] >= ALIKE]
    return max(near, key=lambda other: ratio[other], default=NONE)
