"""The story of one run, in which the supervisor dies at a chosen write to ledger or cluster, and begins anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from submitter.ledger import Ledger
from tests.support.care_bench import Bench, FakeCluster, Job, in_doubt, resumed_line, step_line, without_syncs
from tests.support.clock import HandClock

LIVES_S = 6.0
READS = frozenset(
    {
        *("run", "runs", "active_runs", "attempts", "decision", "events", "holder", "package", "quarantined", "steps"),
        *("job", "log_of", "head", "version", "has_package", "has_starter"),
    }
)
"""To die at one of these is to die after the write before it: all that is in memory is lost anyway."""


class DiedError(BaseException):
    """What SIGKILL is to a test: nothing may catch it."""


class Bomb:
    """Counts calls, and dies at the one it was told to: before it took effect, or after."""

    def __init__(self) -> None:
        self.calls = 0
        self.at: int | None = None
        self.after = False
        self.armed = False

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.calls += self.armed
            mine = self.armed and self.at == self.calls
            if mine and not self.after:
                raise DiedError
            try:
                return call(*arguments, **named)
            finally:
                if mine:
                    raise DiedError  # also where the call itself has failed

        return counted


class Watched:
    """An object whose methods the bomb sees."""

    def __init__(self, wrapped: Any, bomb: Bomb) -> None:
        self._wrapped = wrapped
        self._bomb = bomb

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._wrapped, name)
        return self._bomb.around(found) if callable(found) and name not in READS else found


class Story:
    """A run with three attempts: a lost node, a head that forgets, success; the second POST's answer is lost."""

    def __init__(self, home: Path, bomb: Bomb, *, stop_at: str | None = None) -> None:
        self.bomb = bomb
        clock = HandClock()
        self.cluster = FakeCluster(clock)
        self.cluster.on_post = self._posted
        self.stop_at = stop_at
        ledger = Ledger(home)
        without_syncs(ledger)
        self.bench = Bench(home, ledger=Watched(ledger, bomb), clock=clock, cluster=self.cluster)
        self.bench.connect = lambda _address: Watched(self.cluster, bomb)
        self.bench.inbox.tick = self._tick
        self.deaths = 0

    def play(self) -> None:
        self.bench.submit(posted=False)
        self._restart()
        end = self.bench.clock.now + 4000
        while self.bench.ledger._wrapped.run("run").state == "active":  # type: ignore[attr-defined]
            assert self.bench.clock.now < end, f"stuck; told: {self.bench.told[-8:]}"
            try:
                self.bench.supervisor.turn()
            except DiedError:
                self.deaths += 1
                self._restart()

    def _restart(self) -> None:
        self.bomb.armed = False
        self.bench.start()
        self.bench.inbox.tick = self._tick
        self.bomb.armed = self.deaths == 0

    def _posted(self, job: Job) -> None:
        identity = job.info.submission_id
        if identity == self.stop_at:
            self.bench.ledger._wrapped.want("run", "stop")  # type: ignore[attr-defined]
        if identity == "run-a1":
            job.write(step_line(1), step_line(2))
            self.cluster.answers["post_job"] = []
        elif identity == "run-a2":
            job.write(resumed_line(identity, 2), step_line(3))
            self.cluster.answers["post_job"] = [in_doubt()]
        else:
            job.write(resumed_line(identity, 2), step_line(4))

    def _tick(self, _seconds: float) -> None:
        """Each attempt ends after LIVES_S."""
        for identity, job in list(self.cluster.jobs.items()):
            if not job.live or self.bench.clock.now < self._begun.setdefault(identity, self.bench.clock.now) + LIVES_S:
                continue
            if identity == "run-a1":
                job.end("node_lost", node="10.0.0.2")
            elif identity == "run-a2":
                self.cluster.restart()
            else:
                job.end("succeeded", code=0)

    @property
    def _begun(self) -> dict[str, float]:
        return self.__dict__.setdefault("_begun_at", {})  # type: ignore[no-any-return]


def play(folder: Path, *, at: int | None, after: bool = False, stop_at: str | None = None) -> Story:
    bomb = Bomb()
    bomb.at, bomb.after = at, after
    story = Story(folder, bomb, stop_at=stop_at)
    story.play()
    return story


def check(story: Story, reasons: list[str], state: str) -> None:
    ledger: Ledger = story.bench.ledger._wrapped  # type: ignore[attr-defined]
    attempts = ledger.attempts("run")
    assert [attempt.reason for attempt in attempts] == reasons
    assert ledger.run("run").state == state  # type: ignore[union-attr]
    assert story.cluster.posted == [attempt.submission_id for attempt in attempts]  # each once, none lost
    assert set(story.cluster.most_live.values()) == {1}
    assert not [job for job in story.cluster.jobs.values() if job.live]
    assert [attempt.last_step for attempt in attempts] == [2, 3, 4][: len(attempts)]
    assert len(ledger.decisions("run")) == len(attempts)
    ledger.close()


FULL = ["node_lost", "cluster_lost", "succeeded"]
STOPPED = ["node_lost", "stopped"]
