"""What people are notified of, wherever they are: a run went on after a failure, failed, was stopped, or is done."""

from __future__ import annotations

from collections.abc import Mapping

from submitter.ledger import Attempt, Run, StoredAlert
from submitter.ledger.model import RunState
from submitter.supervise.notify import Event, Message
from submitter.supervise.world import World, shown
from submitter.texts import text

RECOVERED = "supervise.recovered"
ALERT = "supervise.alert"
_EVENTS: Mapping[RunState, Event] = {"succeeded": "finished", "failed": "failed", "stopped": "stopped"}


def recovered(world: World, run: Run, attempt: Attempt, step: int, told: set[str]) -> None:
    """Once an attempt: it has trained further than every attempt before it."""
    if attempt.attempt == 1 or step <= (attempt.trained or 0) or RECOVERED in told:
        return
    told.add(RECOVERED)
    values = {"run": run.run, "submission": attempt.submission_id, "step": step}
    _send(world, run, "recovered", attempt, None, step, text(RECOVERED, world.language, **values))
    world.note(run.run, attempt.attempt, RECOVERED, **values)


def finish(world: World, run: Run, state: RunState, reason: str, attempt: Attempt, step: int | None) -> None:
    """The run is over, `step` its highest. Notified first: better twice, after a crash here, than never."""
    text_id = f"supervise.run_{state}"
    said = {"run": run.run, "reason": reason, "attempts": attempt.attempt, "step": shown(step)}
    _send(world, run, _EVENTS[state], attempt, reason, step, text(text_id, world.language, **said))
    with world.ledger.together(world.holder.token):
        world.ledger.end_run(run.run, state, reason, world.wall_ms())
        world.note(run.run, attempt.attempt, text_id, **said)


def alerted(world: World, run: Run, attempt: Attempt, alert: StoredAlert) -> None:
    """A new one. Who is elsewhere is not told of hints."""
    what = text(alert.id, world.language, **alert.values)
    if alert.severity != "hint":
        said = text(ALERT, world.language, run=run.run, alert=alert.id, what=what)
        _send(world, run, "alert", attempt, alert.id, alert.last_step, said, node=alert.node)
    world.note(run.run, attempt.attempt, alert.id, **alert.values)


def _send(
    world: World,
    run: Run,
    event: Event,
    attempt: Attempt,
    reason: str | None,
    step: int | None,
    said: str,
    *,
    node: str | None = None,
) -> None:
    diagnosis = attempt.diagnosis or {}
    world.notify(
        Message(
            event=event,
            run=run.run,
            job=run.job,
            attempt=attempt.attempt,
            reason=reason,
            step=step,
            total_steps=run.total_steps,
            node=node or diagnosis.get("node"),
            time=world.wall_ms() / 1000,
            text=said,
        )
    )
