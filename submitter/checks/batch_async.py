"""Batch rules of trainers that generate and train at the same time, and of batches generated in other pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from submitter.checks.batch_facts import (
    GEN,
    MINI,
    SYNC_STEP,
    TRAIN,
    batch_of,
    flow_of,
    nearest_divisors,
    refills_one_by_one,
    sure,
)
from submitter.checks.case import Case
from submitter.checks.finding import Finding
from submitter.checks.parallel import ROLLOUT
from submitter.checks.roles import uses_engine
from submitter.checks.rule import Rule


def gen_batch(case: Case) -> list[Finding]:
    """Source: verl trainer/ppo/v1/trainer_base.py, _next_train_batch; ray_trainer.py, _create_dataloader."""
    settings, flow = case.settings, flow_of(case)
    gen, train = settings.positive(GEN), settings.positive(TRAIN)
    if gen is None or train is None or flow not in ("ray", "queue", "one_step"):
        return []
    values: dict[str, object] = {"train": train, "sizes": nearest_divisors(train, gen)}
    place = settings.place(GEN, TRAIN)
    if flow != "queue":
        differs = gen != train
        return [Finding("NR213", "warning", place, str(gen), str(train), values)] if differs else []
    if refills_one_by_one(settings):
        return []
    return [Finding("NR213", sure(case), place, str(gen), str(train), values)] if train % gen else []


def async_values(case: Case) -> list[Finding]:
    """Source: verl experimental/fully_async_policy/fully_async_rollouter.py, separation/utils.py."""
    settings, flow = case.settings, flow_of(case)
    wanted = {"async": _ASYNC, "one_step": _ONE_STEP}.get(flow or "", {})
    return [
        Finding("NR214", sure(case), settings.place(key), str(settings.value(key)), limit, {"name": key})
        for key, (limit, allowed) in wanted.items()
        if settings.value(key) is not None and not allowed(settings.value(key))
        if key != _LEGACY or not uses_engine(case.settings)
    ]


def sync_steps(case: Case) -> list[Finding]:
    """Source: verl trainer/ppo/v1/trainer_separate_async.py, __init__ (0.9.0 to main)."""
    settings = case.settings
    if flow_of(case) != "queue" or settings.text("trainer.v1.trainer_mode") != "separate_async":
        return []
    train, mini, steps = (settings.positive(key) for key in (TRAIN, MINI, SYNC_STEP))
    if not train or not mini or not steps or train == mini * steps:
        return []
    arithmetic = f"parameter_sync_step {steps} × ppo_mini_batch_size {mini} = {steps * mini}"
    place = settings.place(TRAIN, MINI, SYNC_STEP)
    return [Finding("NR215", sure(case), place, str(train), str(steps * mini), {"arithmetic": arithmetic})]


def async_steps(case: Case) -> list[Finding]:
    """Source: verl experimental/fully_async_policy/fully_async_rollouter.py, set_max_required_samples."""
    batch, total = batch_of(case), case.settings.positive("rollout.total_rollout_steps")
    trigger = case.settings.positive("async_training.trigger_parameter_sync_step")
    if batch is None or batch.flow != "async" or total is None or trigger is None or total >= batch.prompts * trigger:
        return []
    needed = batch.prompts * trigger
    arithmetic = f"prompts {batch.prompts} × trigger_parameter_sync_step {trigger} = {needed}"
    place = case.settings.place("rollout.total_rollout_steps")
    return [Finding("NR218", "warning", place, str(total), str(needed), {"arithmetic": arithmetic})]


RULES = (
    Rule("NR213", ("error", "warning"), gen_batch, ppo=True),
    Rule("NR214", ("error", "warning"), async_values, ppo=True),
    Rule("NR215", ("error", "warning"), sync_steps, ppo=True),
    Rule("NR218", ("warning",), async_steps, ppo=True),
)

_NOT_HYBRID: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "actor_rollout_ref.hybrid_engine": ("False", lambda value: value is False)
}
_LEGACY = "trainer.use_legacy_worker_impl"
"""Only in 0.7.1; later there are no older workers."""
_ONE_STEP: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    **_NOT_HYBRID,
    _LEGACY: ("disable", lambda value: value == "disable"),
}
_ASYNC: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    TRAIN: ("0", lambda value: value == 0),
    GEN: ("1", lambda value: value == 1),
    **_ONE_STEP,
    "async_training.staleness_threshold": (">= 0", lambda value: not isinstance(value, (int, float)) or value >= 0),
    "async_training.trigger_parameter_sync_step": (
        ">= 1",
        lambda value: not isinstance(value, (int, float)) or value >= 1,
    ),
    f"{ROLLOUT}.calculate_log_probs": ("True", lambda value: value is True),
}
"""Key -> what it has to be, as told and as tested."""
