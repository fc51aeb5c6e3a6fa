"""Numbers, spans and curves as a terminal shows them. Pure. What is not measured is said so by whoever shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from submitter.watch.view import thinned

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*#@"
"""Where the terminal's encoding has no blocks."""


def number(value: float) -> str:
    """Four digits that count."""
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:.4g}"
    return f"{value:.2e}"


def span(seconds: float) -> str:
    """Two units: `3d04h`, `4h03m`, `5m12s`, `12s`."""
    whole = max(0, round(seconds))
    for size, name, rest, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if whole >= size:
            return f"{whole // size}{name}{whole % size // rest:02}{small}"
    return f"{whole}s"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def gib(mb: float) -> str:
    return f"{mb / 1024:.0f}"


def sparkline(steps: Sequence[int], values: Sequence[float], width: int, marks: str = BLOCKS) -> str:
    """The whole curve in `width` characters: of each stretch the value that is farthest from the curve's middle."""
    if not values or width < 1:
        return ""
    _, kept = thinned(steps, values, 4 * width)
    low, high = min(kept), max(kept)
    if low == high:
        return marks[len(marks) // 2] * min(width, len(kept))
    middle, cells = (low + high) / 2, min(width, len(kept))
    edges = [round(place * len(kept) / cells) for place in range(cells + 1)]
    stretches = [kept[begin:end] for begin, end in pairwise(edges)]
    shown = [max(stretch, key=lambda value: abs(value - middle)) for stretch in stretches]
    return "".join(marks[min(len(marks) - 1, int((value - low) / (high - low) * len(marks)))] for value in shown)
