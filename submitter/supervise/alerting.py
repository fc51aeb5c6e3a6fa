"""Alerts of a run while it trains: judged as steps and samples come, told once while they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from submitter.ledger import Attempt, Run, Step
from submitter.ledger.metrics import EVERY
from submitter.metrics.alerts import Watched, judge
from submitter.metrics.alerts.window import HEAD_STEPS
from submitter.metrics.recent import RECENT_STEPS
from submitter.supervise.notices import alerted
from submitter.supervise.world import World

SAMPLES_EVERY_S = 60.0
"""Without a new step: what nodes measure changes slowly, and a judgement takes milliseconds."""
SAMPLES_READ = 720
"""Of each node when the care begins: two hours at one every 10 s."""

Row = tuple[int, int, Mapping[str, float]]


class Alerting:
    def __init__(self, world: World, run: Run, attempt: Attempt) -> None:
        """With what the ledger has of the run already."""
        self._world = world
        self._run = run
        self._attempt = attempt
        self._watched = Watched()
        self._judged_s = world.clock()
        self._has_steps = self._has_samples = False
        self._load()

    def steps(self, rows: Sequence[Row], resumed_from: int | None) -> None:
        self._watched.add_steps(self._attempt.attempt, rows, resumed_from)
        self._has_steps = self._has_steps or bool(rows)

    def samples(self, samples: Sequence[Mapping[str, Any]]) -> None:
        self._watched.add_samples(self._attempt.attempt, samples)
        self._has_samples = self._has_samples or bool(samples)

    def judge(self, total_steps: int | None) -> None:
        """Where something came: what holds now is in the ledger afterwards, and what is new is told."""
        now = self._world.clock()
        if not self._has_steps and not (self._has_samples and now - self._judged_s >= SAMPLES_EVERY_S):
            return
        self._has_steps, self._has_samples, self._judged_s = False, False, now
        found = judge(self._watched.window(total_steps))
        ledger, number = self._world.ledger, self._attempt.attempt
        # Told within: after a crash in between it would be open, and never told.
        with ledger.together(self._world.holder.token, durable=False):
            for alert in ledger.record_alerts(self._run.run, number, found, self._world.wall_ms()):
                alerted(self._world, self._run, self._attempt, alert)

    def _load(self) -> None:
        ledger, name = self._world.ledger, self._run.run
        resumed = {one.attempt: one.resumed_from for one in ledger.attempts(name)}
        head, newest = ledger.steps(name, until=HEAD_STEPS), self._newest(resumed)
        for number in sorted(resumed):
            rows = [one for one in (*head, *newest) if one.attempt == number]
            self._watched.add_steps(number, ((one.step, one.seen_ms, one.metrics) for one in rows), resumed[number])
        kept = ledger.samples(name, newest=SAMPLES_READ)
        number = self._attempt.attempt
        self._watched.add_samples(number, [one.sample for one in kept if one.attempt == number])

    def _newest(self, resumed: Mapping[int, int | None]) -> list[Step]:
        """Of the newest attempt, and of those before it what it goes on from, until there are enough."""
        found: list[Step] = []
        until = EVERY
        for number in sorted(resumed, reverse=True):
            rows = self._world.ledger.steps(
                self._run.run, number, newest=max(0, RECENT_STEPS - len(found)), until=until
            )
            found += rows
            if rows:
                after = resumed[number]
                until = min(until, rows[0].step - 1 if after is None else after)
        return found


def close_all(world: World, run: Run, attempt: Attempt) -> None:
    """The attempt has ended: nothing holds any more."""
    world.ledger.record_alerts(run.run, attempt.attempt, [], world.wall_ms(), holder=world.holder.token)
