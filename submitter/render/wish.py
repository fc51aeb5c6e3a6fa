"""Job → what its nodes are looked at for (gang/probes/wish.py). Pure: no path is opened here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePosixPath

from runtime_env.stacks import Stack, stack_of
from submitter.checks.settings import Settings
from submitter.gang.placement import CPUS_PER_NPU
from submitter.gang.probes.wish import Wish
from submitter.job.model import Job

_ACTOR = "actor_rollout_ref.actor"
_ROLLOUT = "actor_rollout_ref.rollout"
_COMPONENTS = (
    *("cann", "hdk", "python", "torch", "torch_npu", "vllm", "vllm_ascend", "verl"),
    *("megatron_core", "mindspeed", "transformers"),
)
_ENGINES = {"megatron": ("megatron_core", "mindspeed")}
_ROLLOUTS = {"vllm": ("vllm", "vllm_ascend")}
_MODULE_KEYS = (
    *("custom_reward_function.path", "reward.custom_reward_function.path", "data.custom_cls.path"),
    *("data.sampler.class_path", "data.datagen.path", f"{_ROLLOUT}.agent.custom_async_server.path"),
)
_CONFIG_KEYS = (
    *(f"{_ROLLOUT}.multi_turn.tool_config_path", f"{_ROLLOUT}.multi_turn.interaction_config_path"),
    f"{_ROLLOUT}.agent.agent_loop_config_path",
)
_LOG_KEYS = ("trainer.rollout_data_dir", "trainer.validation_data_dir")
_LOG_FLAGS = ("TENSORBOARD_DIR", "ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH", "ASCEND_CACHE_PATH")
_PACKAGE = "pkg://"
_EXTERNAL_MODULES = "VERL_USE_EXTERNAL_MODULES"
_NOT_USERS = ("npurun_", "verl.")
"""Modules that come with npurun or verl: to import them takes long, and their versions are compared."""
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
        needs=_needs(settings),
        model=next(iter(_absolute([settings.text("actor_rollout_ref.model.path") or ""])), None),
        weights=settings.truth(f"{_ACTOR}.megatron.use_dist_checkpointing") is not True,
        data_files=_absolute(_of(settings, "data.train_files", "data.val_files", *_CONFIG_KEYS)),
        columns=tuple(name for name in [settings.text("data.prompt_key")] if name and settings.ppo),
        write_dirs=write_dirs,
        log_dirs=_absolute([*_of(settings, *_LOG_KEYS), *(flags.get(name, "") for name in _LOG_FLAGS)]),
        shared_dirs=write_dirs if job.cluster.nodes > 1 else (),
        checkpoint_ratio=_checkpoint_ratio(settings) if saves else None,
        modules=_modules(settings, flags, job.runtime_env.working_dir is not None),
        ports=(job.trainer.torchrun.master_port,) if job.trainer.torchrun and job.trainer.torchrun.master_port else (),
        hccl_base_port=_hccl_base_port(flags, job.trainer.module),
        flags=flags,
    )


def components(stack: Stack | None) -> dict[str, str]:
    """What nodes are compared with: component -> version."""
    return {name: value for name, value in asdict(stack).items() if name in _COMPONENTS} if stack else {}


def _of(settings: Settings, *keys: str) -> list[str]:
    return [item for key in keys for item in settings.items(key) if isinstance(item, str)]


def _absolute(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if PurePosixPath(path).is_absolute()))


def _needs(settings: Settings) -> tuple[str, ...]:
    if not settings.ppo:
        return ()
    engine = _ENGINES.get(settings.text(f"{_ACTOR}.strategy") or "", ())
    return ("torch", "transformers", "verl", *engine, *_ROLLOUTS.get(settings.text(f"{_ROLLOUT}.name") or "", ()))


def _modules(settings: Settings, flags: Mapping[str, str], with_working_dir: bool) -> tuple[str, ...]:
    """As verl reads them: a path, `file://` and a path, or `pkg://` and a module. A relative path is the working_dir's,
    where Ray's workers stand; without one it differs by where the driver stands."""
    paths = _of(settings, *_MODULE_KEYS)
    files = [path.removeprefix("file://") for path in paths if path.endswith(".py")]
    dotted = [
        *(path.removeprefix(_PACKAGE).replace("/", ".") for path in paths if path.startswith(_PACKAGE)),
        *_of(settings, "actor_rollout_ref.model.external_lib"),
        *(name.strip() for name in flags.get(_EXTERNAL_MODULES, "").split(",")),
    ]
    users = [name for name in dotted if name and not f"{name}.".startswith(_NOT_USERS)]
    return (*(dict.fromkeys(files) if with_working_dir else _absolute(files)), *dict.fromkeys(users))


def _checkpoint_ratio(settings: Settings) -> float:
    contents = settings.items(f"{_ACTOR}.checkpoint.save_contents")
    bytes_per_parameter = MODEL_BYTES + (OPTIMIZER_BYTES if "optimizer" in contents else 0)
    return bytes_per_parameter / MODEL_BYTES


def _hccl_base_port(flags: dict[str, str], module: str) -> int | None:
    if module.startswith(VERL) or any(name in flags for name in _PORT_RANGES):
        return None
    text = flags.get("HCCL_IF_BASE_PORT", "")
    return int(text) if text.isdecimal() else HCCL_BASE_PORT
