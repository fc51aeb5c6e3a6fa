"""What the care for each run works with: ledger, clusters, clocks, and who is told."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from submitter.cluster.client import RayClient
from submitter.errors import NpurunError, Place, UsageError
from submitter.ledger import Ledger, Run
from submitter.ledger.model import Holder
from submitter.recovery.policy import Policy
from submitter.supervise.aside import Aside
from submitter.supervise.clusters import Cluster, Connect, CredentialsError, is_away
from submitter.supervise.lanes import Care, Pause, ask
from submitter.supervise.notify import Message
from submitter.texts import NONE, Tell

T = TypeVar("T")

POLL_VARIABLE = "NPURUN_POLL_MAX_S"
POLL_FIRST_S = 1.0
POLL_MAX_S = 15.0
POLLS_PER_S = 4.0
"""Of all quiet runs together, until POLL_MAX_S is reached at sixty: up to four are looked at every second, however
quiet they are, so that what follows an end is there within two."""
AWAY_SAY_S = 300.0
"""A cluster that stays away is told of again after so long, then after twice as long each time."""
UNREACHABLE = "UNREACHABLE"
"""What is seen of an attempt then; never an end."""


class StopWishedError(Exception):
    """The run's user wants it to end: whatever was being waited for does not matter any more."""


@dataclass
class World:
    ledger: Ledger
    connect: Connect
    holder: Holder
    """Whose ledger it is; a write that starts something shows its token."""
    clock: Callable[[], float]
    """Monotonic seconds, for waits."""
    wall_ms: Callable[[], int]
    """Unix time, for the ledger."""
    sleep: Callable[[float], None]
    """In a lane's thread."""
    rng: random.Random
    say: Tell
    """What people read of the supervisor itself; safe in any thread."""
    notify: Callable[[Message], None]
    """Never blocks, never raises."""
    language: str = "en"
    """Of what people are notified of."""
    poll_max_s: float | None = None
    """None: by the number of runs."""
    runs: int = 0
    """In care."""
    aside: Aside = field(default_factory=Aside)
    """For work that no run waits for."""
    _clusters: dict[str, Cluster] = field(default_factory=dict)
    _said_away: dict[str, float] = field(default_factory=dict)
    """By run: when next."""

    def cluster(self, address: str) -> Cluster:
        if address not in self._clusters:
            self._clusters[address] = Cluster(address, self.connect, self.clock, self.rng)
        return self._clusters[address]

    def call(
        self,
        run: Run,
        work: Callable[[RayClient], T],
        *,
        unless_stopped: bool = False,
        on_away: Callable[[], None] = lambda: None,
    ) -> Care[T]:
        """The cluster's answer, however long it takes: a cluster that is away is told, and waited for.

        NpurunError: it has understood, and will not do it. StopWishedError: only if `unless_stopped`, and only while
        it is away.
        """
        cluster = self.cluster(run.address)
        while True:
            while cluster.ask_at_s() > self.clock():
                yield Pause(cluster.ask_at_s())
                if unless_stopped and self.wants_stop(run.run):
                    raise StopWishedError
            try:
                with cluster.asked():
                    answer = yield from ask(run.address, lambda: cluster.do(work))
            except NpurunError as error:
                if not is_away(error):
                    raise
                self._away(run, cluster, error)
                on_away()
            else:
                self._answered(run, cluster)
                return answer

    def wants_stop(self, run: str) -> bool:
        """By the ledger's word now. A run that is gone from it wants nothing any more."""
        found = self.ledger.run(run)
        return found is None or found.wanted == "stop"

    def note(self, run: str, attempt: int | None, text_id: str, /, **values: object) -> None:
        """Told to all who follow the run, now and later, and to whoever reads the supervisor's own output."""
        said = {"run": run, **values}
        self.ledger.event(run, attempt, text_id, plain(said), self.wall_ms())
        self.say(text_id, **said)

    def poll_cap_s(self) -> float:
        if self.poll_max_s is not None:
            return max(POLL_FIRST_S, self.poll_max_s)
        return min(max(self.runs / POLLS_PER_S, POLL_FIRST_S), POLL_MAX_S)

    def _away(self, run: Run, cluster: Cluster, error: NpurunError) -> None:
        cluster.failed(error)
        now = self.clock()
        if now < self._said_away.get(run.run, now):
            return
        away_s = now - (now if cluster.away_since_s is None else cluster.away_since_s)
        self._said_away[run.run] = now + max(AWAY_SAY_S, away_s)
        self.note(run.run, None, away_text(error), address=run.address, seconds=round(away_s), error=error)
        newest = self.ledger.newest_attempts().get(run.run)
        if newest is not None and newest.posted_ms is not None and newest.state is None:
            self.ledger.observe(
                newest.submission_id, state=UNREACHABLE, last_step=None, log_bytes=None, now_ms=self.wall_ms()
            )

    def _answered(self, run: Run, cluster: Cluster) -> None:
        away_s = cluster.answered()
        if self._said_away.pop(run.run, None) is not None:
            self.note(run.run, None, "supervise.back", address=run.address, seconds=round(away_s or 0.0))


def away_text(error: NpurunError) -> str:
    """Of a cluster that is away, or that does not let this process in."""
    if isinstance(error, CredentialsError):
        return "supervise.no_credentials"
    status = getattr(error, "status", None)
    return {401: "supervise.no_token", 403: "supervise.wrong_token"}.get(status or 0, "supervise.away")


def shown(value: object) -> object:
    """What is not known, in a text."""
    return NONE if value is None else value


def plain(values: Mapping[str, object]) -> dict[str, Any]:
    """As JSON has it: an error among them in English words."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        try:
            kept[name] = json.loads(json.dumps(value))
        except (TypeError, ValueError):
            kept[name] = str(value)
    return kept


def poll_max_s(environ: Mapping[str, str] = os.environ) -> float | None:
    """`$NPURUN_POLL_MAX_S`; None when it is not set."""
    text = environ.get(POLL_VARIABLE, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 3600:
        raise UsageError("supervise.poll_max", Place(key=POLL_VARIABLE), value=text)
    return value


def policy_of(run: Run) -> Policy:
    """As it was submitted with; a run of an older npurun has the defaults."""
    return Policy.from_json(run.policy)
