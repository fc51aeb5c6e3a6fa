"""Attempts that are written down and were perhaps never posted: what a process that died between the two has left."""

from __future__ import annotations

from collections.abc import Callable

from submitter.cluster.client import JobInfo, RayClient
from submitter.errors import UsageError
from submitter.ledger import Attempt, Run
from submitter.render.request import SPEC_KEY
from submitter.supervise.act import refused, submit
from submitter.supervise.endings import never_begun
from submitter.supervise.lanes import Care, Pause
from submitter.supervise.post import LOOK_AFTER_S, check_same_spec
from submitter.supervise.world import World

TAKE_OVER_AFTER_S = 60.0
"""`npurun submit` posts the first attempt itself, and has mostly done so within a second; until then it may take the
whole run back."""
WAIT_S = 1.0


def adopt(world: World, run: Run, attempt: Attempt) -> Care[None]:
    """Comes back when the attempt is posted or ended, or is no longer there."""
    if attempt.attempt == 1:
        yield from _leave_to_others(world, attempt)
    if not world.ledger.take_intent(attempt.submission_id, world.wall_ms(), holder=world.holder.token):
        return
    if (yield from _found(world, run, attempt, thoroughly=False)):
        return
    if not world.wants_stop(run.run):
        yield from submit(world, run, attempt)
        if not _is_open(world, attempt):
            return
    # It must not begin any more, and a POST may still be on its way.
    if not (yield from _found(world, run, attempt, thoroughly=True)):
        never_begun(world, run, attempt, reason="stopped", state="STOPPED", ended_by="user")


def _leave_to_others(world: World, attempt: Attempt) -> Care[None]:
    while world.wall_ms() < attempt.intended_ms + TAKE_OVER_AFTER_S * 1000 and _is_open(world, attempt):
        yield Pause(world.clock() + WAIT_S)


def _is_open(world: World, attempt: Attempt) -> bool:
    """Neither posted nor ended, as the ledger has it now."""
    newest = world.ledger.attempts(attempt.run)[-1:]
    return any(one.posted_ms is None and one.state is None for one in newest)


def _found(world: World, run: Run, attempt: Attempt, *, thoroughly: bool) -> Care[bool]:
    """Whether the cluster has it, or has something else in its place."""
    pauses = LOOK_AFTER_S if thoroughly else LOOK_AFTER_S[:1]
    there = yield from world.call(run, lambda client: _looked(client, attempt.submission_id, pauses, world.sleep))
    if there is None:
        return False
    try:
        check_same_spec(there, {"metadata": {SPEC_KEY: run.spec}}, run.run)
    except UsageError as error:
        refused(world, run, attempt, error)
        return True
    with world.ledger.together():
        world.ledger.record_posted(attempt.submission_id, world.wall_ms())
        world.note(run.run, attempt.attempt, "supervise.adopted", submission=attempt.submission_id)
    return True


def _looked(
    client: RayClient, submission_id: str, pauses: tuple[float, ...], sleep: Callable[[float], None]
) -> JobInfo | None:
    """In a lane's thread."""
    for pause in pauses:
        sleep(pause)
        if (found := client.job(submission_id)) is not None:
            return found
    return None
