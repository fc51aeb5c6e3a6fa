"""The end of an attempt: its log read once more, the reason found, all of it written down."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.exit_codes import ExitCode
from submitter.gang.record import PREFIX, RECORD_PREFIXES, parse_proof, parse_resume
from submitter.gang.step_lines import Step, steps_in, trained
from submitter.ledger import Attempt, Quarantined, Run
from submitter.recovery.diagnose import Diagnosis, Facts, diagnose
from submitter.recovery.logs import BLOCK_BYTES, Source
from submitter.recovery.reasons import REASONS
from submitter.supervise.alerting import close_all
from submitter.supervise.catch_up import are_missing, catch_up
from submitter.supervise.hang import HANG_TOLD
from submitter.supervise.lanes import Care
from submitter.supervise.log_end import HEAD_BYTES, MOST_LINES, head_of, last_lines
from submitter.supervise.nodes import LASTS_OTHERWISE_MS, keep_proposals
from submitter.supervise.outcome import Outcome, end_in, outcome_of
from submitter.supervise.steps import as_rows
from submitter.supervise.versions import VERSIONS, versions_in
from submitter.supervise.world import World, shown

T = TypeVar("T")
EndedBy = Literal["itself", "user", "supervisor"]

END_BYTES = 64 << 20
LOG_TRIES_S = (0.0, 1.0, 3.0)
"""Before each try: a log that cannot be read for longer must not hold the next attempt up."""
DRIVER_LOG = "driver"
STOP_TOLD = "supervise.stopping"
"""The event that is written before an attempt is stopped because its user wants that."""
LOST = "LOST"
"""In place of Ray's last word, where there will be none."""
_VAGUE = frozenset({"stopped", "still_running", "unknown", "trainer_failed"})


@dataclass(frozen=True)
class Ending:
    outcome: Outcome
    diagnosis: Diagnosis
    nodes: list[str] | None
    """IPs of the gang's nodes; None before they were proved, and when the log cannot be read."""
    resumed_from: int | None
    steps: list[Step]
    is_whole: bool
    """They are all that was logged."""
    versions: dict[str, str]
    """Of what was installed there, as `versions_in` has them."""


def ended(world: World, run: Run, attempt: Attempt, info: JobInfo) -> Care[None]:
    """Ray says that it has ended: reads why, and writes it down."""
    told = told_of(world, attempt)
    ending = yield from world.call(run, lambda client: read_ending(client, info, world.sleep, hung=HANG_TOLD in told))
    diagnosis, end = ending.diagnosis, ending.outcome.end
    with world.ledger.together(world.holder.token):
        world.ledger.record_steps(run.run, attempt.attempt, as_rows(ending.steps, world.wall_ms()))
        if ending.resumed_from is not None:
            world.ledger.record_resumed(attempt.submission_id, ending.resumed_from)
        keep_proposals(world.ledger, run.address, info, end, world.wall_ms())
        world.ledger.quarantine(_blamed(world, run, attempt, diagnosis))
        world.ledger.record_end(
            attempt.submission_id,
            state=info.status,
            reason=diagnosis.reason,
            end=_end_record(ending),
            last_step=max(trained(ending.steps), default=None),
            started_ms=info.start_ms,
            ended_ms=info.end_ms or world.wall_ms(),
            diagnosis=diagnosis.as_json("en"),
            ended_by=_ended_by(info, diagnosis, told),
            holder=world.holder.token,
        )
        close_all(world, run, attempt)
        _note(world, run, attempt, diagnosis)
    if not ending.is_whole and are_missing(attempt, attempt.last_step, ending.steps):
        catch_up(world, run, attempt, info)


def diagnosed(world: World, run: Run, attempt: Attempt) -> Care[None]:
    """Another command has written down that it ended, and not why."""
    info = yield from world.call(run, lambda client: client.job(attempt.submission_id))
    if info is not None and info.ended:
        yield from ended(world, run, attempt, info)
    else:
        _record(world, run, attempt, attempt.reason or "unknown", state=attempt.state or LOST, ended_by="itself")


def lost(world: World, run: Run, attempt: Attempt, reason: str) -> None:
    """The cluster will never tell how it ended."""
    by: EndedBy = "user" if world.wants_stop(run.run) else "itself"
    _record(world, run, attempt, reason, state=LOST, ended_by=by)


def never_begun(world: World, run: Run, attempt: Attempt, *, reason: str, state: str, ended_by: EndedBy) -> None:
    """It was written down, and is not on the cluster: nor will it be."""
    _record(world, run, attempt, reason, state=state, ended_by=ended_by)


def _record(world: World, run: Run, attempt: Attempt, reason: str, *, state: str, ended_by: EndedBy) -> None:
    """An end without a log."""
    known = reason if reason in REASONS else "unknown"
    diagnosis = Diagnosis(known, REASONS[known].retry, values={"address": run.address})
    with world.ledger.together(world.holder.token):
        world.ledger.record_end(
            attempt.submission_id,
            state=state,
            reason=known,
            end=attempt.end,
            started_ms=attempt.started_ms or _begun_ms(world, attempt),
            ended_ms=attempt.ended_ms or world.wall_ms(),
            diagnosis=diagnosis.as_json(),
            ended_by=ended_by,
            holder=world.holder.token,
        )
        close_all(world, run, attempt)
        _note(world, run, attempt, diagnosis)


def _end_record(ending: Ending) -> dict[str, Any] | None:
    """The driver's; of one that was killed, what its log proves. With the versions: Ray forgets the log."""
    known = ending.outcome.end or ({"nodes": ending.nodes} if ending.nodes else {})
    return {**known, **({VERSIONS: ending.versions} if ending.versions else {})} or None


def _begun_ms(world: World, attempt: Attempt) -> int | None:
    """None: nobody has seen it run."""
    ran = any(one.state == "RUNNING" for one in world.ledger.observations(attempt.submission_id))
    return attempt.posted_ms if ran else None


def told_of(world: World, attempt: Attempt) -> set[str]:
    """Ids of all events of the attempt."""
    return {event.text_id for event in world.ledger.events(attempt.run) if event.attempt == attempt.attempt}


def read_ending(client: RayClient, info: JobInfo, sleep: Callable[[float], None], *, hung: bool) -> Ending:
    """In a lane's thread: the log's end and beginning, bounded, and what is wrong. Raises no `RayError`."""
    tail = _tried(lambda: last_lines(client, info, MOST_LINES, END_BYTES), sleep)
    data = tail.data if tail else b""
    head = data if tail is None or tail.whole else _tried(lambda: head_of(client.log_of(info, -1)), sleep) or b""
    lines, first = _telling(data), _telling(head[:HEAD_BYTES])
    outcome = outcome_of(info, end_in(lines, info.submission_id))
    sources = [Source(DRIVER_LOG, lambda: _chunks(data))] if tail else []
    facts = Facts(info.status, info.error_type, info.driver_exit_code, outcome.end, info.message)
    return Ending(
        outcome,
        _judged(_diagnosis(sources, facts), outcome, hung),
        nodes=[proof["ip"] for line in first if (proof := parse_proof(line, info.submission_id))] or None,
        resumed_from=next((found["step"] for line in first if (found := parse_resume(line, info.submission_id))), None),
        steps=steps_in(lines),
        is_whole=tail is not None and tail.whole,
        versions=versions_in(first, info.submission_id),
    )


def _diagnosis(sources: list[Source], facts: Facts) -> Diagnosis:
    try:
        return diagnose(sources, facts=facts)
    except Exception:  # a log can hold anything, and stays as it is: a bug here would hold the run up for ever
        traceback.print_exc()
        return Diagnosis("unknown", REASONS["unknown"].retry)


def _judged(diagnosis: Diagnosis, outcome: Outcome, hung: bool) -> Diagnosis:
    """Ray's word on success and the supervisor's own on a hang stand above what a log looks like."""
    reason = diagnosis.reason
    if outcome.exit_code is ExitCode.DONE:
        reason = "succeeded"
    elif hung and reason in _VAGUE:
        reason = "hung"
    elif reason in ("succeeded", "still_running"):  # it has not, and is not
        reason = "unknown"
    if reason == diagnosis.reason:
        return diagnosis
    return dataclasses.replace(diagnosis, reason=reason, retry=REASONS[reason].retry)


def _ended_by(info: JobInfo, diagnosis: Diagnosis, told: set[str]) -> EndedBy:
    """A stop that nobody here has asked for is somebody's with Ray's own commands."""
    if info.status != "STOPPED" and diagnosis.reason not in ("stopped", "hung"):
        return "itself"
    if HANG_TOLD in told and STOP_TOLD not in told:
        return "supervisor"
    return "itself" if info.status != "STOPPED" and diagnosis.reason == "hung" else "user"


def _blamed(world: World, run: Run, attempt: Attempt, diagnosis: Diagnosis) -> list[Quarantined]:
    """The node that the next attempts have to do without, with the lines that prove it."""
    if diagnosis.retry != "exclude_node" or diagnosis.node is None:
        return []
    now_ms = world.wall_ms()
    evidence = {"node": diagnosis.node, "id": diagnosis.reason, "evidence": [line.text for line in diagnosis.evidence]}
    entry = Quarantined(
        run.address,
        diagnosis.node,
        attempt.submission_id,
        diagnosis.reason,
        evidence,
        now_ms,
        now_ms + LASTS_OTHERWISE_MS,
    )
    return [entry]


def _note(world: World, run: Run, attempt: Attempt, diagnosis: Diagnosis) -> None:
    """Of a success and of a stop the end of the run itself is told."""
    if diagnosis.reason in ("succeeded", "stopped"):
        return
    values = {"submission": attempt.submission_id, "reason": diagnosis.reason, "node": shown(diagnosis.node)}
    step = world.ledger.attempts(run.run)[-1].last_step
    world.note(run.run, attempt.attempt, "supervise.ended", **values, step=shown(step))
    proof = next((line for line in diagnosis.evidence if not line.text.startswith(RECORD_PREFIXES)), None)
    if proof is not None:
        world.note(run.run, attempt.attempt, "supervise.proof", file=proof.file, line=proof.line, text=proof.text)


def _tried(read: Callable[[], T], sleep: Callable[[float], None]) -> T | None:
    for pause in LOG_TRIES_S:
        sleep(pause)
        try:
            return read()
        except RayError:
            continue
    return None


def _telling(data: bytes) -> list[str]:
    """The driver's own lines and steps; decoded all at once, a log would take several times its size."""
    kept = (line for line in data.split(b"\n") if b"step:" in line or line.startswith(PREFIX.encode()))
    return [line.decode("utf-8", "replace") for line in kept]


def _chunks(data: bytes) -> Iterator[bytes]:
    return (data[start : start + BLOCK_BYTES] for start in range(0, len(data), BLOCK_BYTES))
