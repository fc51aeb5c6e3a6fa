"""Runs as they are now, read on from where the last look ended. Threads may share the objects of this module."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from submitter.ledger import Event, Ledger, Run, Sample, StoredAlert
from submitter.metrics.names import OUTSIDE_S, STEP_S
from submitter.metrics.pace import per_hour
from submitter.metrics.phases import phases
from submitter.metrics.tokens import tokens_per_npu_s
from submitter.supervise.run_state import state_of
from submitter.watch.columns import RunColumns
from submitter.watch.parts import attempt_views, node_views, supervisor_view
from submitter.watch.training import Training, UnknownRunError
from submitter.watch.view import EVENTS_SHOWN, Curve, RunRow, RunView

__all__ = ["LiveRun", "LiveRuns", "UnknownRunError"]

FILL_S = 0.1
"""So long may one look at the list work out runs that had ended before; what is left is for the next look."""
ROW_CURVES = ("reward", "step_s")
ROW_FIGURES = (STEP_S, *OUTSIDE_S)


@dataclass(frozen=True)
class _Around:
    """What happened around the training."""

    alerts: Sequence[StoredAlert] = ()
    events: Sequence[Event] = ()
    samples: Sequence[Sample] = ()


class LiveRun:
    """One run, for pages that show all of it. UnknownRunError where the ledger has none of that name."""

    def __init__(self, ledger: Ledger, run: str) -> None:
        self._ledger, self._name = ledger, run
        self._alone = threading.RLock()
        self._changes = ledger.changes()
        self._training = Training(ledger, run)
        self._around = self._look_around(_Around())
        self._curves: Mapping[str, Curve] | None = None

    def refresh(self) -> bool:
        """Whether anything of the run is other than at the look before; of who supervises it nothing is said."""
        with self._alone:
            changes = self._ledger.changes()
            if changes == self._changes:
                return False
            trained = self._training.refresh()
            if trained:
                self._curves = None
            before, self._around = self._around, self._look_around(self._around)
            self._changes = changes
            return trained or before != self._around

    def view(self, now_ms: int) -> RunView:
        """As of the last `refresh`."""
        with self._alone:
            return self._view(now_ms)

    def names(self) -> list[str]:
        """All metrics that the run logs."""
        with self._alone:
            return list(self._training.columns.names)

    def curve_names(self) -> list[str]:
        """Of the curves that are shown first, those that the run logs."""
        with self._alone:
            return list(self._training.columns.curves.values())

    def columns(self, names: Sequence[str]) -> RunColumns:
        """As of the last `refresh`; names that the run does not log are left out."""
        with self._alone:
            return self._training.columns.series(names)

    def _look_around(self, before: _Around) -> _Around:
        last = before.events[-1].id if before.events else 0
        events = [*before.events, *self._ledger.events(self._name, last)]
        return _Around(self._ledger.alerts(self._name), events[-EVENTS_SHOWN:], self._ledger.samples(self._name))

    def _view(self, now_ms: int) -> RunView:
        training = self._training
        run, attempts, newest = training.facts.run, training.facts.attempts, training.facts.newest
        good, nodes = training.goodput(now_ms), node_views(self._around.samples)
        void = {attempt: len(rows) for attempt, rows in training.void.items()}
        return RunView(
            run=run.run,
            job=run.job,
            address=run.address,
            state=state_of(run, newest),
            reason=run.reason,
            step=training.step,
            total_steps=run.total_steps,
            created_ms=run.created_ms,
            ended_ms=run.ended_ms,
            reward=training.reward,
            reward_name=training.columns.curves.get("reward"),
            step_s=training.newest.usual_s,
            steps_per_hour=per_hour(training.newest.usual_s),
            eta=training.eta(now_ms),
            tokens_per_npu_s=tokens_per_npu_s(training.newest.rows),
            goodput=good,
            phases=phases(training.newest.rows),
            attempts=attempt_views(attempts, training.facts.decided, void, good, nodes),
            nodes=nodes,
            alerts=tuple(self._around.alerts),
            events=tuple(self._around.events),
            supervisor=supervisor_view(self._ledger.holder(), now_ms),
            seen_ms=newest.seen_ms if newest else None,
            curves=self._all_curves(),
        )

    def _all_curves(self) -> Mapping[str, Curve]:
        if self._curves is None:
            columns = self._training.columns
            self._curves = {key: columns.curve(name) for key, name in columns.curves.items()}
        return self._curves


class LiveRuns:
    """All runs, for the list of them."""

    def __init__(self, ledger: Ledger, clock: Callable[[], float] = time.monotonic) -> None:
        self._ledger, self._clock = ledger, clock
        self._alone = threading.RLock()
        self._changes: int | None = None
        self._runs: Mapping[str, Run] = {}
        self._counts: Mapping[str, int] = {}
        self._alerts: Mapping[str, int] = {}
        self._live: dict[str, Training] = {}
        self._over: dict[str, tuple[Run, RunRow]] = {}
        """Runs that have ended, as they were worked out."""

    def rows(self, now_ms: int, *, fill_s: float = FILL_S) -> list[RunRow]:
        """The newest first. Of runs that had ended before they were looked at first, those that do not fit into
        `fill_s` have no figures yet.
        """
        with self._alone:
            self._refresh()
            until_s = self._clock() + fill_s
            return [self._row(run, now_ms, until_s) for run in self._runs.values()]

    def _refresh(self) -> None:
        changes = self._ledger.changes()
        if changes == self._changes:
            return
        self._runs, self._counts = self._ledger.runs(), self._ledger.attempt_counts()
        self._alerts = self._ledger.open_alerts()
        active = [name for name, run in self._runs.items() if run.state == "active"]
        self._live = {name: training for name in active if (training := self._look(name))}
        self._changes = changes

    def _look(self, name: str) -> Training | None:
        """None: its first intent was withdrawn since the runs were read."""
        with suppress(UnknownRunError):
            training = self._live.get(name)
            if training is None:
                return Training(self._ledger, name, ROW_CURVES, ROW_FIGURES)
            training.refresh()
            return training
        return None

    def _row(self, run: Run, now_ms: int, until_s: float) -> RunRow:
        if run.run in self._live:
            return self._row_of(self._live[run.run], now_ms)
        before, row = self._over.get(run.run, (None, None))
        if row is None or before != run:
            training = self._look(run.run) if self._clock() < until_s else None
            if training is None:
                return self._bare(run)
            row = self._row_of(training, now_ms)
            self._over[run.run] = (run, row)
        alerts = self._alerts.get(run.run, 0)
        return row if row.alerts == alerts else replace(row, alerts=alerts)

    def _row_of(self, training: Training, now_ms: int) -> RunRow:
        run, good = training.facts.run, training.goodput(now_ms)
        return RunRow(
            run=run.run,
            job=run.job,
            address=run.address,
            state=state_of(run, training.facts.newest),
            step=training.step,
            total_steps=run.total_steps,
            reward=training.reward,
            goodput=good.share if good else None,
            steps_per_hour=per_hour(training.newest.usual_s),
            attempts=len(training.facts.attempts),
            created_ms=run.created_ms,
            ended_ms=run.ended_ms,
            alerts=self._alerts.get(run.run, 0),
        )

    def _bare(self, run: Run) -> RunRow:
        """Without figures."""
        return RunRow(
            run=run.run,
            job=run.job,
            address=run.address,
            state=state_of(run, None),
            step=None,
            total_steps=run.total_steps,
            reward=None,
            goodput=None,
            steps_per_hour=None,
            attempts=self._counts.get(run.run, 0),
            created_ms=run.created_ms,
            ended_ms=run.ended_ms,
            alerts=self._alerts.get(run.run, 0),
        )
