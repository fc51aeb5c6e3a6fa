"""How the training of a run goes, by the rows that count: what the list of runs and the view of one are made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from submitter.ledger import Attempt, Decided, Ledger, Run
from submitter.metrics.goodput import Goodput, goodput
from submitter.metrics.names import CURVES
from submitter.metrics.pace import PACE_STEPS, Eta, eta, step_seconds, usual_s
from submitter.metrics.recent import Row
from submitter.watch.columns import FIGURES, HeldColumns
from submitter.watch.parts import is_training, trained


class UnknownRunError(LookupError):
    """The ledger has no such run."""


@dataclass(frozen=True)
class Facts:
    """What the ledger has of the run, but for its numbers."""

    run: Run
    attempts: Sequence[Attempt]
    decided: Sequence[Decided]

    @property
    def newest(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def resumed(self) -> Mapping[int, int | None]:
        return {one.attempt: one.resumed_from for one in self.attempts}


@dataclass(frozen=True)
class Newest:
    """What follows from the newest rows that count."""

    rows: Sequence[Row]
    seconds: Sequence[float]
    """What each of them took."""
    usual_s: float | None
    """What a step usually takes, with everything between two steps."""


class Training:
    """Not for several threads at once. UnknownRunError where the ledger has no run of that name."""

    def __init__(
        self, ledger: Ledger, run: str, curves: Collection[str] = tuple(CURVES), figures: Collection[str] = FIGURES
    ) -> None:
        self._ledger, self._name = ledger, run
        self.facts = self._read_facts()
        self.columns = HeldColumns(ledger, run, curves, figures)
        self.newest = Newest([], [], None)
        self.void: Mapping[int, Sequence[int]] = {}
        """Of each attempt, the rows that a later one has trained again."""
        self.refresh()

    def refresh(self) -> bool:
        """Whether anything is other than before; reads only rows that are new."""
        new = self.columns.read()
        before, self.facts = self.facts, self._read_facts()  # after the rows: it says what their attempt goes on from
        if new or before.resumed != self.facts.resumed:
            self._join()
        return new or before != self.facts

    @property
    def step(self) -> int | None:
        """The last one that counts."""
        if self.columns.joined.steps:
            return self.columns.joined.steps[-1]
        return max((one.last_step for one in self.facts.attempts if one.last_step is not None), default=None)

    @property
    def reward(self) -> float | None:
        """Of the newest step that has one."""
        name = self.columns.curves.get("reward", "")
        return next((row.metrics[name] for row in reversed(self.newest.rows) if name in row.metrics), None)

    def goodput(self, now_ms: int) -> Goodput | None:
        times, run = self.columns.times, self.facts.run
        void_s = {attempt: times.of(rows) for attempt, rows in self.void.items()}
        return goodput(
            trained(self.facts.attempts, self.facts.decided, times.attempts, void_s),
            (run.ended_ms or now_ms) / 1000,
            is_over=run.state != "active",
        )

    def eta(self, now_ms: int) -> Eta | None:
        """From now on; None where it does not train, or how long cannot be told."""
        total, step, attempt = self.facts.run.total_steps, self.step, self.facts.newest
        if total is None or step is None or attempt is None or not is_training(self.facts.run, attempt):
            return None
        left = eta(self.newest.seconds, max(0, total - step))
        last = self.newest.rows[-1] if self.newest.rows else None
        if left is None or last is None or last.attempt != attempt.attempt:
            return left
        return left.after(min(max(0.0, (now_ms - last.seen_ms) / 1000), self.newest.usual_s or 0.0))

    def _join(self) -> None:
        self.columns.join(self.facts.resumed)
        rows = self.columns.newest(PACE_STEPS)
        seconds = step_seconds(rows)
        self.newest = Newest(rows, seconds, usual_s(seconds))
        void: dict[int, list[int]] = {}
        for row in self.columns.joined.void:
            void.setdefault(self.columns.attempts[row], []).append(row)
        self.void = void

    def _read_facts(self) -> Facts:
        run = self._ledger.run(self._name)
        if run is None:
            raise UnknownRunError(self._name)
        attempts = self._ledger.attempts(self._name)
        return Facts(run, attempts, self._ledger.decisions(self._name))
