"""What to do after an attempt has ended. Pure: no clock, no random number, no disk, no network.

`decide` asks, in this order: is the run over by itself, may it never go on, has it used up what the policy grants; and
only then how it goes on. Each answer carries the id of its text and all that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from submitter.recovery.policy import Policy
from submitter.recovery.reasons import Retry

BACKOFF_S = (15.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""By how many attempts in a row have ended since the run last made a new step: what heals by itself mostly does so in
seconds (a port, a process that dies slowly), and what does not is not to be asked for all night."""
MAX_JITTER = 0.2
"""Share of the wait. Runs that one event has ended do not come back in the same second."""

CLUSTER_AWAY = frozenset({"cluster_lost", "gcs_lost"})
CLUSTER_WAITS = CLUSTER_AWAY | {"not_placed"}
"""The cluster's doing and not the job's: that they repeat proves nothing."""
FIXED_FAMILIES = frozenset({"config", "arithmetic", "version", "user_code"})
"""The same job fails in the same way again: no policy makes a retry of these without a change."""
MAX_NEVER_STARTED = 288
"""Attempts that the cluster lost before they began count as none; two days of 10 minutes each, and the run ends."""
HOUR_S = 3600.0


@dataclass(frozen=True)
class Past:
    """An attempt that has ended, as the ledger has it."""

    attempt: int
    """1-based."""
    reason: str
    retry: Retry
    """What the diagnosis says that helps."""
    family: str
    node: str | None = None
    """IP of the node at fault."""
    resumed_from: int | None = None
    last_step: int | None = None
    """None: it made none."""
    started_s: float | None = None
    """When the driver began; None: it never did."""
    ended_s: float = 0.0
    changes: tuple[str, ...] = ()
    """`key=value`, as its trainer got them."""
    ended_by: Literal["itself", "user", "supervisor"] = "itself"


@dataclass(frozen=True)
class Decision:
    action: Literal["retry", "stop", "succeeded"]
    wait_s: float
    """From now until the next attempt; 0 unless `action` is retry."""
    exclude: tuple[str, ...]
    """IPs of all nodes that this run's attempts have been told to leave out, beside the quarantine."""
    changes: tuple[str, ...]
    """All arguments that the next attempt's trainer gets beside the job's."""
    why: str
    """Last part of the text's id."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the text is filled with."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What it rests on, to be shown and recorded."""

    @property
    def text_id(self) -> str:
        return f"decide.{self.why}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Decision:
        return cls(**{**raw, "exclude": tuple(raw["exclude"]), "changes": tuple(raw["changes"])})


@dataclass(frozen=True)
class _Case:
    """All that the rules below look at."""

    last: Past
    before: Past | None
    progress: bool
    """`last` made a step beyond every earlier attempt."""
    stuck: bool
    """Nor did the attempt before it."""
    best: int
    """The highest step of all attempts; 0: none."""
    streak: int
    """Attempts in a row that ended since the last new step, `last` among them."""
    counted: int
    """Attempts that count against max_attempts."""
    never_started: int
    same_reason: int
    """Attempts of the run that ended for what `limit` counts."""
    elapsed_s: float
    """Since the first attempt began."""
    retry: Retry
    """What holds: the diagnosis, as far as the policy does not say otherwise."""
    change: tuple[str, ...]
    """Allowed for this reason, and not made yet."""
    changed: bool
    """What is allowed has been made already."""
    exclude: tuple[str, ...]
    policy: Policy


def decide(history: Sequence[Past], policy: Policy, *, now_s: float, jitter: float, counts_from: int = 1) -> Decision:
    """What to do after the last attempt of `history` (all attempts in their order, ended; at least one).

    `now_s` is of the same clock as the times in `history`; `jitter` from -1 to 1 moves the wait by up to 20 %.
    `counts_from`: number of the first attempt since a person last resumed the run; what the policy grants counts anew
    from there, and nodes may be used again (but for those in quarantine), while steps and changes stay.
    """
    case = _case(history, policy, now_s, counts_from)
    applied = merged(*(past.changes for past in history))
    exclude, inputs = case.exclude, _inputs(case, applied)
    if why := next((why for why, holds in ENDS.items() if holds(case)), None):
        action: Literal["stop", "succeeded"] = "succeeded" if why == "succeeded" else "stop"
        return Decision(action, 0.0, exclude, applied, why, _values(case, why, 0.0), inputs)
    why, backs_off = _way(case)
    wait_s = _backoff_s(case) * (1 + MAX_JITTER * max(-1.0, min(1.0, jitter))) if backs_off else 0.0
    changes = merged(applied, case.change)
    return Decision("retry", wait_s, exclude, changes, why, _values(case, why, wait_s), inputs)


def resumed(history: Sequence[Past]) -> Decision:
    """What a person's resume does: another attempt at once, with the changes that were made."""
    return Decision("retry", 0.0, (), merged(*(past.changes for past in history)), "resumed")


def merged(*lists: Sequence[str]) -> tuple[str, ...]:
    """All changes, where a later one of a key takes the place of an earlier one: Hydra refuses to add a key twice."""
    return tuple({change.partition("=")[0].lstrip("+"): change for changes in lists for change in changes}.values())


def _case(history: Sequence[Past], policy: Policy, now_s: float, counts_from: int) -> _Case:
    recent = [past for past in history if past.attempt >= counts_from] or history[-1:]
    first, last, before = recent[0], recent[-1], recent[-2] if len(recent) > 1 else None
    rule = policy.rule(last.reason, last.family)
    key = policy.key(last.reason, last.family)
    new = _new_steps(history)[-len(recent) :]
    made = {change for past in history for change in past.changes}
    never_started = sum(past.started_s is None and past.reason in CLUSTER_AWAY for past in recent)
    return _Case(
        last=last,
        before=before,
        progress=new[-1],
        stuck=not any(new[-2:]),
        best=max(past.last_step or 0 for past in history),
        streak=next((back for back, made_one in enumerate(reversed(new), 1) if made_one), len(new)),
        counted=len(recent) - never_started,
        never_started=never_started,
        same_reason=sum(policy.key(past.reason, past.family) == key for past in recent),
        elapsed_s=max(0.0, now_s - (first.ended_s if first.started_s is None else first.started_s)),
        retry=_retry(last, policy),
        change=() if made.issuperset(rule.change) else rule.change,
        changed=bool(rule.change) and made.issuperset(rule.change),
        exclude=_blamed(recent, policy),
        policy=policy,
    )


def _new_steps(history: Sequence[Past]) -> list[bool]:
    """For each attempt: whether it made a step that none before it had made."""
    best, made = 0, []
    for past in history:
        made.append((past.last_step or 0) > best)
        best = max(best, past.last_step or 0)
    return made


def _retry(past: Past, policy: Policy) -> Retry:
    """The policy's word counts, but cannot make a retry of what cannot succeed."""
    own = policy.rule(past.reason, past.family).retry
    if "never" in (own, past.retry):
        return "never"
    if past.family in FIXED_FAMILIES:
        return "after_change"
    return past.retry if own is None else own


def _blamed(pasts: Sequence[Past], policy: Policy) -> tuple[str, ...]:
    nodes = (past.node for past in pasts if past.node and _retry(past, policy) == "exclude_node")
    return tuple(dict.fromkeys(nodes))


def _stopped(case: _Case) -> bool:
    """By somebody: with npurun, or with Ray's own commands. What the supervisor ends has a reason of its own."""
    return case.last.ended_by == "user" or (case.last.reason == "stopped" and case.last.ended_by != "supervisor")


def _lacks_checkpoint(case: _Case) -> bool:
    return case.last.reason == "no_checkpoint" and not case.policy.from_start


def _would_start_over(case: _Case) -> bool:
    return case.best > 0 and not (case.policy.resume or case.policy.from_start)


def _needs_change(case: _Case) -> bool:
    return case.retry == "after_change" and not case.change and not _starts_over(case)


def _repeats(case: _Case) -> bool:
    """The same reason twice, and neither attempt made a new step. Of what nobody knows, one without is enough."""
    if case.before is None or case.before.reason != case.last.reason or case.last.reason in CLUSTER_WAITS:
        return False
    return case.stuck or (case.retry == "unknown" and not case.progress)


def _limit_spent(case: _Case) -> bool:
    limit = case.policy.rule(case.last.reason, case.last.family).limit
    return limit is not None and case.same_reason > limit


def _time_spent(case: _Case) -> bool:
    """Or would be before the next attempt begins."""
    wait_s = _backoff_s(case) if _way(case)[1] else 0.0
    return case.policy.max_hours is not None and case.elapsed_s + wait_s >= case.policy.max_hours * HOUR_S


ENDS: Mapping[str, Callable[[_Case], bool]] = {
    "succeeded": lambda case: case.last.reason == "succeeded",
    "user_stop": _stopped,
    "never": lambda case: case.retry == "never",
    "no_checkpoint": _lacks_checkpoint,
    "change_spent": lambda case: _needs_change(case) and case.changed,
    "after_change": _needs_change,
    "from_start": _would_start_over,
    "same_reason": _repeats,
    "reason_limit": _limit_spent,
    "max_attempts": lambda case: case.counted >= case.policy.max_attempts,
    "never_started": lambda case: case.never_started >= MAX_NEVER_STARTED,
    "max_hours": _time_spent,
}
"""Why a run ends, the most telling reason first."""


def _starts_over(case: _Case) -> bool:
    return case.last.reason == "no_checkpoint" and case.policy.from_start


def _way(case: _Case) -> tuple[str, bool]:
    """The id of the text, and whether the next attempt waits first."""
    if case.last.reason in CLUSTER_WAITS:
        return "cluster_lost" if case.last.reason in CLUSTER_AWAY else "not_placed", True
    if _starts_over(case):
        return "starts_over", False
    if case.change:
        return ("with_change_later", True) if case.retry in ("backoff", "unknown") else ("with_change", False)
    if case.retry == "exclude_node":
        return ("exclude_node", False) if case.last.node else ("node_unknown", True)
    return case.retry, case.retry != "now"


def _backoff_s(case: _Case) -> float:
    return BACKOFF_S[min(case.streak, len(BACKOFF_S)) - 1]


def _values(case: _Case, why: str, wait_s: float) -> dict[str, Any]:
    """What any text of a decision may say."""
    rule = case.policy.rule(case.last.reason, case.last.family)
    return {
        "attempt": case.last.attempt,
        "before": case.before.attempt if case.before else None,
        "next": case.last.attempt + 1,
        "reason": case.last.reason,
        "node": case.last.node,
        "step": case.best,
        "wait_s": round(wait_s),
        "change": " ".join(rule.change),
        "count": case.never_started if why == "never_started" else case.same_reason,
        "limit": rule.limit,
        "attempts": case.counted,
        "max_attempts": case.policy.max_attempts,
        "hours": round(case.elapsed_s / HOUR_S, 1),
        "max_hours": case.policy.max_hours,
    }


def _inputs(case: _Case, applied: Sequence[str]) -> dict[str, Any]:
    last, rule = case.last, case.policy.rule(case.last.reason, case.last.family)
    return {
        "attempt": last.attempt,
        "reason": last.reason,
        "family": last.family,
        "ended_by": last.ended_by,
        "node": last.node,
        "retry_of_reason": last.retry,
        "retry_of_policy": rule.retry,
        "retry": case.retry,
        "resumed_from": last.resumed_from,
        "last_step": last.last_step,
        "best_step": case.best,
        "new_step": case.progress,
        "reason_before": case.before.reason if case.before else None,
        "attempts_since_new_step": case.streak,
        "attempts_with_reason": case.same_reason,
        "limit_of_reason": rule.limit,
        "attempts_counted": case.counted,
        "attempts_never_started": case.never_started,
        "max_attempts": case.policy.max_attempts,
        "elapsed_s": round(case.elapsed_s, 1),
        "max_hours": case.policy.max_hours,
        "changes_made": list(applied),
        "changes_allowed": list(rule.change),
        "backoff_s": _backoff_s(case),
    }
