"""The columns of a run that somebody looks at, kept and read on from where they end."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from submitter.ledger import Columns, Ledger
from submitter.metrics.joined import Joined, Resumed
from submitter.metrics.names import CURVES, THROUGHPUT, TOKENS, first_present
from submitter.metrics.phases import TIMING_NAMES
from submitter.metrics.recent import Row
from submitter.metrics.times import StepTimes
from submitter.watch.view import Curve

FIGURES = (*TIMING_NAMES, THROUGHPUT, TOKENS)
"""What pace, phases and goodput are worked out from."""

KEPT_NAMES = 40
"""Besides those of the view: a page shows a dozen at once. 0.8 MB each, of 100,000 steps."""


@dataclass(frozen=True)
class RunColumns:
    """Item n of each array is of row n; nan where a row lacks the name. Copies: nobody writes into them any more."""

    steps: array[int]
    attempts: array[int]
    seen_ms: array[int]
    values: Mapping[str, array[float]]
    counted: array[int]
    """The rows that count, by step, each step once."""
    void: array[int]
    """Rows whose step a later attempt has trained again."""
    last: int
    """Grows with each row: the ledger's cursor."""


@dataclass
class _Drawn:
    """A curve up to the counted row number `done`; neither step nor value where the row has no number."""

    rewritten: int
    done: int
    steps: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def go_on(self, joined: Joined, column: array[float]) -> None:
        steps = joined.steps[self.done :]
        values = array("d", map(column.__getitem__, joined.rows[self.done :]))
        self.done = len(joined.rows)
        if math.isnan(sum(values)):
            there = [place for place, value in enumerate(values) if not math.isnan(value)]
            steps, values = array("q", [steps[one] for one in there]), array("d", [values[one] for one in there])
        self.steps.extend(steps)
        self.values.extend(values)


class HeldColumns:
    """Of one run: the curves of these keys, these figures, and what is asked for. Not for several threads at once."""

    def __init__(
        self, ledger: Ledger, run: str, curves: Collection[str] = tuple(CURVES), figures: Collection[str] = FIGURES
    ) -> None:
        self.names: list[str] = []
        """All that the run logs."""
        self.curves: Mapping[str, str] = {}
        """Key of each curve that the run logs, and its name there."""
        self.steps, self.attempts, self.seen_ms = array("q"), array("q"), array("q")
        self.joined = Joined()
        self.times = StepTimes()
        self._ledger, self._run = ledger, run
        self._keys, self._figures = curves, figures
        self._values: dict[str, array[float]] = {}
        self._drawn: dict[str, _Drawn] = {}
        self._asked: dict[str, None] = {}
        """Names that a chart asked for, the newest last."""
        self._resumed: dict[int, int | None] = {}
        self._last = 0

    def read(self) -> bool:
        """Whether there were new rows. `join` is due then."""
        if not self.names:
            self._learn_names()
        new = self._ledger.columns(self._run, [*self._values], after=self._last)
        if not new.steps:
            return False
        self._extend(new)
        self._learn_names()
        return True

    def join(self, resumed: Resumed) -> None:
        """The new rows, by what is known of the attempts now; all rows, where that is other than it was."""
        if any(resumed.get(attempt) != before for attempt, before in self._resumed.items()):
            self.joined, self._drawn = Joined(), {}
        begin = self.joined.size
        self.joined.add(self.steps[begin:], self.attempts[begin:], resumed)
        begin = len(self.times.seconds)
        step_s = self._step_s()[begin:]
        self.times.add(self.steps[begin:], self.attempts[begin:], self.seen_ms[begin:], step_s)
        self._resumed = {attempt: resumed.get(attempt) for attempt in self.times.attempts}

    def newest(self, count: int) -> list[Row]:
        """The last rows that count and were trained, with the metrics that are held."""
        first = max(0, len(self.joined.rows) - count, bisect_right(self.joined.steps, 0))
        return [self._row(row) for row in self.joined.rows[first:]]

    def curve(self, name: str) -> Curve:
        """Over the steps that were trained; only those since the last call are worked out."""
        drawn = self._drawn.get(name)
        if drawn is None or drawn.rewritten != self.joined.rewritten:
            drawn = self._drawn[name] = _Drawn(self.joined.rewritten, bisect_right(self.joined.steps, 0))
        drawn.go_on(self.joined, self._values[name])
        return Curve(name, drawn.steps[:], drawn.values[:])

    def series(self, names: Sequence[str]) -> RunColumns:
        """Names that the run does not log are left out."""
        logged = [name for name in names if name in self.names]
        self._fill(logged)
        values = {name: self._values[name][:] for name in logged}
        self._keep(logged)
        counted, void = self.joined.rows[:], self.joined.void[:]
        return RunColumns(self.steps[:], self.attempts[:], self.seen_ms[:], values, counted, void, self._last)

    def _row(self, row: int) -> Row:
        there = {name: value for name, column in self._values.items() if (value := column[row]) == value}
        return Row(self.steps[row], self.attempts[row], self.seen_ms[row], there)

    def _step_s(self) -> Sequence[float]:
        name = self.curves.get("step_s")
        return self._values[name] if name else _lacking(len(self.steps))

    def _extend(self, new: Columns) -> None:
        self.steps.extend(new.steps)
        self.attempts.extend(new.attempts)
        self.seen_ms.extend(new.seen_ms)
        for name, column in self._values.items():
            column.extend(new.values[name])
        self._last = new.last

    def _learn_names(self) -> None:
        self.names = self._ledger.metric_names(self._run)
        found = {key: first_present(self.names, CURVES[key]) for key in self._keys}
        self.curves = {key: name for key, name in found.items() if name}
        self._fill([name for name in (*self.curves.values(), *self._figures) if name in self.names])

    def _keep(self, asked: Iterable[str]) -> None:
        """The view's own names, and those that were asked for last."""
        for name in asked:
            self._asked.pop(name, None)
            self._asked[name] = None
        for name in [*self._asked][:-KEPT_NAMES]:
            del self._asked[name]
            if name not in self._figures and name not in self.curves.values():
                del self._values[name]

    def _fill(self, names: Iterable[str]) -> None:
        """Columns that are not held yet, as far as the others go."""
        missing = [name for name in names if name not in self._values]
        if missing:
            size = len(self.steps)
            whole = self._ledger.columns(self._run, missing).values if size else {}
            self._values |= {name: whole[name][:size] if size else array("d") for name in missing}


def _lacking(size: int) -> array[float]:
    return array("d", [math.nan]) * size
