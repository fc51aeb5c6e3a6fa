"""Following a run to its end: its attempts' logs one after the other, and what the supervisor decides between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from submitter.cluster.client import RayClient
from submitter.errors import NpurunError, UnreachableError, UsageError
from submitter.exit_codes import ExitCode
from submitter.ledger import Attempt, Event, Ledger, Run
from submitter.supervise.follow import Outcome, follow
from submitter.texts import TABLE, Phrase, Tell

POLL_S = 0.2
"""Of the ledger, which is a file here."""
CARE_EVERY_S = 5.0
FORGOTTEN = "follow.forgotten"
NOT_PLACED = "not_placed"
URGENT = frozenset(
    {
        *("supervise.no_token", "supervise.wrong_token", "supervise.no_credentials"),
        *("supervise.hung", "supervise.stopping", "supervise.recovered", "supervise.trouble"),
    }
)
"""Told while an attempt is followed; the rest when its log is at its end, so that it reads in order."""
ALERTS = "NR9"
"""How the ids of alerts begin; they are urgent too."""
_EXITS: Mapping[str, ExitCode] = {"succeeded": ExitCode.DONE, "stopped": ExitCode.STOPPED}


def follow_run(
    run: str,
    ledger: Ledger,
    client: RayClient,
    *,
    out: Callable[[str], None],
    tell: Tell,
    care: Callable[[], bool],
    attempt: int | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Outcome:
    """From attempt number `attempt` (None: the newest) until the run is over; Ctrl-C ends only the following.

    `client`: of the run's cluster. `care` starts the supervisor where it has died (`ensure_running`); True: it had.
    UnreachableError: as `follow` has it, but for a cluster that has lost the job: what then is the supervisor's to say.
    """
    news = _News(run, ledger, tell)
    with _watching(news, care, tell):
        try:
            return _Run(run, ledger, client, news, out, tell, clock, sleep).until_over(attempt)
        except KeyboardInterrupt:
            tell("follow.interrupted", run=run)
            return Outcome(ExitCode.INTERRUPTED, "unknown", "interrupted", None)


def outcome_of_run(run: Run, newest: Attempt | None) -> Outcome:
    """Of a run that is over; the exit code is the command's."""
    failed = ExitCode.NOT_PLACED if run.reason == NOT_PLACED else ExitCode.RUN_FAILED
    return Outcome(_EXITS.get(run.state, failed), run.state.upper(), run.reason, newest.end if newest else None)


def words_of(event: Event) -> tuple[str, Mapping[str, object]]:
    """Text id and values to tell it with: an alert's own words say neither that it is one, nor of which run."""
    if not event.text_id.startswith(ALERTS):
        return event.text_id, event.values
    what = Phrase(event.text_id, event.values)
    return "supervise.alert", {"run": event.run, "alert": event.text_id, "what": what}


class _Run:
    def __init__(
        self,
        name: str,
        ledger: Ledger,
        client: RayClient,
        news: _News,
        out: Callable[[str], None],
        tell: Tell,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._name = name
        self._ledger = ledger
        self._client = client
        self._news = news
        self._out = out
        self._tell = tell
        self._clock = clock
        self._sleep = sleep

    def until_over(self, number: int | None) -> Outcome:
        attempts = self._ledger.attempts(self._name)
        at = number or max((one.attempt for one in attempts), default=1)
        while (attempt := self._begun(at)) is not None:
            outcome = self._follow(attempt)
            if outcome is not None and outcome.exit_code is ExitCode.INTERRUPTED:
                return outcome
            at = attempt.attempt + 1
        run = self._ledger.run(self._name)
        attempts = self._ledger.attempts(self._name)
        if run is None:  # its submitter has taken it back: the cluster would not have it
            raise UsageError("resume.unknown", run=self._name)
        return outcome_of_run(run, attempts[-1] if attempts else None)

    def _begun(self, at: int) -> Attempt | None:
        """The first attempt from number `at` on that the cluster has taken; None when the run ends without one."""
        while True:
            run = self._ledger.run(self._name)
            found = [one for one in self._ledger.attempts(self._name) if one.attempt >= at and one.posted_ms]
            self._news.tell_all()
            if found:
                return found[0]
            if run is None or run.state != "active":
                return None
            self._sleep(POLL_S)

    def _follow(self, attempt: Attempt) -> Outcome | None:
        """None: the cluster does not know it any more."""
        try:
            return follow(
                self._client,
                attempt.submission_id,
                out=self._out,
                tell=self._tell,
                clock=self._clock,
                sleep=self._sleep,
            )
        except UnreachableError as error:
            if error.text_id != FORGOTTEN:
                raise
            self._tell(error.text_id, **error.values)
            return None


class _News:
    """The run's events, each told once, from those on that come after the following has begun."""

    def __init__(self, run: str, ledger: Ledger, tell: Tell) -> None:
        self._run = run
        self._ledger = ledger
        self._tell = tell
        self._lock = threading.Lock()
        self._after = max((event.id for event in ledger.events(run)), default=0)
        self._told: set[int] = set()

    @property
    def active(self) -> bool:
        found = self._ledger.run(self._run)
        return found is not None and found.state == "active"

    def tell_all(self) -> None:
        with self._lock:
            for event in self._new():
                self._after = event.id
                self._say(event)

    def tell_urgent(self) -> None:
        with self._lock:
            for event in self._new():
                if event.text_id in URGENT or event.text_id.startswith(ALERTS):
                    self._say(event)

    def _new(self) -> list[Event]:
        return self._ledger.events(self._run, self._after)

    def _say(self, event: Event) -> None:
        if event.id not in self._told and event.text_id in TABLE:  # a newer npurun may know more of them
            self._told.add(event.id)
            text_id, values = words_of(event)
            self._tell(text_id, **values)


@contextmanager
def _watching(news: _News, care: Callable[[], bool], tell: Tell) -> Iterator[None]:
    """Beside the following: news that cannot wait, and a supervisor that must not stay dead."""
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(over, news, care, tell), name="news", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(CARE_EVERY_S)


def _watch(over: threading.Event, news: _News, care: Callable[[], bool], tell: Tell) -> None:
    next_care_s, trouble = time.monotonic() + CARE_EVERY_S, ""
    while not over.wait(POLL_S * 5):
        try:
            news.tell_urgent()
            if time.monotonic() < next_care_s:
                continue
            next_care_s = time.monotonic() + CARE_EVERY_S
            if news.active and care():
                tell("supervise.restarted")
        except NpurunError as error:
            if str(error) != trouble:
                trouble = str(error)
                tell("supervise.no_care", error=error)
