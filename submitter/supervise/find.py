"""A run by its name: in the ledger, on the cluster, or both. Runs that another machine submitted are found too."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from runtime_env.ids import check_run, submission_id
from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.errors import UsageError
from submitter.job.nearest import nearest
from submitter.ledger import Attempt, Ledger, Run
from submitter.render.request import RUN_KEY

MAX_ATTEMPTS = 9999
"""The highest number that a submission id has room for."""


@dataclass(frozen=True)
class Found:
    run: str
    client: RayClient
    """Of the cluster that the run is on."""
    noted: Run | None
    """What the ledger has; None for a run of another machine."""
    attempts: tuple[Attempt, ...]
    jobs: tuple[JobInfo, ...]
    """What the cluster has, in the attempts' order."""


def find_run(run: str, ledger: Ledger, client: RayClient) -> Found:
    """Raises `UsageError` with the nearest name when neither knows the run, `RayError` when the cluster is away."""
    check_run(run)
    noted = ledger.run(run)
    there = client if noted is None or client.explicit else client.at(noted.address)
    attempts = tuple(ledger.attempts(run))
    jobs = tuple(jobs_of(there, run, len(attempts)))
    if noted is None and not jobs:
        raise UsageError("run.unknown", run=run, nearest=_nearest(run, ledger, client), address=client.address)
    return Found(run, there, noted, attempts, jobs)


def jobs_of(client: RayClient, run: str, known: int) -> list[JobInfo]:
    """The run's submissions on the cluster, asked for one by one: a list of all jobs costs the head far more.

    `known`: so many attempts are asked for even if one before is missing.
    """
    found = []
    for attempt in range(1, MAX_ATTEMPTS + 1):
        info = client.job(submission_id(run, attempt))
        if info is not None:
            found.append(info)
        elif attempt > known:
            break
    return found


def _nearest(run: str, ledger: Ledger, client: RayClient) -> str:
    names = set(ledger.runs())
    with suppress(RayError):  # a hint only
        names |= {info.metadata[RUN_KEY] for info in client.jobs() if RUN_KEY in info.metadata}
    return nearest(run, sorted(names))
