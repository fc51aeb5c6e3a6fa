"""How a run in care is doing, by the ledger alone: what the supervisor wrote down, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from submitter.ledger import Attempt, Ledger, Run, is_stale
from submitter.ledger.model import Decided, Holder
from submitter.supervise.nodes import proposed

WAITING = "waiting"
"""Between two attempts."""
SUBMITTING = "submitting"


def state_of(run: Run, newest: Attempt | None) -> str:
    """succeeded, failed, stopped; of an active one what was seen last, or that it is between two attempts."""
    if run.state != "active":
        return run.state
    if newest is None or (newest.state is None and newest.posted_ms is None):
        return SUBMITTING
    if newest.state is not None:
        return WAITING
    return (newest.seen_state or "pending").lower()


def attempt_state(attempt: Attempt) -> str:
    """Ray's last word on it, else what was seen last."""
    return (attempt.state or attempt.seen_state or ("pending" if attempt.posted_ms else SUBMITTING)).lower()


def document(run: Run, ledger: Ledger, clock: Callable[[], float] = time.time) -> dict[str, Any]:
    """As `status --json` shows it; times in Unix seconds, null for what is not known."""
    attempts = ledger.attempts(run.run)
    newest = attempts[-1] if attempts else None
    decided = {one.after_attempt: one for one in ledger.decisions(run.run)}
    steps = [attempt.last_step for attempt in attempts if attempt.last_step is not None]
    return {
        "run": run.run,
        "state": state_of(run, newest),
        "reason": run.reason,
        "step": max(steps, default=None),
        "total_steps": run.total_steps,
        "attempts": [_row(attempt, decided.get(attempt.attempt)) for attempt in attempts],
        "next": _next(run, newest, decided),
        "seen": seconds(newest.seen_ms) if newest else None,
        "supervisor": _holder(ledger.holder(), int(clock() * 1000)),
    }


def _row(attempt: Attempt, decided: Decided | None) -> dict[str, Any]:
    diagnosis = attempt.diagnosis or {}
    end = attempt.end or {}
    return {
        "id": attempt.submission_id,
        "state": attempt_state(attempt),
        "reason": attempt.reason,
        "summary": diagnosis.get("summary"),
        "fix": diagnosis.get("fix"),
        "evidence": diagnosis.get("evidence") or [],
        "node": diagnosis.get("node"),
        "ended_by": attempt.ended_by,
        "first_step": attempt.first_step,
        "last_step": attempt.last_step,
        "resumed_from": attempt.resumed_from,
        "nodes": end.get("nodes"),
        "left_out": proposed(end) if "reason" in end else None,
        "changes": attempt.changes,
        "decision": decided.decision if decided else None,
        "started": seconds(attempt.started_ms or attempt.posted_ms),
        "ended": seconds(attempt.ended_ms),
    }


def _next(run: Run, newest: Attempt | None, decided: dict[int, Decided]) -> dict[str, Any] | None:
    """What is decided and not done yet."""
    found = decided.get(newest.attempt) if newest else None
    if run.state != "active" or found is None or newest is None:
        return None
    return {
        "action": found.decision["action"],
        "attempt": newest.attempt + 1,
        "at": seconds(found.due_ms),
        "why": found.decision["why"],
    }


def _holder(holder: Holder | None, now_ms: int) -> dict[str, Any] | None:
    """The one at work: of one that was killed here that is known at once."""
    if holder is None or is_stale(holder, now_ms):
        return None
    return {"host": holder.host, "pid": holder.pid, "heartbeat": seconds(holder.heartbeat_ms)}


def seconds(milliseconds: int | None) -> float | None:
    """As people's documents and the decision have times; None for what is not known."""
    return None if milliseconds is None else milliseconds / 1000
