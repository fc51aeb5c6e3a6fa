"""What runs are doing: `list`, `status`, `logs`, each from the ledger and the cluster's own word."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from runtime_env.build import QUARANTINE_FLAG
from runtime_env.ids import check_run
from submitter.cluster.address import DEFAULT_ADDRESS
from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.cluster.logs import as_ray_reads
from submitter.errors import UsageError
from submitter.gang.record import FITNESS_PREFIX, parse_proof, parse_verdict
from submitter.gang.step_lines import steps_in
from submitter.ledger import Attempt, Ledger, Run
from submitter.render.request import ATTEMPT_KEY, JOB_KEY, RUN_KEY
from submitter.supervise.find import Found, find_run
from submitter.supervise.log_end import head_of
from submitter.supervise.nodes import UNFIT, keep_proposals, proposed
from submitter.supervise.outcome import end_in, outcome_of
from submitter.supervise.run_state import document, seconds, state_of
from submitter.texts import Tell

TAIL_LINES = 200
"""verl prints one line a step, and between two of them seldom more than this."""
CATCH_UP_ATTEMPTS = 20
"""Of the newest ones: a cluster that was restarted knows none of the old ones, and they would be asked for again."""
CLUSTERS_AT_ONCE = 8
UNKNOWN = "unknown"
VERDICTS = "verdicts"
"""Of an end record in the ledger: why no node was fit, where it proposes none."""
QUARANTINED = "quarantined"
"""In place of a finding: the node was in quarantine when the attempt was posted."""
_PROGRESS = re.compile(r"Training Progress:.*?\|\s*\d+/(\d{1,9})\b")


def list_runs(ledger: Ledger, client: RayClient, *, tell: Tell | None = None) -> list[dict[str, Any]]:
    """Rows {run, job, state, started, address, submitted_here}, the newest first; `started` in Unix seconds.

    Runs of other machines on the client's cluster are listed too. A cluster that is away is told, and makes
    its runs "unknown"; RayError if it is the one that the user named, or the only one and the ledger is empty.
    """
    runs = ledger.runs()
    seen = _clusters(runs, client, tell)
    for address, jobs in seen.items():
        _note_ends(ledger, _at(client, address), address, jobs.get)
    rows = [_noted_row(run, ledger, seen.get(run.address)) for run in runs.values()]
    rows += _foreign_rows(runs, client.address, seen.get(client.address) or {})
    return sorted(rows, key=lambda row: row["started"] or 0, reverse=True)


def status(run: str, ledger: Ledger, client: RayClient) -> dict[str, Any]:
    """The run's state; times in Unix seconds, null for what is not known. UsageError for a run nobody knows."""
    noted, attempts = ledger.run(check_run(run)), ledger.attempts(run)
    if noted is not None and noted.supervised:
        return _supervised(noted, attempts, ledger, client)
    if noted is not None and attempts and all(attempt.state for attempt in attempts):
        rows = [_recorded(attempt) for attempt in attempts]
        return _document(run, _with_quarantine(rows, attempts), noted.total_steps)
    found = find_run(run, ledger, client)
    rows = [_attempt_row(found, info, ledger) for info in found.jobs]
    known = {row["id"] for row in rows}
    rows += [_recorded(attempt) for attempt in found.attempts if attempt.submission_id not in known]
    rows.sort(key=lambda row: int(row["id"].rpartition("-a")[2]))
    return _document(run, _with_quarantine(rows, attempts), _total_steps(found))


def _supervised(run: Run, attempts: Sequence[Attempt], ledger: Ledger, client: RayClient) -> dict[str, Any]:
    """By the ledger; of a live attempt the nodes that its log proves, where the cluster answers."""
    found = document(run, ledger)
    rows = _with_quarantine(found["attempts"], attempts)
    if attempts and attempts[-1].state is None and attempts[-1].seen_state == "RUNNING":
        there = client if client.explicit else client.at(run.address)
        head = _head(there, attempts[-1].submission_id)
        nodes, unfit = _proved_nodes(head, rows[-1]["id"]), _unfit_nodes(head, rows[-1]["id"])
        rows[-1] = {**rows[-1], "nodes": nodes, "left_out": [*(rows[-1]["left_out"] or []), *(unfit or [])]}
    return {**found, "attempts": rows}


def newest_attempt(run: str, ledger: Ledger, client: RayClient) -> tuple[RayClient, str]:
    """The client of the run's cluster, and the submission id; UsageError when it was never submitted."""
    found = find_run(run, ledger, client)
    if not found.jobs:
        raise UsageError("run.not_on_cluster", run=run, address=found.client.address)
    noted = {attempt.submission_id for attempt in found.attempts if attempt.state}
    for info in found.jobs if not (found.noted and found.noted.supervised) else ():
        if info.ended and info.submission_id not in noted:
            with suppress(RayError):
                _note_end(ledger, found.client, info)
    return found.client, found.jobs[-1].submission_id


def catch_up(ledger: Ledger, client: RayClient) -> None:
    """Reads how the newest attempts on the cluster ended, where nobody has yet: what they propose counts from then on.

    RayError when the cluster is away. Asks nothing when nothing is open.
    """
    _note_ends(ledger, client, client.address, client.job)


def catch_up_all(ledger: Ledger, client: RayClient, addresses: Iterable[str], tell: Tell) -> None:
    """As `catch_up`, of all these clusters at once; one that does not answer is told."""
    waited_for = [address for address in addresses if ledger.unended(address, CATCH_UP_ATTEMPTS)]
    for address, jobs in _asked(waited_for, client).items():
        if isinstance(jobs, RayError):
            tell("nodes.away", error=jobs)
        else:
            _note_ends(ledger, _at(client, address), address, jobs.get)


def whole_log(client: RayClient, submission_id: str) -> Iterator[str]:
    """The log's lines as they are now."""
    rest = ""
    for text in as_ray_reads(client.whole_log(submission_id)):
        *lines, rest = (rest + text).split("\n")
        yield from lines
    if rest:
        yield rest


def _clusters(runs: dict[str, Run], client: RayClient, tell: Tell | None) -> dict[str, dict[str, JobInfo]]:
    """Each cluster's jobs by submission id; one that does not answer is missing."""
    noted = {run.address for run in runs.values()}
    found = {}
    for address, jobs in _asked({*noted, client.address}, client).items():
        if not isinstance(jobs, RayError):
            found[address] = jobs
        elif not runs or (client.explicit and address == client.address):
            raise jobs  # an empty list would say that there are none
        # That nothing listens at the built-in default says nothing to somebody whose runs are elsewhere.
        elif tell is not None and (address != DEFAULT_ADDRESS or address in noted):
            tell("list.away", error=jobs)
    return found


def _asked(addresses: Iterable[str], client: RayClient) -> dict[str, dict[str, JobInfo] | RayError]:
    """Each cluster's jobs by submission id, or why it does not say them; all at once: one that is away takes 10 s."""
    with ThreadPoolExecutor(CLUSTERS_AT_ONCE) as pool:
        return dict(pool.map(lambda address: (address, _jobs(_at(client, address))), dict.fromkeys(addresses)))


def _jobs(client: RayClient) -> dict[str, JobInfo] | RayError:
    try:
        return {info.submission_id: info for info in client.jobs()}
    except RayError as error:
        return error


def _at(client: RayClient, address: str) -> RayClient:
    return client if address == client.address else client.at(address)


def _note_ends(ledger: Ledger, client: RayClient, address: str, find: Callable[[str], JobInfo | None]) -> None:
    for submission_id in ledger.unended(address, CATCH_UP_ATTEMPTS):
        info = find(submission_id)
        if info is not None and info.ended:
            _note_end(ledger, client, info)


def _noted_row(run: Run, ledger: Ledger, jobs: dict[str, JobInfo] | None) -> dict[str, Any]:
    attempts = ledger.attempts(run.run)
    newest = attempts[-1] if attempts else None
    info = (jobs or {}).get(newest.submission_id) if newest else None
    state = state_of(run, newest) if run.supervised else info.status if info else newest.state if newest else None
    return {
        "run": run.run,
        "job": run.job,
        "state": (state or UNKNOWN).lower(),
        "started": seconds(run.created_ms),
        "address": run.address,
        "submitted_here": True,
    }


def _foreign_rows(runs: dict[str, Run], address: str, jobs: dict[str, JobInfo]) -> list[dict[str, Any]]:
    newest: dict[str, JobInfo] = {}
    for info in sorted(jobs.values(), key=lambda job: _number(job.metadata.get(ATTEMPT_KEY))):
        run = info.metadata.get(RUN_KEY)
        if run and run not in runs:
            newest[run] = info
    return [
        {
            "run": run,
            "job": info.metadata.get(JOB_KEY),
            "state": info.status.lower(),
            "started": seconds(info.start_ms),
            "address": address,
            "submitted_here": False,
        }
        for run, info in newest.items()
    ]


def _document(run: str, rows: list[dict[str, Any]], total: int | None) -> dict[str, Any]:
    state, step = (rows[-1]["state"], rows[-1]["last_step"]) if rows else (UNKNOWN, None)
    return {"run": run, "state": state, "step": step, "total_steps": total, "attempts": rows, "next": None}


def _attempt_row(found: Found, info: JobInfo, ledger: Ledger) -> dict[str, Any]:
    recorded = next((a for a in found.attempts if a.submission_id == info.submission_id and a.state), None)
    if recorded is not None:
        return _recorded(recorded)
    if info.ended:
        return _note_end(ledger, found.client, info)
    head = _head(found.client, info.submission_id)
    row = _row(info.submission_id, info.status, _last_step(_tail(found.client, info) or ""), info.start_ms, None)
    return {**row, "nodes": _proved_nodes(head, info.submission_id), "left_out": _unfit_nodes(head, info.submission_id)}


def _note_end(ledger: Ledger, client: RayClient, info: JobInfo) -> dict[str, Any]:
    """The row of an attempt that has ended, written down for when Ray has forgotten it."""
    tail = _tail(client, info)
    row = _row(info.submission_id, info.status, _last_step(tail or ""), info.start_ms, info.end_ms)
    outcome = outcome_of(info, end_in((tail or "").splitlines(), info.submission_id))
    # A driver that was killed left no end record; which nodes it had stands in its log all the same.
    nodes = (
        outcome.end["nodes"] if outcome.end else _proved_nodes(_head(client, info.submission_id), info.submission_id)
    )
    end = _with_verdicts(outcome.end, client, info)
    if tail is not None or outcome.end is not None:  # else the log may be readable, and say more, another time
        ledger.record_end(
            info.submission_id,
            state=info.status,
            reason=outcome.reason,
            end=end or ({"nodes": nodes} if nodes else None),
            last_step=row["last_step"],
            started_ms=info.start_ms,
            ended_ms=info.end_ms,
        )
        keep_proposals(ledger, client.address, info, outcome.end, int(time.time() * 1000))
    return {**row, "reason": outcome.reason, "nodes": nodes, "left_out": _left_out(end)}


def _recorded(attempt: Attempt) -> dict[str, Any]:
    state = attempt.state or UNKNOWN
    row = _row(attempt.submission_id, state, attempt.last_step, attempt.started_ms, attempt.ended_ms)
    return {
        **row,
        "reason": attempt.reason,
        "nodes": (attempt.end or {}).get("nodes"),
        "left_out": _left_out(attempt.end),
    }


def _row(
    submission_id: str, state: str, last_step: int | None, started_ms: int | None, ended_ms: int | None
) -> dict[str, Any]:
    return {
        "id": submission_id,
        "state": state.lower(),
        "reason": None,
        "first_step": None,
        "last_step": last_step,
        "resumed_from": None,
        "nodes": None,
        "left_out": None,
        "started": seconds(started_ms),
        "ended": seconds(ended_ms),
    }


def _last_step(tail: str) -> int | None:
    steps = steps_in(tail.splitlines())
    return steps[-1].number if steps else None


def _total_steps(found: Found) -> int | None:
    """As the job asks, else as the newest attempt's progress bar says."""
    if found.noted is not None and found.noted.total_steps is not None:
        return found.noted.total_steps
    totals = _PROGRESS.findall(_tail(found.client, found.jobs[-1]) or "") if found.jobs else []
    return int(totals[-1]) if totals else None


def _left_out(end: dict[str, Any] | None) -> list[dict[str, Any]] | None:
    """None when the attempt left no end record."""
    if not end or "reason" not in end:
        return None
    found = proposed(end)
    return [*end.get(VERDICTS, ()), *(one for one in found if one["id"] != UNFIT)] if VERDICTS in end else found


def _with_verdicts(end: dict[str, Any] | None, client: RayClient, info: JobInfo) -> dict[str, Any] | None:
    """What all nodes have is proposed of none; why the attempt ended stands in the log's verdicts then."""
    if not end:
        return end
    known = {key: value for key, value in end.items() if key != VERDICTS}  # whatever the log put there
    if end["reason"] != UNFIT or any(one["id"] != UNFIT for one in proposed(end)):
        return known
    verdicts = _unfit_nodes(_head(client, info.submission_id), info.submission_id)
    return {**known, VERDICTS: verdicts} if verdicts else known


def _with_quarantine(rows: list[dict[str, Any]], attempts: Sequence[Attempt]) -> list[dict[str, Any]]:
    """Also the nodes that an attempt was told to leave out when it was posted."""
    bodies = {attempt.submission_id: attempt.body for attempt in attempts}
    told = {row["id"]: _quarantined_then(bodies.get(row["id"])) for row in rows}
    return [
        {**row, "left_out": [*told[row["id"]], *(row["left_out"] or [])]} if told[row["id"]] else row for row in rows
    ]


def _quarantined_then(body: str | None) -> list[dict[str, Any]]:
    env = json.loads(body).get("runtime_env", {}).get("env_vars", {}) if body else {}
    return [{"node": node, "id": QUARANTINED} for node in env.get(QUARANTINE_FLAG, "").split(",") if node]


def _proved_nodes(head: list[str], submission_id: str) -> list[str] | None:
    """IPs of the gang's nodes; None before their proofs stand in the log."""
    return [proof["ip"] for line in head if (proof := parse_proof(line, submission_id))] or None


def _unfit_nodes(head: list[str], submission_id: str) -> list[dict[str, Any]] | None:
    """Verdicts of the nodes that were found unfit; None before any node was looked at."""
    if not any(line.startswith(FITNESS_PREFIX) for line in head):
        return None
    verdicts = (parse_verdict(line, submission_id) for line in head)
    return [verdict for verdict in verdicts if verdict and verdict["severity"] == "error"]


def _head(client: RayClient, submission_id: str) -> list[str]:
    """The log's beginning; empty when it cannot be read."""
    try:
        head = head_of(client.whole_log(submission_id))
    except RayError:
        return []
    return head.decode("utf-8", "replace").splitlines()


def _tail(client: RayClient, info: JobInfo) -> str | None:
    """None when the log cannot be read: the cluster's word on the state stands without it."""
    if info.driver_node_id is None:
        return ""
    try:
        return client.log_tail(info.submission_id, TAIL_LINES)
    except RayError:
        return None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0
