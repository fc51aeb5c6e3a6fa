"""Counts that must be at least one, and parts of the configuration that do not go together whatever the numbers."""

from __future__ import annotations

from submitter.checks.batch_facts import flow_of, sure
from submitter.checks.case import Case
from submitter.checks.finding import Finding
from submitter.checks.parallel import ACTOR, REF, ROLLOUT, divisors
from submitter.checks.rule import Rule

_REWARD = "reward.reward_model"
_HYBRID = "actor_rollout_ref.hybrid_engine"

_COUNTS = (
    "trainer.nnodes",
    "trainer.n_gpus_per_node",
    "data.max_prompt_length",
    "data.max_response_length",
    f"{ROLLOUT}.tensor_model_parallel_size",
    f"{ROLLOUT}.max_num_seqs",
    f"{ROLLOUT}.max_num_batched_tokens",
    "reward.num_workers",
)
_FSDP_SIZES = ("ulysses_sequence_parallel_size",)
_SIZES = {
    "fsdp": _FSDP_SIZES,
    "fsdp2": _FSDP_SIZES,
    "megatron": (
        "megatron.tensor_model_parallel_size",
        "megatron.pipeline_model_parallel_size",
        "megatron.context_parallel_size",
        "megatron.expert_model_parallel_size",
    ),
}
"""Strategy -> the sizes that its engine reads."""
_POOL_COUNTS = ("rollout.nnodes", "rollout.n_gpus_per_node")
"""Of trainers whose rollout has nodes of its own."""
_SECTIONS = {"fsdp": "fsdp_config", "fsdp2": "fsdp_config", "megatron": "megatron", "veomni": "veomni"}
"""Strategy -> the section of the actor's configuration that its engine reads."""


def below_one(case: Case) -> list[Finding]:
    """Source: verl divides by these or hands them to the rollout engine, which refuses them (vllm/config)."""
    settings = case.settings
    keys = [*_COUNTS, *(_POOL_COUNTS if flow_of(case) in ("async", "one_step") else ())]
    keys += [
        f"{role}.{size}" for role in (ACTOR, REF) for size in _SIZES.get(str(settings.text(f"{role}.strategy")), ())
    ]
    return [
        Finding("NR271", sure(case), settings.place(key), str(value), "1", {"name": key})
        for key in keys
        for value in [settings.integer(key)]
        if settings.is_set(key) and value is not None and value < 1
    ]


def strategy_of_another_engine(case: Case) -> list[Finding]:
    """Source: verl/trainer/config/actor: each engine's file has its own section alone; EngineRegistry takes both."""
    settings = case.settings
    key = f"{ACTOR}.strategy"
    strategy = settings.text(key)
    section = _SECTIONS.get(strategy or "")
    if section is None or not settings.is_set(key) or settings.has_section(f"{ACTOR}.{section}"):
        return []
    if any("@" in name for name in settings.given()):  # parts of the configuration are exchanged one by one
        return []
    own = next((name for name in dict.fromkeys(_SECTIONS.values()) if settings.has_section(f"{ACTOR}.{name}")), None)
    if own is None:
        return []
    values: dict[str, object] = {"section": section, "own": own, "config": settings.config}
    return [Finding("NR272", sure(case), settings.place(key), strategy, None, values)]


def no_hybrid_engine(case: Case) -> list[Finding]:
    """Source: verl/trainer/ppo/ray_trainer.py asserts it (0.7.1 to 0.9.1); those with own rollout nodes do not."""
    settings = case.settings
    if settings.truth(_HYBRID) is not False or flow_of(case) != "ray":
        return []
    return [Finding("NR273", "error", settings.place(_HYBRID), "False", "True")]


def reward_replicas(case: Case) -> list[Finding]:
    """Source: verl/single_controller/ray/base.py, split_resource_pool, called by reward_loop/reward_model.py."""
    settings = case.settings
    names = ("tensor_model_parallel_size", "data_parallel_size", "pipeline_model_parallel_size")
    sizes = [
        settings.integer(f"{_REWARD}.rollout.{name}") for name in names if settings.has(f"{_REWARD}.rollout.{name}")
    ]
    pool = [settings.integer(f"{_REWARD}.nnodes"), settings.integer(f"{_REWARD}.n_gpus_per_node")]
    used = settings.truth(f"{_REWARD}.enable") and settings.truth(f"{_REWARD}.enable_resource_pool")
    if not used or flow_of(case) == "async":  # fully asynchronous: no pool is cut there
        return []
    npus, replica = _product(pool), _product(sizes)
    if npus is None or replica is None or npus % replica == 0:
        return []
    place = settings.place(f"{_REWARD}.rollout.{names[0]}", f"{_REWARD}.nnodes", f"{_REWARD}.n_gpus_per_node")
    values: dict[str, object] = {"npus": npus, "rest": npus % replica, "sizes": ", ".join(map(str, divisors(npus)))}
    return [Finding("NR274", sure(case), place, str(replica), str(npus), values)]


RULES = (
    Rule("NR271", ("error", "warning"), below_one, ppo=True),
    Rule("NR272", ("error", "warning"), strategy_of_another_engine, ppo=True),
    Rule("NR273", ("error",), no_hybrid_engine, ppo=True),
    Rule("NR274", ("error", "warning"), reward_replicas, ppo=True),
)


def _product(sizes: list[int | None]) -> int | None:
    """None: a size is unknown or below one."""
    product = 1
    for size in sizes:
        if size is None or size < 1:
            return None
        product *= size
    return product
