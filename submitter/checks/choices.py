"""Values outside the list that verl knows: registries, enums and assertions of verl 0.7.1 to 0.9.1 and main."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runtime_env.verl_defaults import version_key
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.checks.settings import PPO_MODULES, Settings
from submitter.job.nearest import nearest

_ACTOR = "actor_rollout_ref.actor"
_ROLLOUT = "actor_rollout_ref.rollout"
_TRANSFORMER = f"{_ACTOR}.megatron.override_transformer_config"
_DISPATCHER = f"{_TRANSFORMER}.moe_token_dispatcher_type"
_PLUGINS = "VERL_USE_EXTERNAL_MODULES"

_ADVANTAGE = (
    "gae grpo grpo_passk grpo_vectorized gdpo reinforce_plus_plus reinforce_plus_plus_baseline remax rloo "
    "rloo_vectorized opo gpg optimal_token_baseline tir_optimal_token_baseline"
)
_POLICY_LOSS = "vanilla dppo_tv dppo_kl gspo sapo gpg clip_cov kl_cov geo_mean cispo bypass_mode"
_KL = "kl k1 abs mse k2 low_var_kl k3 full"
_REPLAY = "disabled R2 R3"
_PRECISION = "fp16 float16 16 fp32 float32 32 bf16 bfloat16"
_CONTENTS = "model optimizer extra hf_model"
_DISPATCHERS = "allgather alltoall alltoall_seq flex"
_LOAD_FORMATS = (
    "auto hf bitsandbytes dummy fastsafetensors gguf instanttensor mistral modelexpress npcache pt runai_streamer "
    "runai_streamer_sharded safetensors sharded_state tensorizer netloader rfork"
)
"""Of vLLM 0.13 to 0.23 and vllm-ascend's own: an older one may lack the newest, which is not told."""


@dataclass(frozen=True)
class Choice:
    key: str
    names: str
    """Parted by spaces."""
    since: tuple[tuple[str, str], ...] = ()
    """(release, further names)."""
    severity: Severity = "error"
    custom: bool = False
    """Modules of the user's can register further names."""
    suffix: str = ""
    """May follow each name."""
    when: Callable[[Settings], bool] = lambda _settings: True
    """verl reads the key."""

    def allowed(self, release: str) -> list[str]:
        further = [names for first, names in self.since if version_key(release) >= version_key(first)]
        return " ".join([self.names, *further]).split()


def _truth(key: str) -> Callable[[Settings], bool]:
    return lambda settings: settings.truth(key) is True


def _is_fsdp(settings: Settings) -> bool:
    return (settings.text(f"{_ACTOR}.strategy") or "").startswith("fsdp")


def _is_megatron(settings: Settings) -> bool:
    return settings.text(f"{_ACTOR}.strategy") == "megatron"


def _engine_is(*names: str) -> Callable[[Settings], bool]:
    return lambda settings: settings.text(f"{_ROLLOUT}.name") in names


CHOICES = (
    # verl/trainer/ppo/core_algos.py: get_adv_estimator_fn, get_policy_loss_fn, kl_penalty, get_kl_controller
    Choice("algorithm.adv_estimator", _ADVANTAGE, custom=True),
    Choice(f"{_ACTOR}.policy_loss.loss_mode", _POLICY_LOSS, (("0.9.0", "dro"),), custom=True),
    Choice(f"{_ACTOR}.kl_loss_type", _KL, suffix="+", when=_truth(f"{_ACTOR}.use_kl_loss")),
    Choice("algorithm.kl_penalty", _KL, suffix="+", when=_truth("algorithm.use_kl_in_reward")),
    Choice("algorithm.kl_ctrl.type", "fixed adaptive", when=_truth("algorithm.use_kl_in_reward")),
    # verl/workers/config/actor.py and engine.py: __post_init__
    Choice(
        f"{_ACTOR}.loss_agg_mode",
        "token-mean seq-mean-token-sum seq-mean-token-mean seq-mean-token-sum-norm",
        (("0.9.0", "token-sum"),),
    ),
    Choice(f"{_ACTOR}.router_replay.mode", _REPLAY),
    Choice(f"{_ACTOR}.megatron.router_replay.mode", _REPLAY, when=_is_megatron),
    Choice(f"{_ACTOR}.megatron.dtype", "bfloat16 float16", when=_is_megatron),
    Choice(f"{_ACTOR}.optim.lr_scheduler_type", "constant cosine", when=_is_fsdp),
    # verl/utils/torch_dtypes.py: PrecisionType.to_dtype, which the FSDP engine calls for each
    Choice(f"{_ACTOR}.fsdp_config.model_dtype", _PRECISION, when=_is_fsdp),
    Choice(f"{_ACTOR}.fsdp_config.mixed_precision.param_dtype", _PRECISION, when=_is_fsdp),
    Choice(f"{_ACTOR}.fsdp_config.mixed_precision.reduce_dtype", _PRECISION, when=_is_fsdp),
    Choice(f"{_ACTOR}.fsdp_config.mixed_precision.buffer_dtype", _PRECISION, when=_is_fsdp),
    Choice("actor_rollout_ref.ref.fsdp_config.model_dtype", _PRECISION, severity="warning", when=_is_fsdp),
    # vllm/config/model.py: ModelDType (SGLang has the same); vllm/model_executor/model_loader/__init__.py
    Choice(f"{_ROLLOUT}.dtype", "auto half float16 bfloat16 float float32", when=_engine_is("vllm", "sglang")),
    Choice(f"{_ROLLOUT}.load_format", _LOAD_FORMATS, custom=True, when=_engine_is("vllm")),
    # verl/checkpoint_engine: CheckpointEngineRegistry; HCCL's registers as nccl
    Choice(
        f"{_ROLLOUT}.checkpoint_engine.backend",
        "naive nccl nixl kimi_ckpt_engine mooncake",
        (("0.9.0", "delta_sharded"),),
        custom=True,
    ),
    # verl/utils/checkpoint/checkpoint_manager.py asks whether a name is in the list: another one does nothing
    Choice(f"{_ACTOR}.checkpoint.save_contents", _CONTENTS, severity="warning"),
    Choice(f"{_ACTOR}.checkpoint.load_contents", _CONTENTS, severity="warning"),
    Choice("critic.checkpoint.save_contents", _CONTENTS, severity="warning"),
    Choice("critic.checkpoint.load_contents", _CONTENTS, severity="warning"),
    # verl/utils/megatron_utils.py: AttnBackend[…]; megatron/core/transformer/moe/moe_layer.py (0.12, 0.16)
    Choice(f"{_TRANSFORMER}.attention_backend", "flash fused unfused local auto", when=_is_megatron),
    Choice(_DISPATCHER, _DISPATCHERS, when=_is_megatron),
    # verl/workers/engine/base.py: EngineRegistry
    Choice(
        f"{_ACTOR}.strategy",
        "fsdp fsdp2 megatron veomni torchtitan",
        (("0.8.0", "automodel mindspeed_megatron mindspeed_fsdp"), ("0.9.1", "fsdp_turbo")),
        custom=True,
    ),
    # verl/utils/tracking.py: Tracking
    Choice(
        "trainer.logger",
        "wandb mlflow swanlab vemlp_wandb tensorboard console clearml trackio file tracking",
        (("0.9.0", "rl_insight"),),
    ),
    # verl/utils/dataset/rl_dataset.py keeps it for datasets of the user's
    Choice("data.truncation", "error left right middle", severity="warning"),
)


def outside(case: Case) -> Iterator[Finding]:
    """Source: registries and assertions of verl (core_algos.py, workers/config, workers/rollout, utils/tracking.py)."""
    settings = case.settings
    for choice in CHOICES:
        if not settings.is_set(choice.key) or not choice.when(settings):
            continue
        if choice.key == _DISPATCHER and case.model is not None and case.model.dense:  # no layer asks for it
            continue
        allowed = choice.allowed(settings.release)
        for item in settings.items(choice.key):
            if isinstance(item, str) and item.removesuffix(choice.suffix) not in allowed:
                yield _finding(case, choice, item, allowed)


RULES = (Rule("NR105", ("error", "warning"), outside, ppo=True),)


def _finding(case: Case, choice: Choice, item: str, allowed: list[str]) -> Finding:
    own = case.job.trainer.module not in PPO_MODULES  # a trainer of one's own may give a key another meaning
    severity: Severity = "warning" if own or (choice.custom and _may_register(case)) else choice.severity
    place = case.settings.place(choice.key)
    values: dict[str, object] = {"nearest": nearest(item, allowed), "name": choice.key}
    return Finding("NR105", severity, place, item, ", ".join(allowed), values)


def _may_register(case: Case) -> bool:
    """The job brings modules of its own, which can be imported before verl looks a name up."""
    own = any(flag.name in (_PLUGINS, "PYTHONPATH") for flag in case.job.flags)
    keys = ("actor_rollout_ref.model.external_lib", f"{_ROLLOUT}.checkpoint_engine.custom_backend_module")
    library = any(case.settings.value(key) is not None for key in keys)
    return own or library or case.job.runtime_env.working_dir is not None
