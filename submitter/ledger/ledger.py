"""The ledger: one object over its parts, which share one file and its transactions.

A run and its first attempt are written down before the POST, each later attempt, decision and end as it comes, so that
whoever opens the ledger next can go on from any instant.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from submitter.ledger.alerts import Alerts
from submitter.ledger.attempts import Attempts
from submitter.ledger.database import Database
from submitter.ledger.decisions import Decisions
from submitter.ledger.events import Events
from submitter.ledger.journal import Journal
from submitter.ledger.lock import Lock
from submitter.ledger.metrics import Metrics
from submitter.ledger.mounts import MOUNTINFO
from submitter.ledger.packages import Packages
from submitter.ledger.quarantine import Quarantine
from submitter.ledger.runs import Runs
from submitter.ledger.samples import Samples


class Ledger:
    """Raises `LedgerError`, one line, for everything that can be wrong with folder or file. Threads may share it."""

    def __init__(self, home: Path, *, mountinfo: Path = MOUNTINFO) -> None:
        self._database = Database(home, mountinfo)
        self.path: Path = self._database.path
        self.journal: Journal = self._database.journal

        runs = Runs(self._database)
        self.run = runs.run
        self.runs = runs.runs
        self.active_runs = runs.active_runs
        self.want = runs.want
        self.learn_total = runs.learn_total
        self.end_run = runs.end_run
        self.reopen = runs.reopen

        attempts = Attempts(self._database)
        self.record_intent = attempts.record_intent
        self.take_intent = attempts.take_intent
        self.withdraw = attempts.withdraw
        self.record_posted = attempts.record_posted
        self.record_resumed = attempts.record_resumed
        self.observe = attempts.observe
        self.record_end = attempts.record_end
        self.attempts = attempts.attempts
        self.posted_ms = attempts.posted_ms
        self.newest_attempts = attempts.newest_attempts
        self.attempt_counts = attempts.attempt_counts
        self.observations = attempts.observations
        self.unended = attempts.unended

        metrics = Metrics(self._database)
        self.record_steps = metrics.record_steps
        self.steps = metrics.steps
        self.newest_steps = metrics.newest_steps
        self.metric_names = metrics.metric_names
        self.columns = metrics.columns

        samples = Samples(self._database)
        self.record_samples = samples.record_samples
        self.samples = samples.samples

        alerts = Alerts(self._database)
        self.record_alerts = alerts.record_alerts
        self.alerts = alerts.alerts
        self.open_alerts = alerts.open_alerts

        decisions = Decisions(self._database)
        self.record_decision = decisions.record_decision
        self.decision = decisions.decision
        self.decisions = decisions.decisions

        events = Events(self._database)
        self.event = events.event
        self.events = events.events

        lock = Lock(self._database)
        self.take = lock.take
        self.beat = lock.beat
        self.leave = lock.leave
        self.holder = lock.holder

        packages = Packages(self._database)
        self.keep_package = packages.keep_package
        self.package = packages.package
        self.drop_unused_packages = packages.drop_unused_packages

        quarantine = Quarantine(self._database)
        self.quarantine = quarantine.quarantine
        self.quarantined = quarantine.quarantined
        self.release = quarantine.release

    def together(self, holder: str | None = None, *, durable: bool = True) -> AbstractContextManager[Any]:
        """One transaction around several calls: all of them or none, and one wait for the disk.

        Not durable: where all of them can be seen again after a power failure (observations, steps).
        """
        return self._database.transaction(holder, durable=durable)

    def changes(self) -> int:
        """Another number than before: something was written since, by anyone. Costs microseconds."""
        return self._database.changes()

    def close(self) -> None:
        self._database.close()
