"""Taking up a run that has ended: another attempt of it, from its newest complete checkpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from submitter.errors import UsageError
from submitter.ledger import Attempt, Ledger, Run
from submitter.recovery.decide import resumed
from submitter.supervise.act import past
from submitter.supervise.kept import PROTOCOL, package_uris


def resume(run: str, ledger: Ledger, *, clock: Callable[[], float] = time.time) -> tuple[Run, Attempt]:
    """The run, active again, and the attempt after which the supervisor goes on; an active one stays as it is.

    UsageError: a run that this ledger does not have, that has trained all its steps, or whose packages are gone.
    """
    noted, attempts = ledger.run(run), ledger.attempts(run)
    if noted is None or not attempts:
        raise UsageError("resume.unknown", run=run)
    if noted.state == "succeeded":
        raise UsageError("resume.succeeded", run=run)
    if noted.state != "active" or noted.wanted == "stop" or not noted.supervised:
        _check_packages(run, attempts[-1], ledger)
        _check_ended(noted, attempts[-1])
        decision = resumed([past(one) for one in attempts])
        noted = ledger.reopen(run, int(clock() * 1000), decision=decision.to_json()) or noted
    return noted, attempts[-1]


def _check_packages(run: str, newest: Attempt, ledger: Ledger) -> None:
    """The cluster may still have them, but not for as long as the run may need them."""
    names = [uri.removeprefix(PROTOCOL) for uri in package_uris(json.loads(newest.body))]
    missing = [name for name in names if ledger.package(name) is None]
    if missing:
        raise UsageError("resume.packages_gone", run=run, package=missing[0])


def _check_ended(noted: Run, newest: Attempt) -> None:
    """While it is being stopped there is an attempt that may still save a checkpoint."""
    if noted.state == "active" and noted.wanted == "stop":
        raise UsageError("resume.stopping", run=noted.run, submission=newest.submission_id)
