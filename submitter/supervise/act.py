"""Between two attempts of a run: decide, wait, and submit the next one; or the run is over."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from submitter.cluster.client import RayClient
from submitter.cluster.packages import Package
from submitter.errors import NpurunError
from submitter.ledger import Attempt, LedgerError, Run
from submitter.ledger.model import Decided
from submitter.recovery.decide import Decision, Past, decide
from submitter.recovery.reasons import REASONS
from submitter.render.next_attempt import next_request
from submitter.render.request import NODE_ID_LABEL, request_bytes
from submitter.supervise.endings import never_begun
from submitter.supervise.kept import PROTOCOL, package_uris
from submitter.supervise.lanes import Care, Pause
from submitter.supervise.nodes import left_out
from submitter.supervise.notices import finish
from submitter.supervise.post import post
from submitter.supervise.run_state import seconds
from submitter.supervise.world import StopWishedError, World, policy_of

UNKNOWN = "unknown"
REFUSED = "launch_failed"
"""Reason of an attempt that the cluster would not take."""
TOLD_WITH_THE_RUN = frozenset({"succeeded", "user_stop"})
"""Decisions that go without saying: the run's end is told."""


class PackageGoneError(NpurunError):
    """Neither the cluster nor the home has a package that the run needs."""


def go_on(world: World, run: Run, attempts: Sequence[Attempt]) -> Care[None]:
    """After the end of the newest of `attempts`. Comes back when something has changed in the ledger."""
    last, best = attempts[-1], _best_step(attempts)
    decided = world.ledger.decision(run.run, last.attempt) or _decide(world, run, attempts)
    decision = Decision.from_json(decided.decision)
    if decision.action == "succeeded":
        finish(world, run, "succeeded", "succeeded", last, best)
    elif decision.why == "user_stop" or world.wants_stop(run.run):
        finish(world, run, "stopped", "stopped", last, best)
    elif decision.action == "stop":
        finish(world, run, "failed", last.reason or UNKNOWN, last, best)
    else:
        yield from _retry(world, run, attempts, decided, decision)


def submit(world: World, run: Run, attempt: Attempt, *, head_node_id: str | None = None) -> Care[None]:
    """POSTs an attempt that is written down, at most once however often it is tried; its packages first.

    `head_node_id`: where the head is now, if that was just asked. Only a wish to stop keeps it from the cluster.
    """
    body = json.loads(attempt.body)
    try:
        if head_node_id is None:
            head = yield from world.call(run, lambda client: client.head(), unless_stopped=True)
            head_node_id = head.node_id
        body = on_head(body, head_node_id)
        yield from bring_packages(world, run, body)
        if world.wants_stop(run.run):
            return
        yield from world.call(
            run, lambda client: post(client, body, run=run.run, tell=world.say, sleep=world.sleep), unless_stopped=True
        )
    except StopWishedError:
        return
    except LedgerError:  # the home's trouble, not the run's
        raise
    except NpurunError as error:
        refused(world, run, attempt, error)
        return
    with world.ledger.together():
        world.ledger.record_posted(attempt.submission_id, world.wall_ms())
        world.note(run.run, attempt.attempt, "supervise.posted", submission=attempt.submission_id, address=run.address)


def refused(world: World, run: Run, attempt: Attempt, error: NpurunError) -> None:
    """Ray has understood the request and will not take it, or the id is another's: asking again changes nothing."""
    world.note(run.run, attempt.attempt, "supervise.refused", submission=attempt.submission_id, error=error)
    never_begun(world, run, attempt, reason=REFUSED, state="FAILED", ended_by="itself")


def on_head(body: Mapping[str, Any], head_node_id: str) -> dict[str, Any]:
    """The driver runs on the head, which may be another node since the attempt was written down."""
    if "entrypoint_label_selector" not in body:
        return dict(body)
    return {**body, "entrypoint_label_selector": {NODE_ID_LABEL: head_node_id}}


def bring_packages(world: World, run: Run, body: Mapping[str, Any]) -> Care[None]:
    """Uploads what the cluster does not have; asking also keeps the rest from being dropped for ten minutes.

    PackageGoneError: the home does not have it either.
    """
    for uri in package_uris(body):
        there = yield from world.call(run, _has(uri), unless_stopped=True)
        if there:
            continue
        package = _kept(world, run, uri)
        world.say("submit.uploading", package=package.name, size=f"{len(package.data) / 2**20:.1f} MiB")
        yield from world.call(run, _put(package), unless_stopped=True)


def past(attempt: Attempt) -> Past:
    """An ended attempt, as the decision looks at it."""
    reason = attempt.reason or UNKNOWN
    known = REASONS.get(reason, REASONS[UNKNOWN])
    diagnosis = attempt.diagnosis or {}
    begun_ms = attempt.posted_ms if attempt.started_ms is not None else None  # Ray's own times are of the head's clock
    return Past(
        attempt=attempt.attempt,
        reason=reason,
        retry=diagnosis.get("retry") or known.retry,
        family=known.family,
        node=diagnosis.get("node"),
        resumed_from=attempt.resumed_from,
        last_step=attempt.last_step,
        started_s=seconds(begun_ms),
        ended_s=seconds(attempt.ended_ms) or 0.0,
        changes=tuple(attempt.changes),
        ended_by=attempt.ended_by or "itself",  # type: ignore[arg-type]  # the ledger holds what `record_end` was given
    )


def _decide(world: World, run: Run, attempts: Sequence[Attempt]) -> Decided:
    last = attempts[-1]
    now_ms, jitter = world.wall_ms(), world.rng.uniform(-1, 1)
    decision = decide(
        [past(one) for one in attempts],
        policy_of(run),
        now_s=now_ms / 1000,
        jitter=jitter,
        counts_from=run.reopened_after + 1,
    )
    due_ms = now_ms + round(decision.wait_s * 1000)
    with world.ledger.together(world.holder.token):
        decided = world.ledger.record_decision(run.run, last.attempt, decision.to_json(), due_ms, now_ms)
        if decision.why not in TOLD_WITH_THE_RUN:
            world.note(run.run, last.attempt, f"decide.{decision.why}", **{**decision.values, "run": run.run})
    return decided


def _retry(world: World, run: Run, attempts: Sequence[Attempt], decided: Decided, decision: Decision) -> Care[None]:
    # A wall clock that was set back meanwhile makes nobody wait for longer than was decided.
    due_s = world.clock() + min((decided.due_ms - world.wall_ms()) / 1000, decision.wait_s)
    while world.clock() < due_s:
        yield Pause(due_s)
        if world.wants_stop(run.run):
            return
    try:
        head = yield from world.call(run, lambda client: client.head(), unless_stopped=True)
    except StopWishedError:
        return
    attempt = _intend(world, run, attempts, decision, head.node_id)
    yield from submit(world, run, attempt, head_node_id=head.node_id)


def _intend(world: World, run: Run, attempts: Sequence[Attempt], decision: Decision, head_node_id: str) -> Attempt:
    """On disk before the POST: a crash after this leads to the same submission, not to a second one."""
    last, now_ms = attempts[-1], world.wall_ms()
    quarantine = dict.fromkeys((*left_out(world.ledger, run.address, now_ms, world.say), *decision.exclude))
    trained = _best_step(attempts) or 0
    number = last.attempt + 1
    body = next_request(
        json.loads(last.body),
        attempt=number,
        head_node_id=head_node_id,
        quarantine=tuple(quarantine),
        changes=decision.changes,
        trained=trained,
    )
    world.ledger.record_intent(
        run=run.run,
        attempt=number,
        submission_id=body["submission_id"],
        address=run.address,
        spec=run.spec,
        job=run.job,
        total_steps=run.total_steps,
        body=request_bytes(body),
        now_ms=now_ms,
        holder=world.holder.token,
        changes=decision.changes,
        trained=trained,
        policy=run.policy,
        supervised=True,
    )
    return world.ledger.attempts(run.run)[-1]


def _best_step(attempts: Sequence[Attempt]) -> int | None:
    return max((one.last_step for one in attempts if one.last_step is not None), default=None)


def _has(uri: str) -> Callable[[RayClient], bool]:
    return lambda client: client.has_package(uri)


def _put(package: Package) -> Callable[[RayClient], None]:
    return lambda client: client.put_package(package)


def _kept(world: World, run: Run, uri: str) -> Package:
    name = uri.removeprefix(PROTOCOL)
    data = world.ledger.package(name)
    if data is None:
        raise PackageGoneError("supervise.package_gone", run=run.run, package=name)
    return Package(name, data)
