"""Ray's label selectors, one value of them: `a3`, `!a2`, `in(a2,a3)`, `!in(a2,a3)`.

The driver chooses nodes by itself, so it has to read them as Ray does (ray/_private/label_utils.py, Ray 2.60); an older
Ray knows labels, but no selectors.
"""

from __future__ import annotations

import re

_VALUE = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
SELECTOR = rf"!?(?:{_VALUE}|in\({_VALUE}(?:, ?{_VALUE})*\))"
_SHAPE = re.compile(rf"(!?)(?:in\((?P<several>.*)\)|(?P<one>{_VALUE}))")


def matches(selector: str, label: str | None) -> bool:
    """Whether a node with this label is meant; None, a node without it, is meant by `!…` only."""
    negated, values = _parse(selector)
    return (label in values) != negated


def example(selector: str) -> str | None:
    """A label that is meant; None, no label, for `!…`."""
    negated, values = _parse(selector)
    return None if negated else values[0]


def _parse(selector: str) -> tuple[bool, tuple[str, ...]]:
    found = _SHAPE.fullmatch(selector)
    if found is None:
        return False, (selector,)
    several = found["several"]
    return bool(found[1]), (found["one"],) if several is None else tuple(re.split(", ?", several))
