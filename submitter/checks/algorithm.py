"""The algorithm: estimators and their groups, KL terms, critics, schedules, corrections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runtime_env.verl_defaults import version_key
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.parallel import ACTOR, REF, ROLLOUT
from submitter.checks.roles import needs_reference
from submitter.checks.rule import Rule
from submitter.checks.settings import PPO_MODULES, Settings
from submitter.errors import Place
from submitter.texts import Phrase

ESTIMATOR = "algorithm.adv_estimator"
CORRECTION = "algorithm.rollout_correction"
FILTER = "algorithm.filter_groups"
MAIN = "verl.trainer.main_ppo"

_GROUPED = frozenset(
    {"grpo", "grpo_vectorized", "grpo_passk", "gdpo", "rloo", "rloo_vectorized", "opo", "gpg"}
    | {"reinforce_plus_plus_baseline", "optimal_token_baseline", "tir_optimal_token_baseline"}
)
"""Estimators that compare the responses to one prompt (verl/trainer/ppo/core_algos.py)."""

PLACEHOLDER = "~/models/deepseek-llm-7b-chat"
"""verl's default of every model path: no node has it."""

_REJECTIONS = frozenset(
    {"token_k1", "token_k2", "token_k3", "seq_sum_k1", "seq_sum_k2", "seq_sum_k3"}
    | {"seq_mean_k1", "seq_mean_k2", "seq_mean_k3", "seq_max_k2", "seq_max_k3"}
)


@dataclass(frozen=True)
class Range:
    """A key whose value must lie between two bounds."""

    key: str
    severity: Severity
    above: float | None = None
    """Exclusive."""
    least: float | None = None
    most: float | None = None
    clipping: bool = False
    """Only of a loss that clips the ratio around 1; others give the bounds another meaning (cispo: 10)."""

    def holds(self, value: float) -> bool:
        return (
            (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    def spelled(self) -> str:
        low = f"> {self.above:g}" if self.above is not None else f"≥ {self.least:g}" if self.least is not None else ""
        high = f"≤ {self.most:g}" if self.most is not None else ""
        return ", ".join(part for part in (low, high) if part)


RANGES = (
    # torch.optim refuses a negative rate; above 0.01 no published run trains
    Range(f"{ACTOR}.optim.lr", "error", least=0),
    Range(f"{ACTOR}.optim.lr", "warning", above=0, most=0.01),
    # core_algos.py asserts it in the losses that clip
    Range(f"{ACTOR}.clip_ratio_c", "error", above=1),
    Range(f"{ACTOR}.clip_ratio", "warning", above=0, most=1, clipping=True),
    Range(f"{ACTOR}.clip_ratio_low", "warning", least=0, most=1, clipping=True),
    Range(f"{ACTOR}.clip_ratio_high", "warning", above=0, clipping=True),
    # logits are divided by it, and the Megatron engine asserts it
    Range(f"{ROLLOUT}.temperature", "error", above=0),
    # vllm/sampling_params.py
    Range(f"{ROLLOUT}.top_p", "error", above=0, most=1),
    Range(f"{ROLLOUT}.top_k", "error", least=-1),
    Range(f"{ROLLOUT}.val_kwargs.top_p", "error", above=0, most=1),
    Range(f"{ROLLOUT}.val_kwargs.top_k", "error", least=-1),
    Range(f"{ROLLOUT}.val_kwargs.temperature", "error", least=0),
    Range("algorithm.gamma", "warning", least=0, most=1),
    Range("algorithm.lam", "warning", least=0, most=1),
    Range("trainer.total_epochs", "warning", least=1),
    Range("trainer.total_training_steps", "warning", least=1),
)


def group_of_one(case: Case) -> list[Finding]:
    """Source: verl/trainer/ppo/core_algos.py (0.7.1 to 0.9.1): of one response, the baseline is 0; pass@k raises."""
    settings = case.settings
    estimator = settings.text(ESTIMATOR)
    if not _may_train(case) or estimator not in _GROUPED or settings.integer(f"{ROLLOUT}.n") != 1 or _distils(settings):
        return []
    severity: Severity = "error" if estimator == "grpo_passk" and trains(case) else "warning"
    place = settings.place(f"{ROLLOUT}.n", ESTIMATOR)
    return [Finding("NR321", severity, place, "1", "2", {"estimator": estimator})]


def kl_twice(case: Case) -> list[Finding]:
    """Source: verl/utils/config.py, validate_config: a NOTICE (0.7.1 to 0.9.1)."""
    settings = case.settings
    loss, reward = settings.truth(f"{ACTOR}.use_kl_loss"), settings.truth("algorithm.use_kl_in_reward")
    if not _may_train(case) or not loss or not reward:
        return []
    values: dict[str, object] = {
        "loss": settings.value(f"{ACTOR}.kl_loss_coef"),
        "reward": settings.value("algorithm.kl_ctrl.kl_coef"),
    }
    return [
        Finding("NR322", "warning", settings.place("algorithm.use_kl_in_reward", f"{ACTOR}.use_kl_loss"), values=values)
    ]


def kl_without_weight(case: Case) -> list[Finding]:
    """Source: verl/workers/utils/losses.py and core_algos.py: the term is multiplied by its coefficient."""
    settings = case.settings
    terms = (
        (f"{ACTOR}.use_kl_loss", f"{ACTOR}.kl_loss_coef"),
        ("algorithm.use_kl_in_reward", "algorithm.kl_ctrl.kl_coef"),
    )
    return [
        Finding("NR323", "warning", settings.place(weight, switch), f"{value:g}", "0", {"switch": switch})
        for switch, weight in terms
        if trains(case) and settings.truth(switch) and (value := settings.number(weight)) is not None and value <= 0
    ]


def reference_unused(case: Case) -> list[Finding]:
    """Source: verl/trainer/ppo/utils.py, need_reference_policy (0.7.1 to 0.9.1)."""
    settings = case.settings
    given = [key for key in settings.given() if key.startswith(f"{REF}.")]
    if not trains(case) or not given or needs_reference(settings) or _distils(settings):
        return []
    return [Finding("NR324", "hint", settings.place(*given), str(len(given)))]


def critic_model(case: Case) -> list[Finding]:
    """Source: verl/trainer/ppo/utils.py, need_critic; trainer/config/critic/critic.yaml (0.7.1 to 0.9.1)."""
    settings = case.settings
    gae = settings.text(ESTIMATOR) == "gae"
    enabled = settings.value("critic.enable")
    if not trains(case) or not (gae or enabled) or _distils(settings) or own_config(case):
        return []
    values: dict[str, object] = {"estimator": settings.text(ESTIMATOR) or "?", "asked": "critic.enable"}
    if gae and enabled is not None and not enabled:
        return [Finding("NR325", "error", settings.place("critic.enable"), "False", None, values)]
    values["asked"] = "critic.model.path"
    path = None if settings.lacks("critic.model.path") else settings.text("critic.model.path")
    if path != PLACEHOLDER and not settings.lacks("critic.model.path"):
        return []
    place = settings.place("critic.model.path", ESTIMATOR, "critic.enable")
    return [Finding("NR325", "error", place, path or "null", None, values)]


def ranges(case: Case) -> Iterator[Finding]:
    """Source: torch.optim, vllm/sampling_params.py, verl/trainer/ppo/core_algos.py and verl/utils/config.py."""
    settings = case.settings
    if not trains(case):
        return
    clips = settings.text(f"{ACTOR}.policy_loss.loss_mode") in ("vanilla", "gspo", "geo_mean")
    said: set[str] = set()
    for one in RANGES:
        value = settings.number(one.key)
        asked = settings.is_set(one.key) and one.key not in said and (clips or not one.clipping)
        if asked and value is not None and not one.holds(value):
            said.add(one.key)
            yield Finding("NR330", one.severity, settings.place(one.key), f"{value:g}", one.spelled())
    low, high = settings.number(f"{ACTOR}.clip_ratio_low"), settings.number(f"{ACTOR}.clip_ratio_high")
    if clips and low is not None and high is not None and low > high:
        place = settings.place(f"{ACTOR}.clip_ratio_low", f"{ACTOR}.clip_ratio_high")
        yield Finding("NR330", "warning", place, f"{low:g}", f"≤ clip_ratio_high {high:g}")


def warm_up(case: Case) -> list[Finding]:
    """Source: megatron/core/optimizer_param_scheduler.py asserts warm-up < decay; FSDP never leaves the warm-up."""
    settings = case.settings
    total, steps = settings.integer("trainer.total_training_steps"), settings.integer(f"{ACTOR}.optim.lr_warmup_steps")
    ratio = settings.number(f"{ACTOR}.optim.lr_warmup_steps_ratio")
    megatron = settings.text(f"{ACTOR}.strategy") == "megatron"
    severity: Severity = "error" if megatron else "warning"
    decay = settings.integer(f"{ACTOR}.optim.lr_decay_steps") if megatron else None
    last = decay if decay is not None and decay > 0 else total
    if not trains(case):
        return []
    if steps is not None and steps > 0:
        place = settings.place(f"{ACTOR}.optim.lr_warmup_steps")
        return (
            [Finding("NR331", severity, place, str(steps), str(last))] if last is not None and steps >= last > 0 else []
        )
    if ratio is None or ratio < 1:
        return []
    return [Finding("NR331", severity, settings.place(f"{ACTOR}.optim.lr_warmup_steps_ratio"), f"{ratio:g}", "1")]


def filtering(case: Case) -> Iterator[Finding]:
    """Source: verl/trainer/ppo/v1/trainer_base.py, _resolve_filter_groups_metric (0.9.0, 0.9.1); the DAPO recipe."""
    settings = case.settings
    if not settings.truth(f"{FILTER}.enable") or case.job.trainer.module != MAIN:
        return
    place = settings.place(f"{FILTER}.enable")
    if filters_nothing(case):
        severity: Severity = "error" if _needs_plus(case, f"{FILTER}.enable") else "warning"
        yield _filtering(severity, place, "True", "unread", verl=settings.release)
        return
    if not settings.value(f"{FILTER}.metric"):
        at = settings.place(f"{FILTER}.metric", f"{FILTER}.enable")
        yield _filtering("error", at, "null", "metric", metric=f"{FILTER}.metric")
    model = "reward.reward_model"
    if settings.truth(f"{model}.enable") and not settings.truth(f"{model}.enable_resource_pool"):
        at = settings.place(f"{model}.enable", f"{FILTER}.enable")
        yield _filtering("error", at, "True", "pool", pool=f"{model}.enable_resource_pool")


def correction(case: Case) -> Iterator[Finding]:
    """Source: verl/trainer/ppo/rollout_corr_helper.py: needs the rollout's log-probs, a threshold, known names."""
    settings = case.settings
    if case.job.trainer.module not in PPO_MODULES or not trains(case):
        return
    levels, rejections = settings.value(f"{CORRECTION}.rollout_is"), settings.value(f"{CORRECTION}.rollout_rs")
    bypass = settings.truth(f"{CORRECTION}.bypass_mode") is True
    if settings.truth(f"{ROLLOUT}.calculate_log_probs") is False and (bypass or levels or rejections):
        key = "bypass_mode" if bypass else "rollout_is" if levels else "rollout_rs"
        severity: Severity = "error" if bypass else "warning"
        yield _correction(settings, key, severity, f"{ROLLOUT}.calculate_log_probs=True")
    if isinstance(levels, str) and levels not in ("token", "sequence"):
        yield _correction(settings, "rollout_is", "error", "token, sequence")
    if isinstance(rejections, str):
        names = [name.strip() for name in rejections.split(",")]
        if any(name not in _REJECTIONS for name in names):
            yield _correction(settings, "rollout_rs", "error", ", ".join(sorted(_REJECTIONS)))
        elif settings.value(f"{CORRECTION}.rollout_rs_threshold") is None:
            yield _correction(settings, "rollout_rs", "error", f"{CORRECTION}.rollout_rs_threshold")


def router_replay(case: Case) -> Iterator[Finding]:
    """Source: verl/utils/config.py (0.9.1), workers/engine_workers.py, ppo/ray_trainer.py, vllm_async_server.py."""
    settings = case.settings
    release, strategy = version_key(settings.release), settings.text(f"{ACTOR}.strategy")
    key, old = f"{ACTOR}.{strategy}.router_replay.mode", f"{ACTOR}.router_replay.mode"
    recorded = f"{ROLLOUT}.enable_rollout_routing_replay"
    mode, on = settings.text(key), settings.truth(recorded) is True
    if not trains(case):
        return
    if (
        settings.is_set(old)
        and settings.text(old) not in (None, "disabled")
        and release >= (0, 8)
        and mode in (None, "disabled")
    ):
        yield Finding("NR334", "warning", settings.place(old), settings.text(old), key)
    if mode == "R2" and settings.truth(f"{CORRECTION}.bypass_mode") and release >= (0, 9, 1):
        yield Finding("NR334", "error", settings.place(key), "R2", f"{CORRECTION}.bypass_mode=False")
    if mode == "R2" and on:
        yield Finding(
            "NR334", "error" if release < (0, 9) else "warning", settings.place(key), "R2", f"{recorded}=False"
        )
    if mode == "R3" and not on:
        yield Finding("NR334", "error", settings.place(key), "R3", f"{recorded}=True")
    vllm = version_key(case.stack.vllm) if case.stack else ()
    if on and release >= (0, 9, 1) and () < vllm < (0, 22) and settings.text(f"{ROLLOUT}.name") == "vllm":
        yield Finding("NR334", "error", settings.place(recorded), "True", "vLLM ≥ 0.22")


def loss_needs(case: Case) -> Iterator[Finding]:
    """Source: verl/trainer/ppo/core_algos.py: assertions of gdpo, dro, clip_cov, kl_cov; gspo's own aggregation."""
    settings = case.settings
    loss = settings.text(f"{ACTOR}.policy_loss.loss_mode")
    if not trains(case):
        return
    if settings.text(ESTIMATOR) == "gdpo" and not settings.items("algorithm.gdpo_reward_keys"):
        yield Finding("NR335", "error", settings.place(ESTIMATOR), "gdpo", "algorithm.gdpo_reward_keys")
    for name, key in _LOSS_NEEDS.items():
        full = f"{ACTOR}.policy_loss.{key}"
        weight = settings.number(full)
        if loss == name and settings.has(full) and (weight is None or weight <= 0) and not _unreadable(settings, full):
            place = settings.place(full, f"{ACTOR}.policy_loss.loss_mode")
            yield Finding("NR335", "error", place, name, f"policy_loss.{key} > 0")
    mode = f"{ACTOR}.loss_agg_mode"
    if loss == "gspo" and settings.text(mode) != "seq-mean-token-mean":
        yield Finding(
            "NR335", "hint", settings.place(mode, f"{ACTOR}.policy_loss.loss_mode"), "gspo", "seq-mean-token-mean"
        )


_FILTERING: Mapping[str, tuple[str, str]] = {
    "unread": ("NR332.unread", "NR332.do_unread"),
    "metric": ("NR332.metric", "NR332.do_metric"),
    "pool": ("NR332.pool", "NR332.do_pool"),
}
_LOSS_NEEDS: Mapping[str, str] = {"dro": "dro_beta", "clip_cov": "clip_cov_ratio", "kl_cov": "kl_cov_ratio"}

RULES = (
    Rule("NR321", ("error", "warning"), group_of_one, ppo=True),
    Rule("NR322", ("warning",), kl_twice, ppo=True),
    Rule("NR323", ("warning",), kl_without_weight, ppo=True),
    Rule("NR324", ("hint",), reference_unused, ppo=True),
    Rule("NR325", ("error",), critic_model, ppo=True),
    Rule("NR330", ("error", "warning"), ranges, ppo=True),
    Rule("NR331", ("error", "warning"), warm_up, ppo=True),
    Rule("NR332", ("error", "warning"), filtering, ppo=True),
    Rule("NR333", ("error", "warning"), correction, ppo=True),
    Rule("NR334", ("error", "warning"), router_replay, ppo=True),
    Rule("NR335", ("error", "hint"), loss_needs, ppo=True),
)


def filters_nothing(case: Case) -> bool:
    """The job asks for filtered groups of a trainer that does not know them."""
    settings = case.settings
    asked = settings.truth(f"{FILTER}.enable") is True and case.job.trainer.module == MAIN
    return asked and (version_key(settings.release) < (0, 9) or settings.truth("trainer.use_v1") is False)


def trains(case: Case) -> bool:
    """Not of the module that only generates, nor of trainers that are not verl's own: they may read other keys."""
    module = case.job.trainer.module
    return module in PPO_MODULES and "generation" not in module


def _may_train(case: Case) -> bool:
    """Recipes extend verl's trainer: what is said of their algorithm is a warning at most."""
    return "generation" not in case.job.trainer.module


def _distils(settings: Settings) -> bool:
    return settings.truth("distillation.enabled") is True


def own_config(case: Case) -> bool:
    """A configuration of the user's, whose values are not known here."""
    return any(word.startswith(("--config-path", "--config-dir", "-cp", "-cd")) for word in case.job.extra_arguments)


def _correction(settings: Settings, name: str, severity: Severity, limit: str) -> Finding:
    key = f"{CORRECTION}.{name}"
    return Finding("NR333", severity, settings.place(key), str(settings.value(key)), limit)


def _filtering(severity: Severity, place: Place, value: str, which: str, **values: object) -> Finding:
    what, do = _FILTERING[which]
    return Finding("NR332", severity, place, value, None, {"what": Phrase(what, values), "do": Phrase(do, values)})


def _needs_plus(case: Case, key: str) -> bool:
    """Hydra refuses the key as it is written; told here, since with a plus it would have no effect."""
    problems = case.composition.problems if case.composition else ()
    return any(one.kind == "add" and one.key.lstrip("+") == key for one in problems)


def _unreadable(settings: Settings, key: str) -> bool:
    """Set to what is no number: a wrong type is another check's."""
    return settings.is_set(key) and settings.value(key) is not None and settings.number(key) is None
