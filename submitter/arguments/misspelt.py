"""Whether a name is a mistyped one of a list, rather than a name of its own."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.85
"""Of difflib's ratio: one or two letters of a name of 12."""
ALIKE_WORD = 0.65
"""Of each word between underscores that differs: `first` and `last` are two words, `nun` and `num` one."""
SHORTEST, LONGEST = 5, 100
"""Characters: shorter names are alike by chance, longer ones are no keys."""


def misspelt(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """The most alike of `known`; None: `name` is one of them, or is like none."""
    from difflib import SequenceMatcher

    names = list(known)
    if name in names or not SHORTEST <= len(name) <= LONGEST:
        return None
    matcher = SequenceMatcher(b=name.lower())
    best: tuple[float, str] = (alike, "")
    for other in names:
        matcher.set_seq1(other.lower())
        if matcher.real_quick_ratio() >= best[0] and matcher.quick_ratio() >= best[0] and _same_words(name, other):
            best = max(best, (matcher.ratio(), other))
    return best[1] or None


def _same_words(name: str, other: str) -> bool:
    from difflib import SequenceMatcher

    one, two = name.lower().split("_"), other.lower().split("_")
    if len(one) != len(two):
        return "".join(one) == "".join(two)
    return all(
        a == b or (not _differ_in_digits(a, b) and SequenceMatcher(None, a, b).ratio() >= ALIKE_WORD)
        for a, b in zip(one, two, strict=True)
    )


def _differ_in_digits(one: str, two: str) -> bool:
    """`fp8` and `fp4` are two names."""
    return [char for char in one if char.isdigit()] != [char for char in two if char.isdigit()]
