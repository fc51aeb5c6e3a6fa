"""Device and host memory: what weights, buckets and offloading need, and what verl and Megatron refuse."""

from __future__ import annotations

from collections.abc import Iterator

from runtime_env.verl_defaults import version_key
from submitter.checks.case import Case
from submitter.checks.engine import uses_vllm
from submitter.checks.finding import Finding, Severity
from submitter.checks.model_size import certainly_bf16, parameters, rollout_bytes
from submitter.checks.parallel import ACTOR, REF, ROLLOUT
from submitter.checks.roles import needs_reference, uses_engine
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings

HBM_BYTES = 64 << 30
"""Of an NPU of A2 and A3 servers; the smaller ones of A2 have 32 GiB."""
HIGH_UTILISATION = 0.9
"""Above it too little is left for activations, HCCL's buffers and the training process (vllm-ascend, issue 89)."""
ROOM_FOR_CACHE = 0.8
"""Of the rollout's share: weights above it leave hardly any key-value cache."""
MUCH_HOST_MEMORY_BYTES = 512 << 30
"""Per node: from here on it is worth a look whether the node has it."""
OPTIMIZER_BYTES = 12
"""Per parameter: Adam's two moments and the master weight, each in fp32."""
MASTER_BYTES = 4
_BUCKET_ROOM = 1.2
"""What verl's FAQ asks for: the next power of two above 1.2 times the tensor."""
IPC_DRIVER = (25, 3)
"""The NPU driver from which on verl hands weights over on the device (verl/utils/device.py)."""

_UTILISATION = f"{ROLLOUT}.gpu_memory_utilization"
_BUCKET = f"{ROLLOUT}.checkpoint_engine.update_weights_bucket_megabytes"
_BACKEND = f"{ROLLOUT}.checkpoint_engine.backend"
_RUNNERS = ("verl.trainer.main_ppo",)
"""Trainers that put the rollout on the NPUs that train."""


def utilisation(case: Case) -> list[Finding]:
    """Source: vllm/config/cache.py (above 0, at most 1); vllm-ascend issues 89 and 6611 (0.95 is out of memory)."""
    settings = case.settings
    keys = (
        _UTILISATION,
        f"{ROLLOUT}.standalone_gpu_memory_utilization",
        "reward.reward_model.rollout.gpu_memory_utilization",
    )
    found = []
    for key in keys:
        value = settings.number(key)
        if value is None or not settings.is_set(key):
            continue
        if not 0 < value <= 1:
            found.append(Finding("NR310", "error", settings.place(key), f"{value:g}", "1"))
        elif value > HIGH_UTILISATION:
            found.append(Finding("NR310", "warning", settings.place(key), f"{value:g}", f"{HIGH_UTILISATION:g}"))
    return found


def cache_stays(case: Case) -> list[Finding]:
    """Source: verl/workers/rollout/vllm_rollout (sleep returns at once without it); verl pull request 2459."""
    settings = case.settings
    keys = (f"{ROLLOUT}.free_cache_engine", f"{ROLLOUT}.enable_sleep_mode")
    off = next((key for key in keys if settings.truth(key) is False), None)
    if off is None or not colocated(case):
        return []
    return [Finding("NR311", "warning", settings.place(off), "False", "True", {"name": off})]


def weights_fit(case: Case) -> list[Finding]:
    """Source: vllm: the cache gets what utilisation leaves after the weights, none is an error; vllm-ascend 1987."""
    settings, model = case.settings, case.model
    share = settings.number(_UTILISATION)
    if model is None or share is None or not 0 < share <= 1 or not _plain_weights(settings):
        return []
    size = rollout_bytes(settings, model)
    if size is None or size.bytes <= HBM_BYTES * share * ROOM_FOR_CACHE:
        return []
    severity: Severity = "error" if size.bytes > HBM_BYTES * share and certainly_bf16(model) else "warning"
    place = settings.place(f"{ROLLOUT}.tensor_model_parallel_size", _UTILISATION, "actor_rollout_ref.model.path")
    values: dict[str, object] = {
        "arithmetic": size.spelled,
        "share": f"{HBM_BYTES >> 30} GiB × {share:g} = {HBM_BYTES * share / (1 << 30):.1f} GiB",
        "source": model.path,
    }
    return [Finding("NR312", severity, place, _gib(size.bytes), _gib(int(HBM_BYTES * share)), values)]


def bucket(case: Case) -> list[Finding]:
    """Source: verl/workers/rollout/vllm_rollout/bucketed_weight_transfer.py, checkpoint_engine (0.7.1 to 0.9.1)."""
    settings, model = case.settings, case.model
    limit, kept, sent = settings.integer(_BUCKET), _kept_bytes(settings), _sent_bytes(settings)
    severity = _bucket_severity(case)
    if model is None or limit is None or kept is None or sent is None or severity is None:
        return []
    if model.vocab_size is None or model.hidden_size is None:
        return []
    numbers = model.vocab_size * model.hidden_size
    if numbers * sent <= limit << 20:
        severity, sent = "hint", kept
    need = numbers * sent
    if need <= limit << 20:
        return []
    values: dict[str, object] = {
        "arithmetic": f"{model.vocab_size} × {model.hidden_size} × {sent} B = {need / (1 << 20):.0f} MiB",
        "enough": _power_of_two(need * _BUCKET_ROOM / (1 << 20)),
        "source": model.path,
    }
    place = settings.place(_BUCKET, _BACKEND, "actor_rollout_ref.model.path")
    return [Finding("NR313", severity, place, f"{need / (1 << 20):.0f}", str(limit), values)]


def host_memory(case: Case) -> list[Finding]:
    """Source: verl issue 1335 (260 and 191 GB in the two ranks that saved a critic); Adam keeps three fp32 numbers."""
    settings, model = case.settings, case.model
    nodes = settings.integer("trainer.nnodes")
    count = parameters(model) if model else None
    if not nodes or nodes < 1 or count is None:
        return []
    per_parameter = [(key, bytes_) for key, bytes_ in _offloaded(settings)]
    per_node = count * sum(bytes_ for _, bytes_ in per_parameter) // nodes
    if per_node < MUCH_HOST_MEMORY_BYTES:
        return []
    sum_text = " + ".join(str(bytes_) for _, bytes_ in per_parameter)
    values: dict[str, object] = {
        "arithmetic": f"{count / 1e9:.1f} G × ({sum_text}) B / {nodes} = {_gib(per_node)}",
        "source": model.path if model else "",
    }
    return [Finding("NR314", "hint", settings.place(*(key for key, _ in per_parameter)), _gib(per_node), None, values)]


RULES = (
    Rule("NR310", ("error", "warning"), utilisation, ppo=True),
    Rule("NR311", ("warning",), cache_stays, ppo=True),
    Rule("NR312", ("error", "warning"), weights_fit, ppo=True),
    Rule("NR313", ("error", "warning", "hint"), bucket, ppo=True),
    Rule("NR314", ("hint",), host_memory, ppo=True),
)


def colocated(case: Case) -> bool:
    """The rollout shares its NPUs with training; False also where that cannot be told."""
    settings = case.settings
    separate = "separate" in str(settings.value("trainer.v1.trainer_mode"))
    own_nodes = bool(settings.integer(f"{ROLLOUT}.nnodes"))
    hybrid = settings.truth("actor_rollout_ref.hybrid_engine") is True
    return case.job.trainer.module in _RUNNERS and hybrid and not separate and not own_nodes


def _plain_weights(settings: Settings) -> bool:
    """Two bytes a parameter: neither quantised nor in another type."""
    return (
        settings.value(f"{ROLLOUT}.quantization") is None
        and settings.value(f"{ROLLOUT}.engine_kwargs.vllm.quantization") is None
        and settings.text(f"{ROLLOUT}.dtype") in ("bfloat16", "float16", "half")
    )


def _kept_bytes(settings: Settings) -> int | None:
    """Bytes of a number of the embedding as the trainer holds it; None: not known for this strategy."""
    strategy = settings.text(f"{ACTOR}.strategy")
    if strategy in ("megatron", "mindspeed"):
        return 2
    if strategy not in ("fsdp", "fsdp2"):
        return None
    return 4 if settings.text(f"{ACTOR}.fsdp_config.model_dtype") in ("fp32", "float32", None) else 2


def _sent_bytes(settings: Settings) -> int | None:
    """As it is sent: the legacy workers of 0.7.1 and all since 0.9.0 send what they hold, the others cast to bf16."""
    kept = not uses_engine(settings) or version_key(settings.release) >= (0, 9)
    return _kept_bytes(settings) if kept else 2


def _bucket_severity(case: Case) -> Severity | None:
    """Of a tensor that is larger than the bucket; None: never mind."""
    settings, release = case.settings, version_key(case.settings.release)
    backend = settings.text(_BACKEND)
    if backend == "mooncake" or (backend == "hccl" and release < (0, 9)):
        return "error"
    if backend not in (None, "naive") or not uses_vllm(settings):
        return None
    if release < (0, 8):
        # Published scripts leave both at their defaults, against what the code says: only what is asked for is sure.
        said = any(settings.is_set(key) for key in (_BUCKET, f"{ACTOR}.fsdp_config.model_dtype"))
        return "error" if said else "warning"
    driver = version_key(case.stack.hdk)[:2] if case.stack else ()
    return "hint" if driver >= IPC_DRIVER else "warning"


def _offloaded(settings: Settings) -> Iterator[tuple[str, int]]:
    """What is kept in host memory between steps: the key that asks for it, and its bytes per parameter."""
    own = f"{ACTOR}.megatron" if settings.text(f"{ACTOR}.strategy") == "megatron" else f"{ACTOR}.fsdp_config"
    reference = own.replace(ACTOR, REF)
    hybrid = f"{ACTOR}.optim.override_optimizer_config.optimizer_cpu_offload"
    if settings.truth(f"{own}.optimizer_offload") or settings.truth(hybrid):
        yield (hybrid if settings.truth(hybrid) else f"{own}.optimizer_offload"), OPTIMIZER_BYTES
    if settings.truth(f"{own}.param_offload"):
        yield f"{own}.param_offload", 2 if own.endswith("megatron") else MASTER_BYTES
    if settings.truth(f"{reference}.param_offload") and needs_reference(settings):
        yield f"{reference}.param_offload", 2 if own.endswith("megatron") else MASTER_BYTES


def _power_of_two(least: float) -> int:
    size = 1
    while size < least:
        size *= 2
    return size


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
