"""What the training engines refuse or pass over: offloading, recomputation, bridges, checkpoints to start from."""

from __future__ import annotations

from collections.abc import Iterator

from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.parallel import ACTOR, CRITIC, REF
from submitter.checks.roles import needs_critic, needs_reference, uses_engine
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings


def fsdp_offload(case: Case) -> list[Finding]:
    """Source: verl/workers/engine/fsdp/transformer_impl.py: only fsdp2 reads offload_policy (0.7.1 to 0.9.1)."""
    settings = case.settings
    return [
        Finding("NR315", "warning", settings.place(key), settings.text(f"{role}.strategy"), "fsdp2")
        for role in (ACTOR, *_reference(settings))
        if settings.text(f"{role}.strategy") == "fsdp"
        and settings.truth(key := f"{role}.fsdp_config.offload_policy")
        and settings.is_set(key)
    ]


def hybrid_optimizer(case: Case) -> Iterator[Finding]:
    """Source: megatron/core/optimizer/optimizer_config.py (0.12, 0.16), OptimizerConfig.__post_init__."""
    settings = case.settings
    for role in (ACTOR, CRITIC):
        optim, megatron = f"{role}.optim", f"{role}.megatron"
        own = f"{optim}.override_optimizer_config"
        if settings.text(f"{role}.strategy") != "megatron":
            continue
        offload = settings.truth(f"{own}.optimizer_cpu_offload") is True
        if settings.truth(f"{own}.overlap_cpu_optimizer_d2h_h2d") and not offload:
            yield _optimizer(
                settings, f"{own}.overlap_cpu_optimizer_d2h_h2d", "warning", f"{own}.optimizer_cpu_offload"
            )
        keys = (f"{own}.use_precision_aware_optimizer", f"{optim}.use_precision_aware_optimizer")
        aware = next((key for key in keys if settings.truth(key)), None)
        if aware is None:
            continue
        if settings.truth(f"{megatron}.use_distributed_optimizer") is False:
            yield _optimizer(settings, aware, "error", f"{megatron}.use_distributed_optimizer")
        elif not offload:  # without it Megatron takes TransformerEngine's FusedAdam, which is for other hardware
            yield _optimizer(settings, aware, "warning", f"{own}.optimizer_cpu_offload")


def recomputation(case: Case) -> Iterator[Finding]:
    """Source: megatron/core/transformer/transformer_config.py (0.12, 0.16), TransformerConfig.__post_init__."""
    settings = case.settings
    for role in (ACTOR, CRITIC):
        if settings.text(f"{role}.strategy") == "megatron" and (role == ACTOR or needs_critic(settings)):
            yield from _recomputation(settings, f"{role}.megatron.override_transformer_config")


def dispatcher(case: Case) -> list[Finding]:
    """Source: the same file: verl asks for variable sequence lengths, which the allgather dispatcher does not do."""
    settings = case.settings
    key = f"{ACTOR}.megatron.override_transformer_config.moe_token_dispatcher_type"
    if settings.text(f"{ACTOR}.strategy") != "megatron" or settings.text(key) != "allgather":
        return []
    return [Finding("NR318", "error", settings.place(key), "allgather", "alltoall")]


def weights_to_start_from(case: Case) -> Iterator[Finding]:
    """Source: verl/workers/engine/megatron/transformer_impl.py: asserts use_mbridge; loads dist_checkpointing_path."""
    settings = case.settings
    for role in (ACTOR, *_reference(settings)):
        own = f"{role}.megatron"
        if settings.text(f"{role}.strategy") != "megatron":
            continue
        if role == REF and not _sets(settings, own, "use_mbridge", "use_dist_checkpointing", "dist_checkpointing_path"):
            continue  # it follows the actor, which is told
        if settings.truth(f"{own}.use_mbridge") is False and uses_engine(settings):
            yield Finding("NR319", "error", settings.place(f"{own}.use_mbridge"), "False", "True")
        if settings.truth(f"{own}.use_dist_checkpointing") and not settings.value(f"{own}.dist_checkpointing_path"):
            place = settings.place(f"{own}.dist_checkpointing_path", f"{own}.use_dist_checkpointing")
            yield Finding("NR319", "error", place, "null", f"{own}.dist_checkpointing_path")


RULES = (
    Rule("NR315", ("warning",), fsdp_offload, ppo=True),
    Rule("NR316", ("error", "warning"), hybrid_optimizer, ppo=True),
    Rule("NR317", ("error", "warning"), recomputation, ppo=True),
    Rule("NR318", ("error",), dispatcher, ppo=True),
    Rule("NR319", ("error",), weights_to_start_from, ppo=True),
)


def _reference(settings: Settings) -> tuple[str, ...]:
    return (REF,) if needs_reference(settings) else ()


def _sets(settings: Settings, section: str, *names: str) -> bool:
    return any(settings.is_set(f"{section}.{name}") for name in names)


def _optimizer(settings: Settings, key: str, severity: Severity, needs: str) -> Finding:
    return Finding("NR316", severity, settings.place(key, needs), "True", needs)


def _recomputation(settings: Settings, own: str) -> Iterator[Finding]:
    granularity, method, layers = (
        settings.value(f"{own}.recompute_{name}") for name in ("granularity", "method", "num_layers")
    )
    if granularity is None:
        if method is not None and settings.is_set(f"{own}.recompute_method"):
            yield _recompute(settings, own, "warning", "method", method, "recompute_granularity=full")
        return
    if not isinstance(granularity, str):
        return
    if granularity not in ("full", "selective"):
        yield _recompute(settings, own, "error", "granularity", granularity, "full, selective")
    elif method not in (None, "uniform", "block"):
        yield _recompute(settings, own, "error", "method", method, "uniform, block")
    elif granularity == "full" and method is None:
        yield _recompute(settings, own, "error", "granularity", granularity, "recompute_method=uniform")
    elif granularity == "full" and layers is None:
        yield _recompute(settings, own, "error", "granularity", granularity, "recompute_num_layers=1")
    elif granularity == "selective" and layers is not None:
        yield _recompute(settings, own, "error", "num_layers", layers, "null")


def _recompute(settings: Settings, own: str, severity: Severity, name: str, value: object, limit: str) -> Finding:
    return Finding("NR317", severity, settings.place(f"{own}.recompute_{name}"), str(value), limit)
