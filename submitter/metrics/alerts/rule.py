"""What an alert is, and a rule that gives it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from submitter.metrics.alerts.window import Window

Severity = Literal["error", "warning", "hint"]
"""error: what goes on is wasted, or ends soon. warning: somebody should look. hint: worth to know."""
Value = float | int | str


@dataclass(frozen=True)
class Alert:
    """Its rule and node say which one it is; it holds as long as the rule gives it."""

    id: str
    severity: Severity
    node: str | None
    """None: of the whole run."""
    first_step: int | None
    """Since when, as far as the window tells; None: it is not told by steps."""
    last_step: int | None
    values: Mapping[str, Value]
    """The numbers behind it, rounded for people: what its texts name."""


@dataclass(frozen=True)
class Rule:
    """`id` is also the text id of its alerts (`<id>`, `<id>.fix`) and of what it is about (`<id>.about`).

    The function's docstring names the source of its limits.
    """

    id: str
    severities: tuple[Severity, ...]
    find: Callable[[Window], Iterable[Alert]]

    @property
    def source(self) -> str:
        """What follows "Source: " in the docstring, on one line."""
        doc = " ".join((self.find.__doc__ or "").split())
        return doc.rpartition("Source: ")[2]


def shown(value: float) -> Value:
    """For people: three digits that count, no more; whole numbers as they are."""
    if not math.isfinite(value):
        return str(value)
    short = float(f"{value:.3g}")
    return int(short) if short.is_integer() else short
