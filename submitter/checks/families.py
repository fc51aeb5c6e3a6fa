"""The blocks of check ids, as lists and docs show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar


class Named(Protocol):
    """A rule, or what nodes are judged by."""

    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=Named)

FAMILIES = (
    (101, "family.composition"),
    (201, "family.batch"),
    (221, "family.tokens"),
    (241, "family.layout"),
    (301, "family.memory"),
    (321, "family.algorithm"),
    (341, "family.data"),
    (361, "family.recovery"),
    (381, "family.launcher"),
    (391, "family.cluster"),
    (401, "family.inherited"),
    (451, "family.flags"),
    (471, "family.hccl"),
    (501, "family.nodes"),
)
"""(first number of the block, text id of its heading)."""
_END = 1000


def by_family(rules: Iterable[T]) -> Iterator[tuple[str, list[T]]]:
    """(text id of the heading, rules by id), of families that have any."""
    ordered = sorted(rules, key=lambda rule: rule.id)
    ends = [first for first, _ in FAMILIES[1:]] + [_END]
    for (first, heading), end in zip(FAMILIES, ends, strict=True):
        found = [rule for rule in ordered if first <= int(rule.id[2:]) < end]
        if found:
            yield heading, found
