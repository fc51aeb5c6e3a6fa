"""The known name that a mistyped one was most likely meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The most alike of `known`, capitals aside; "-" when there is none to choose from."""
    from difflib import SequenceMatcher  # only when there is an error to tell

    # Long names are cut: the comparison's time grows with the square of the length.
    wanted = name[:100].lower()
    ratio = {other: SequenceMatcher(None, other.lower(), wanted).ratio() for other in known}
    return max(ratio, key=lambda other: ratio[other], default="-")
