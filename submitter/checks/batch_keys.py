"""Keys of the batch arithmetic by themselves: micro-batch sizes that are missing, doubled or out of date."""

from __future__ import annotations

from submitter.checks.batch_facts import (
    MINI,
    TRAIN,
    WORKERS,
    N,
    absent,
    flow_of,
    sure,
)
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.parallel import ACTOR, CRITIC, REF, ROLLOUT
from submitter.checks.roles import needs_critic, needs_reference, reference_in_actor, uses_engine
from submitter.checks.rule import Rule

_MICRO, _LOG_PROB = "ppo_micro_batch_size", "log_prob_micro_batch_size"


def micro_unset(case: Case) -> list[Finding]:
    """Source: verl utils/config.py, workers/config/actor.py and critic.py, workers/engine_workers.py."""
    return [
        Finding("NR201", sure(case), case.settings.place(f"{key}_per_gpu", dynamic), values={"name": f"{key}_per_gpu"})
        for key, dynamic in _micro_keys(case)
        if _counted(case, dynamic) and absent(case, key) and absent(case, f"{key}_per_gpu")
    ]


def micro_twice(case: Case) -> list[Finding]:
    """Source: verl workers/config/actor.py, critic.py, utils/config.py: `You have set both` (0.7.1 to main)."""
    settings = case.settings
    return [
        Finding("NR202", sure(case), settings.place(key, f"{key}_per_gpu"), values={"name": key})
        for key, dynamic in _micro_keys(case)
        if _counted(case, dynamic)
        and settings.value(key) is not None
        and (settings.value(f"{key}_per_gpu") is not None or key.startswith(f"{CRITIC}."))
    ]


def micro_deprecated(case: Case) -> list[Finding]:
    """Source: verl workers/engine_workers.py asserts the *_per_gpu keys; the older workers divide the other one."""
    severity: Severity = sure(case) if uses_engine(case.settings) else "hint"
    return [
        Finding("NR203", severity, case.settings.place(key), values={"name": key})
        for key, dynamic in _micro_keys(case)
        if _counted(case, dynamic)
        and not key.startswith(f"{CRITIC}.")
        and case.settings.value(key) is not None
        and absent(case, f"{key}_per_gpu")
    ]


def dynamic_differs(case: Case) -> list[Finding]:
    """Source: verl workers/engine_workers.py, ActorRolloutRefWorker.init_model asserts that both are equal."""
    actor, rollout = f"{ACTOR}.use_dynamic_bsz", f"{ROLLOUT}.log_prob_use_dynamic_bsz"
    values = [case.settings.truth(key) for key in (actor, rollout)]
    if not uses_engine(case.settings) or None in values or values[0] == values[1] or flow_of(case) is None:
        return []
    return [Finding("NR204", sure(case), case.settings.place(rollout, actor), str(values[1]), str(values[0]))]


def not_positive(case: Case) -> list[Finding]:
    """Source: verl divides by these; a batch of nothing trains nothing."""
    settings = case.settings
    keys = [MINI, N, WORKERS, f"{ACTOR}.ppo_epochs", f"{ROLLOUT}.val_kwargs.n", "async_training.require_batches"]
    keys += [f"{key}_per_gpu" for key, _ in _micro_keys(case)] + ([] if flow_of(case) == "async" else [TRAIN])
    return [
        Finding("NR217", "error", settings.place(key), str(value), "1", {"name": key})
        for key in keys
        for value in [settings.integer(key)]
        if settings.is_set(key) and value is not None and value < 1 and flow_of(case) is not None
    ]


RULES = (
    Rule("NR201", ("error", "warning"), micro_unset, ppo=True),
    Rule("NR202", ("error", "warning"), micro_twice, ppo=True),
    Rule("NR203", ("error", "warning", "hint"), micro_deprecated, ppo=True),
    Rule("NR204", ("error", "warning"), dynamic_differs, ppo=True),
    Rule("NR217", ("error",), not_positive, ppo=True),
)


def _micro_keys(case: Case) -> list[tuple[str, str]]:
    """(Deprecated key, key of its dynamic batch size) of every role that the job has."""
    keys = [
        (f"{ACTOR}.{_MICRO}", f"{ACTOR}.use_dynamic_bsz"),
        (f"{ROLLOUT}.{_LOG_PROB}", f"{ROLLOUT}.log_prob_use_dynamic_bsz"),
    ]
    if needs_reference(case.settings):
        keys.append((f"{REF}.{_LOG_PROB}", f"{REF}.log_prob_use_dynamic_bsz"))
    if needs_critic(case.settings):
        keys.append((f"{CRITIC}.{_MICRO}", f"{CRITIC}.use_dynamic_bsz"))
    return keys if flow_of(case) is not None else []


def _counted(case: Case, dynamic: str) -> bool:
    """The role's micro-batches are a number of samples, or verl checks it as if they were (by the actor's choice)."""
    own = case.settings.truth(dynamic)
    if dynamic.startswith(f"{CRITIC}."):
        return own is False
    if dynamic.startswith(f"{REF}.") and reference_in_actor(case.settings):
        own = True
    return own is False or case.settings.truth(f"{ACTOR}.use_dynamic_bsz") is False
