"""What the rules look at: the newest steps that count, the first ones, and what the nodes measured. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from submitter.metrics.alerts.names import NAMES
from submitter.metrics.alerts.nodes import Minute, NodeMinutes
from submitter.metrics.recent import RECENT_STEPS, Recent, Row, is_number

HEAD_STEPS = 20
"""The first ones: how it all began."""


@dataclass(frozen=True)
class Series:
    """A metric where it is a finite number; item n of both is of the same step."""

    name: str
    steps: Sequence[int]
    values: Sequence[float]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Window:
    rows: Sequence[Row]
    """By step, ascending, each once, at most `RECENT_STEPS`."""
    head: Sequence[Row] = ()
    """The first `HEAD_STEPS` of the run, as far as they are known; they may be among `rows` too."""
    nodes: Mapping[str, Sequence[Minute]] = field(default_factory=dict)
    """Of the newest attempt's nodes, minute by minute."""
    total_steps: int | None = None
    """Of the run; None: not known."""

    @property
    def last_step(self) -> int | None:
        return self.rows[-1].step if self.rows else None

    def series(self, *names: str) -> Series:
        """Of the first of the names that the rows have; an empty one when there is none."""
        for name in names:
            there = [(row.step, value) for row in self.rows if is_number(value := row.get(name))]
            if there:
                return Series(name, [step for step, _ in there], [value for _, value in there])
        return Series(names[0], [], [])

    def begin(self, name: str) -> list[float]:
        """Of the first steps of the run."""
        return [value for row in self.head if is_number(value := row.get(name))]


class Watched:
    """Keeps of a run what the rules look at: a few hundred rows, a few hours of its nodes."""

    def __init__(self) -> None:
        self._recent = Recent(RECENT_STEPS)
        self._head = Recent(RECENT_STEPS)
        self._nodes = NodeMinutes()

    def add_steps(
        self, attempt: int, rows: Iterable[tuple[int, int, Mapping[str, float]]], resumed_from: int | None
    ) -> None:
        """(step, seen_ms, metrics) each, nan and the infinities as they were logged; as the ledger takes them."""
        kept = [(step, seen_ms, _kept(metrics)) for step, seen_ms, metrics in rows]
        self._recent.add(attempt, kept, resumed_from)
        self._head.add(attempt, [row for row in kept if row[0] <= HEAD_STEPS], resumed_from)

    def add_samples(self, attempt: int, samples: Iterable[Mapping[str, object]]) -> None:
        """As the node workers hand them over, in the order of their times; those of a newer attempt begin anew."""
        self._nodes.add(attempt, samples)

    def window(self, total_steps: int | None = None) -> Window:
        return Window(list(self._recent.rows), list(self._head.rows), self._nodes.minutes(), total_steps)


def _kept(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: metrics[name] for name in NAMES if name in metrics}
