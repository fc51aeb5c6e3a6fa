"""Why a run's attempt ended: as the ledger has it, else from the attempt's log on the cluster."""

from __future__ import annotations

import re

from runtime_env.ids import check_run
from submitter.cluster.client import JobInfo, RayClient
from submitter.errors import UsageError
from submitter.ledger import Attempt, Ledger
from submitter.recovery.diagnose import Diagnosis, Facts, diagnose
from submitter.recovery.logs import Source
from submitter.supervise.find import find_run

_NAME = re.compile(r"(?P<run>[a-z0-9][a-z0-9-]{0,56})(?:/a(?P<attempt>[1-9]\d{0,3}))?")


def is_run_name(name: str) -> bool:
    """`RUN` or `RUN/aN`, by its form."""
    return _NAME.fullmatch(name) is not None


def diagnose_run(name: str, ledger: Ledger, client: RayClient) -> tuple[str, Diagnosis]:
    """The submission id, and the diagnosis of the run's newest attempt or of the one that `RUN/aN` names.

    UsageError for a run or an attempt that nobody knows, RayError when the log is needed and the cluster is away.
    """
    match = _NAME.fullmatch(name)
    run, number = (match["run"], match["attempt"]) if match else (check_run(name), None)
    if (noted := _noted(ledger, run, number)) is not None and noted.diagnosis is not None:
        return noted.submission_id, Diagnosis.from_json(noted.diagnosis)
    found = find_run(run, ledger, client)
    jobs = {info.submission_id: info for info in found.jobs}
    wanted = f"{run}-a{number}" if number else next(reversed(jobs), None)
    if wanted is None or wanted not in jobs:
        raise UsageError("run.not_on_cluster", run=name, address=found.client.address)
    return wanted, _from_log(found.client, jobs[wanted])


def _noted(ledger: Ledger, run: str, number: str | None) -> Attempt | None:
    attempts = ledger.attempts(run)
    if number is None:
        return attempts[-1] if attempts else None
    return next((one for one in attempts if one.attempt == int(number)), None)


def _from_log(client: RayClient, info: JobInfo) -> Diagnosis:
    facts = Facts(info.status, info.error_type, info.driver_exit_code, None, info.message)
    return diagnose([Source(info.submission_id, lambda: client.log_of(info, -1))], facts=facts)
