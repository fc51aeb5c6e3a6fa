"""Following one submission to its end: its log as it is, its outcome from Ray's status and the driver's last line."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.cluster.logs import JobLog
from submitter.errors import UnreachableError
from submitter.exit_codes import ExitCode
from submitter.gang.record import END_PREFIX, EXIT_OF_REASON, VERDICT_PREFIX, parse_end, parse_verdict
from submitter.ledger import Ledger, LedgerError
from submitter.supervise.nodes import UNFIT, keep_proposals, proposed, tell_unfit
from submitter.supervise.outcome import Outcome, first_line, outcome_of
from submitter.texts import Tell

__all__ = ["Outcome", "follow"]

POLL_FIRST_S = 1.0
POLL_MAX_S = 5.0
POLL_GROWTH = 0.1
"""Of the time since the last change: after ten seconds the pause grows, after fifty it is `POLL_MAX_S`."""
SAY_EVERY_S = 30.0
START_TIMEOUT_S = 900.0
"""Ray's own limit for PENDING (RAY_JOB_START_TIMEOUT_SECONDS on the head); a submission that outlasts it is an orphan
that Ray neither starts nor stops (ray#62766)."""
AWAY_MAX_S = 24 * 3600.0
"""The cluster may be away for so long; then the following ends, the run's fate unknown."""
PENDING_MAX_S = 24 * 3600.0
"""Far above `START_TIMEOUT_S`, which a cluster may have raised: a following that no longer makes sense ends too."""
FORGOTTEN_LIMIT = 3
"""Polls in a row in which a cluster that answers does not know the job: it was restarted without its memory."""
_SIGNALS = {str(-number): number.name for number in signal.Signals}
"""By the exit code of a trainer that the signal killed."""


def follow(
    client: RayClient,
    submission_id: str,
    *,
    out: Callable[[str], None],
    tell: Tell,
    ledger: Ledger | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Outcome:
    """Streams the log's lines to `out` until the submission has ended; Ctrl-C ends only the following.

    What the attempt has against nodes is kept in `ledger`.

    A cluster that cannot be reached is told and waited for. UnreachableError: away for `AWAY_MAX_S`, pending for
    `PENDING_MAX_S`, or it no longer knows the job, or the token is refused.
    """
    log = JobLog(client, submission_id, tell=tell, clock=clock, sleep=sleep)
    watch = _Watch(client, submission_id, tell, clock)
    try:
        outcome = _Follower(log, watch, out, tell, sleep).run()
    except KeyboardInterrupt:
        tell("follow.interrupted", run=submission_id.rpartition("-a")[0])
        return Outcome(ExitCode.INTERRUPTED, watch.state, "interrupted", None)
    finally:
        log.close()
    if ledger is not None:
        _keep(ledger, client.address, watch.info, outcome, tell)
    return outcome


def _keep(ledger: Ledger, address: str, info: JobInfo | None, outcome: Outcome, tell: Tell) -> None:
    """A ledger that cannot be written does not change how the run ended."""
    assert info is not None  # it was followed to its end
    try:
        keep_proposals(ledger, address, info, outcome.end, int(time.time() * 1000))
    except LedgerError as error:
        tell("nodes.not_kept", error=error)


class _Watch:
    """The submission's status, polled sparingly, with the waits told."""

    def __init__(self, client: RayClient, submission_id: str, tell: Tell, clock: Callable[[], float]) -> None:
        self.info: JobInfo | None = None
        self._client = client
        self._id = submission_id
        self._tell = tell
        self._clock = clock
        self._changed_at = clock()
        self._next_at = clock()
        self._said_at = clock()
        self._away_since: float | None = None
        self._forgotten = 0

    @property
    def state(self) -> str:
        return self.info.status if self.info else "unknown"

    @property
    def started(self) -> bool:
        return self.info is not None and self.info.status != "PENDING"

    def pause(self) -> float:
        """Seconds until the next poll."""
        return max(0.0, self._next_at - self._clock())

    def hurry(self) -> None:
        if self._away_since is None:
            self._next_at = self._clock()

    def poll(self) -> None:
        try:
            info = self._client.job(self._id)
        except RayError as error:
            self._away(error)
        else:
            self._seen(info)
        now = self._clock()
        self._next_at = now + min(max((now - self._changed_at) * POLL_GROWTH, POLL_FIRST_S), POLL_MAX_S)

    def _seen(self, info: JobInfo | None) -> None:
        now = self._clock()
        if self._away_since is not None:
            self._tell("follow.back", address=self._client.address, seconds=f"{now - self._away_since:.0f}")
            self._away_since, self._changed_at, self._said_at = None, now, now
        if info is None:
            self._forgotten += 1
            if self._forgotten >= FORGOTTEN_LIMIT:
                raise UnreachableError("follow.forgotten", submission=self._id, address=self._client.address)
            return
        self._forgotten = 0
        if info.status != self.state:
            self._changed_at = self._said_at = now
        self.info = info
        if info.status == "PENDING" and now - self._said_at >= SAY_EVERY_S:
            self._say_pending(info, now)

    def _say_pending(self, info: JobInfo, now: float) -> None:
        self._said_at = now
        waited = now - self._changed_at
        text_id = "follow.pending" if waited <= START_TIMEOUT_S else "follow.orphan"
        values = {"submission": self._id, "seconds": f"{waited:.0f}", "message": first_line(info.message)}
        if waited > PENDING_MAX_S:
            raise UnreachableError(text_id, **values)
        self._tell(text_id, **values)

    def _away(self, error: RayError) -> None:
        if error.status in (401, 403):
            raise error
        now = self._clock()
        first = self._away_since is None
        self._away_since = now if self._away_since is None else self._away_since
        if now - self._away_since > AWAY_MAX_S:
            raise UnreachableError("follow.gave_up", submission=self._id, hours=f"{AWAY_MAX_S / 3600:.0f}", error=error)
        if first or now - self._said_at >= SAY_EVERY_S:
            self._said_at = now
            self._tell("follow.away", seconds=f"{now - self._away_since:.0f}", state=self.state, error=error)


class Records:
    """What the driver says in its log about the end and about unfit nodes."""

    def __init__(self, attempt: str) -> None:
        self.end: dict[str, Any] | None = None
        self._attempt = attempt
        self._verdicts: list[dict[str, Any]] = []

    def note(self, line: str) -> None:
        if line.startswith(END_PREFIX):
            self.end = parse_end(line, self._attempt) or self.end
        elif line.startswith(VERDICT_PREFIX) and (verdict := parse_verdict(line, self._attempt)):
            self._verdicts.append(verdict)

    def tell_unfit(self, tell: Tell) -> bool:
        """Per finding its text and what to do, where unfit nodes ended the attempt; whether anything was told."""
        if self.end is None or self.end["reason"] != UNFIT:
            return False
        blamed = self.end.get("node")
        for found in (self._verdicts, proposed(self.end)):  # else it ended by something else than a probe's finding
            if any(one["node"] == blamed for one in found) and tell_unfit(found, tell):
                return True
        return False


class _Follower:
    def __init__(
        self, log: JobLog, watch: _Watch, out: Callable[[str], None], tell: Tell, sleep: Callable[[float], None]
    ) -> None:
        self._log = log
        self._watch = watch
        self._out = out
        self._tell = tell
        self._sleep = sleep
        self._records: Records | None = None

    def run(self) -> Outcome:
        while True:
            if self._watch.pause() == 0:
                self._watch.poll()
            info = self._watch.info
            if info is not None and info.ended:
                return self._ended(info)
            self._wait()

    def _wait(self) -> None:
        """Until the next poll at most; a PENDING job has no log, and Ray holds its stream open without a word."""
        pause = self._watch.pause()
        if not self._watch.started:
            self._sleep(pause)
            return
        connected = self._log.connected
        self._deliver(self._log.read(pause))
        if connected and not self._log.connected:
            self._watch.hurry()  # mostly, Ray ends the stream because the job has ended

    def _ended(self, info: JobInfo) -> Outcome:
        self._deliver(self._log.finish() if info.driver_node_id else [])
        records = self._records or Records(info.submission_id)
        outcome = outcome_of(info, records.end)
        records.end = outcome.end  # Ray's message may have quoted it
        _tell_outcome(outcome, info.submission_id, self._tell, records)
        return outcome

    def _deliver(self, lines: list[str]) -> None:
        assert self._watch.info is not None  # read only after it was seen
        self._records = self._records or Records(self._watch.info.submission_id)
        for line in lines:
            self._records.note(line)
            self._out(line)


def _tell_outcome(outcome: Outcome, submission_id: str, tell: Tell, records: Records) -> None:
    """What ended, why, on which node, with which code; then what to do about it, if the driver gave a reason."""
    if outcome.exit_code is ExitCode.DONE:
        tell("follow.succeeded", submission=submission_id)
    elif outcome.exit_code is ExitCode.STOPPED:
        tell("follow.stopped", submission=submission_id)
    elif outcome.end is None or outcome.message:
        tell("follow.failed_by_ray", submission=submission_id, reason=outcome.reason, message=outcome.message)
    else:
        end = outcome.end
        known = {key: "-" if end.get(key) is None else end[key] for key in ("phase", "node", "code")}
        killed_by = _SIGNALS.get(str(known["code"]))
        if killed_by is None:
            tell("follow.failed", submission=submission_id, reason=outcome.reason, **known)
        else:
            tell("follow.killed", submission=submission_id, reason=outcome.reason, signal=killed_by, **known)
        if records.tell_unfit(tell):
            return
        if outcome.reason in EXIT_OF_REASON:  # a newer npurun's driver may know more reasons
            tell(f"gang.reason.{outcome.reason}", node=known["node"], code=known["code"])
        evidence = end.get("evidence")
        if outcome.reason == UNFIT and isinstance(evidence, list) and evidence:
            tell("follow.evidence", said=evidence[0])
