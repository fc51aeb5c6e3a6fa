"""Job → what its nodes are looked at for (gang/probes/wish.py). Pure: no path is opened here."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePosixPath

from runtime_env.stacks import Stack, stack_of
from submitter.checks.settings import Settings
from submitter.gang.placement import CPUS_PER_NPU
from submitter.gang.probes.wish import Wish
from submitter.job.model import Job

_ACTOR = "actor_rollout_ref.actor"
_COMPONENTS = ("cann", "python", "torch", "torch_npu", "vllm", "vllm_ascend", "verl", "megatron_core", "transformers")
OPTIMIZER_BYTES = 12
"""Per parameter: fp32 master weights and two moments; the model's own bf16 files have 2."""
MODEL_BYTES = 2
HCCL_BASE_PORT = 60000
"""HCCL's default first port of a host (HCCL_IF_BASE_PORT)."""
_PORT_RANGES = ("HCCL_HOST_SOCKET_PORT_RANGE", "HCCL_NPU_SOCKET_PORT_RANGE")
VERL = "verl."
"""verl sets both ranges to "auto" itself (trainer/constants_ppo.py, 0.7.1 to 0.9.1): HCCL then finds free ports."""


def wish(job: Job) -> Wish:
    """An absolute path is one on the nodes; what is relative differs by where the driver stands and is left out."""
    stack = stack_of(job)
    settings = Settings(job, stack.verl_release if stack else None)
    folder = settings.text("trainer.default_local_dir")
    saves = (settings.integer("trainer.save_freq") or -1) > 0
    write_dirs = _absolute([folder] if saves and folder else [])
    flags = {flag.name: flag.value for flag in job.flags}
    return Wish(
        npus_per_node=job.cluster.npus_per_node,
        cpus_per_node=job.cluster.npus_per_node * CPUS_PER_NPU[job.trainer.launcher],
        stack=components(stack),
        model=next(iter(_absolute([settings.text("actor_rollout_ref.model.path") or ""])), None),
        data_files=_absolute(_texts(settings, "data.train_files") + _texts(settings, "data.val_files")),
        columns=tuple(name for name in [settings.text("data.prompt_key")] if name and settings.ppo),
        write_dirs=write_dirs,
        shared_dirs=write_dirs if job.cluster.nodes > 1 else (),
        checkpoint_ratio=_checkpoint_ratio(settings) if saves else None,
        modules=_absolute(_reward_modules(settings)),
        ports=(job.trainer.torchrun.master_port,) if job.trainer.torchrun and job.trainer.torchrun.master_port else (),
        hccl_base_port=_hccl_base_port(flags, job.trainer.module),
        flags=flags,
    )


def components(stack: Stack | None) -> dict[str, str]:
    """What nodes are compared with: component -> version."""
    return {name: value for name, value in asdict(stack).items() if name in _COMPONENTS} if stack else {}


def _texts(settings: Settings, key: str) -> list[str]:
    return [item for item in settings.items(key) if isinstance(item, str)]


def _absolute(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if PurePosixPath(path).is_absolute()))


def _reward_modules(settings: Settings) -> list[str]:
    keys = ("custom_reward_function.path", "reward.custom_reward_function.path")
    return [path for key in keys if (path := settings.text(key))]


def _checkpoint_ratio(settings: Settings) -> float:
    contents = settings.items(f"{_ACTOR}.checkpoint.save_contents")
    bytes_per_parameter = MODEL_BYTES + (OPTIMIZER_BYTES if "optimizer" in contents else 0)
    return bytes_per_parameter / MODEL_BYTES


def _hccl_base_port(flags: dict[str, str], module: str) -> int | None:
    if module.startswith(VERL) or any(name in flags for name in _PORT_RANGES):
        return None
    text = flags.get("HCCL_IF_BASE_PORT", "")
    return int(text) if text.isdecimal() else HCCL_BASE_PORT
