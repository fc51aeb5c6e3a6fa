"""The odd ones out among values that should be equal on all nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def odd_ones(values: Mapping[str, T | None]) -> list[tuple[str, T, T]]:
    """(node, its value, the usual one) of each node that is not as most are; None is not known and never odd.

    Without a strict majority which of them is wrong cannot be told: every node is named, beside the commonest of
    the other values.
    """
    known = {node: value for node, value in values.items() if value is not None}
    ranked = [value for value, _ in Counter(known.values()).most_common()]
    if len(ranked) < 2:
        return []
    usual, second = ranked[:2]
    named = known if not has_majority(values) else {node: value for node, value in known.items() if value != usual}
    return [(node, value, second if value == usual else usual) for node, value in named.items()]


def has_majority(values: Mapping[str, T | None]) -> bool:
    """More than half of the known values are equal: then the others are the odd ones."""
    known = [value for value in values.values() if value is not None]
    return bool(known) and 2 * Counter(known).most_common(1)[0][1] > len(known)
