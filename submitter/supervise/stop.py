"""Stopping a run, until the cluster says that it has stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from runtime_env.ids import check_run
from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.errors import RunFailedError, UsageError
from submitter.ledger import Ledger, Run
from submitter.supervise.find import find_run
from submitter.supervise.run_state import state_of
from submitter.texts import Tell

POLL_S = 1.0
ASK_EVERY_S = 5.0
"""Asked again: Ray answers "stopped" for a PENDING job and does nothing, so the first ask may have been lost."""
SUPERVISED_POLL_S = 0.2
"""Of the ledger, which is a file here."""
SAY_EVERY_S = 15.0
RUNNING_BOUND_S = 300.0
"""Longer than RAY_JOB_STOP_WAIT_TIME_S, which the request sets, lets the trainer take for its last checkpoint."""
PENDING_BOUND_S = 960.0
"""Ray gives a PENDING job up after 900 s by itself."""


def stop(
    run: str,
    ledger: Ledger,
    client: RayClient,
    *,
    tell: Tell,
    care: Callable[[], object],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """{run, submission_id, state}: the state in which the run has ended, perhaps before this call.

    `care` makes sure that the ledger's supervisor runs: a run in its care is stopped by it.
    UsageError: unknown run, or never submitted. RunFailedError: it did not stop within the bound.
    """
    noted = ledger.run(check_run(run))
    if noted is not None and noted.supervised:
        return _stop_supervised(noted, ledger, care, tell, clock, sleep)
    found = find_run(run, ledger, client)
    if not found.jobs:
        raise UsageError("run.not_on_cluster", run=run, address=found.client.address)
    info = found.jobs[-1]
    if info.ended:
        tell("stop.ended_before", run=run, state=info.status.lower())
    else:
        info = _Stopping(found.client, run, info, tell, clock, sleep).until_ended()
        tell("stop.ended", run=run, state=info.status.lower())
    return {"run": run, "submission_id": info.submission_id, "state": info.status.lower()}


def _stop_supervised(
    noted: Run,
    ledger: Ledger,
    care: Callable[[], object],
    tell: Tell,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> dict[str, Any]:
    """The wish is on disk first: from then on no further attempt starts, whoever dies meanwhile."""
    run = noted.run
    if noted.state != "active":
        tell("stop.ended_before", run=run, state=noted.state)
        return _document(run, noted.state, ledger)
    ledger.want(run, "stop")
    care()
    since = said = clock()
    state = ""
    while noted is not None and noted.state == "active":
        before, now = state, clock()
        state = state_of(noted, ledger.newest_attempts().get(run))
        since = now if (before, state) == ("pending", "running") else since  # now it can be stopped
        bound_s = PENDING_BOUND_S if state == "pending" else RUNNING_BOUND_S
        if now - since > bound_s:
            raise RunFailedError("stop.left_to_supervisor", run=run, seconds=f"{bound_s:.0f}", state=state)
        if now - said >= SAY_EVERY_S:
            said = now
            tell("stop.waiting", run=run, state=state, seconds=f"{now - since:.0f}")
        sleep(SUPERVISED_POLL_S)
        noted = ledger.run(run) or noted
    tell("stop.ended", run=run, state=noted.state)
    return _document(run, noted.state, ledger)


def _document(run: str, state: str, ledger: Ledger) -> dict[str, Any]:
    attempts = ledger.attempts(run)
    return {"run": run, "submission_id": attempts[-1].submission_id if attempts else None, "state": state}


class _Stopping:
    def __init__(
        self,
        client: RayClient,
        run: str,
        info: JobInfo,
        tell: Tell,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._client = client
        self._run = run
        self._info = info
        self._tell = tell
        self._clock = clock
        self._sleep = sleep
        self._since = clock()
        self._asked_at: float | None = None
        self._said_at = clock()
        if info.status == "PENDING":
            tell("stop.pending", run=run, seconds=f"{PENDING_BOUND_S:.0f}")

    def until_ended(self) -> JobInfo:
        while not self._info.ended:
            try:
                self._ask()
                self._look()
            except RayError as error:
                if error.refused:
                    raise
                self._say("stop.away", error=error)
            if self._clock() - self._since > self._bound():
                raise RunFailedError("stop.not_in_time", run=self._run, seconds=f"{self._bound():.0f}")
            if not self._info.ended:
                self._sleep(POLL_S)
        return self._info

    def _bound(self) -> float:
        return PENDING_BOUND_S if self._info.status == "PENDING" else RUNNING_BOUND_S

    def _ask(self) -> None:
        now = self._clock()
        if self._asked_at is None or now - self._asked_at >= ASK_EVERY_S:
            self._asked_at = now
            self._client.stop(self._info.submission_id)

    def _look(self) -> None:
        before = self._info.status
        self._info = self._client.job(self._info.submission_id) or self._info
        if before == "PENDING" and self._info.status == "RUNNING":
            self._since, self._asked_at = self._clock(), None  # now it can be stopped
        self._say("stop.waiting", state=self._info.status.lower())

    def _say(self, text_id: str, **values: object) -> None:
        now = self._clock()
        if now - self._said_at >= SAY_EVERY_S:
            self._said_at = now
            self._tell(text_id, run=self._run, seconds=f"{now - self._since:.0f}", **values)
