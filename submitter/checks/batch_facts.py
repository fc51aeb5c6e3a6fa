"""How a job's trainer cuts its batch: which trainer it is, how many samples it trains on, over which layouts.

Pure reading of settings; the rules on batches and on token limits are arithmetic on this. Facts are verl's, 0.7.1 to
main of August 2026: trainer/ppo/ray_trainer.py, trainer/ppo/v1, experimental/one_step_off_policy,
experimental/fully_async_policy, workers/engine_workers.py, workers/fsdp_workers.py, workers/megatron_workers.py.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import gcd
from typing import Literal

from runtime_env.verl_defaults import configs, version_key
from submitter.checks import parallel
from submitter.checks.case import Case
from submitter.checks.finding import Severity
from submitter.checks.parallel import ACTOR, CRITIC, ROLLOUT, Training, divisors
from submitter.checks.roles import needs_critic, uses_engine
from submitter.checks.settings import Settings
from submitter.checks.spelled import last_text

Flow = Literal["ray", "queue", "one_step", "async", "other"]
"""`ray`: the classic trainer. `queue`: over a transfer queue; it pads its batch. `other`: not verl's own module."""

TRAIN, GEN, N = "data.train_batch_size", "data.gen_batch_size", f"{ROLLOUT}.n"
MINI = f"{ACTOR}.ppo_mini_batch_size"
WORKERS = f"{ROLLOUT}.agent.num_workers"
SYNC_STEP = "trainer.v1.separate_async.parameter_sync_step"

ONE_STEP_MODULE = "verl.experimental.one_step_off_policy.main_ppo"
ASYNC_MODULE = "verl.experimental.fully_async_policy.fully_async_main"
_FLOWS: dict[str, Flow] = {
    "verl.trainer.main_ppo": "ray",
    "verl.trainer.main_ppo_v0": "ray",
    "verl.trainer.main_ppo_sync": "queue",
    ONE_STEP_MODULE: "one_step",
    ASYNC_MODULE: "async",
}
_QUEUE_SINCE = (0, 9)
"""`trainer.use_v1`, true by default."""
_CRITIC_SEQUENCE = "critic.fsdp.ulysses_sequence_parallel_size"


@dataclass(frozen=True)
class Batch:
    """What one training step works on. Sizes in prompts and in samples (prompts x n)."""

    settings: Settings
    flow: Flow
    engine: bool
    """Workers over model engines: they assert what the older workers round down."""
    mode: str
    """`trainer.v1.trainer_mode` of the flow `queue`, else empty."""
    prompts: int
    """Of one update; in mode separate_async one of several between two transfers of weights."""
    n: int
    place: str
    """The key that decides over `prompts`."""
    sure: Severity
    """As `sure` of the case."""

    @property
    def samples(self) -> int:
        return self.prompts * self.n

    @property
    def pads(self) -> bool:
        """Synthetic samples are appended until the batch divides."""
        return self.flow == "queue"

    def spelled(self) -> str:
        """`train_batch_size 16 × n 5 = 80`."""
        if self.flow == "async":
            batches = self.settings.integer("async_training.require_batches")
            return f"ppo_mini_batch_size {self.prompts // (batches or 1)} × require_batches {batches} × n {self.n}" + (
                f" = {self.samples}"
            )
        name = self.place.rpartition(".")[2]
        return f"{name} {self.prompts} × n {self.n} = {self.samples}"


@dataclass(frozen=True)
class Learner:
    """What is trained in mini-batches: the actor or the critic."""

    name: str
    prefix: str
    mini: int
    """In prompts."""
    layout: Training | None
    dynamic: bool
    """Micro-batches are cut by tokens, not by a number of samples."""

    @property
    def mini_key(self) -> str:
        return f"{self.prefix}.ppo_mini_batch_size"

    @property
    def micro_key(self) -> str:
        return f"{self.prefix}.ppo_micro_batch_size_per_gpu"


def release(settings: Settings) -> tuple[int, ...]:
    return version_key(settings.release)


def flow_of(case: Case) -> Flow | None:
    """None: the module trains nothing."""
    module, settings = case.job.trainer.module, case.settings
    if module == "verl.trainer.main_generation_server":
        return None
    flow = _FLOWS.get(module, "other")
    classic = module != "verl.trainer.main_ppo" or settings.truth("trainer.use_v1") is False
    return flow if classic or release(settings) < _QUEUE_SINCE else "queue"


def sure(case: Case) -> Severity:
    """The severity of what verl certainly refuses: with a trainer or a configuration of the user's own nothing is."""
    settings = case.settings
    known = flow_of(case) != "other" and settings.config in configs(settings.release)
    return "error" if known else "warning"


def batch_of(case: Case) -> Batch | None:
    """None when a size is no positive number, or the module trains nothing."""
    settings, flow = case.settings, flow_of(case)
    n = settings.positive(N)
    mode = (settings.text("trainer.v1.trainer_mode") or "sync") if flow == "queue" else ""
    if flow is None or n is None:
        return None
    prompts, place = _prompts(settings, flow, mode)
    return (
        None
        if prompts is None
        else Batch(settings, flow, uses_engine(case.settings), mode, prompts, n, place, sure(case))
    )


def learners(case: Case) -> list[Learner]:
    """The actor, and the critic where the job has one; without those whose mini-batch is no positive number."""
    settings = case.settings
    roles = [("actor", ACTOR)] + ([(CRITIC, CRITIC)] if needs_critic(settings) else [])
    found = []
    for name, prefix in roles:
        mini = settings.positive(f"{prefix}.ppo_mini_batch_size")
        # Workers over engines never hand the critic's own choice on: it is cut by tokens (EngineConfig's default).
        dynamic = settings.truth(f"{prefix}.use_dynamic_bsz") is True or (name == CRITIC and uses_engine(case.settings))
        if mini is not None:
            found.append(Learner(name, prefix, mini, layout_of(case, prefix), dynamic))
    return found


def layout_of(case: Case, prefix: str) -> Training | None:
    """The layout that cuts the data; None where it cannot be told (other engines, data-dependent context sizes)."""
    settings = case.settings
    layout = parallel.training(settings, prefix)
    if layout is None or settings.truth(f"{prefix}.megatron.dynamic_context_parallel"):
        return None
    if prefix == CRITIC and layout.strategy in ("fsdp", "fsdp2") and uses_engine(case.settings):
        # The critic's own key is not handed on to its engine (FSDPCriticConfig).
        layout = dataclasses.replace(layout, sequence=settings.positive(_CRITIC_SEQUENCE) or 1)
    return layout if layout.data_parallel else None


def layout_unknown(case: Case) -> bool:
    """The actor's layout cannot be told at all; one that does not divide the world is a finding of the layout's."""
    settings = case.settings
    if settings.text(f"{ACTOR}.strategy") is None:
        return False
    return parallel.training(settings, ACTOR) is None or bool(
        settings.truth(f"{ACTOR}.megatron.dynamic_context_parallel")
    )


def refills_one_by_one(settings: Settings) -> bool:
    """The trainer over a transfer queue takes one prompt at a time, whatever gen_batch_size the job sets.

    trainer/ppo/v1/trainer_base.py, requires_exact_refill.
    """
    refill = ("algorithm.filter_groups.enable", "trainer.v1.sampler.sync_refill_failed_groups")
    mode = settings.text("trainer.v1.trainer_mode") or "sync"
    return mode != "sync" or any(settings.truth(key) is True for key in refill)


def absent(case: Case, key: str) -> bool:
    """Null or not there, and known to be: not a value that nobody can tell before the run."""
    return case.settings.value(key) is None and last_text(case.job, key) in (None, "null")


def step_for(divisor: int, n: int) -> int:
    """The smallest number of prompts whose samples (x n) divide by `divisor`; its multiples do too."""
    return divisor // gcd(divisor, n)


def nearest_multiples(value: int, step: int) -> str:
    """`16 or 24`: the multiples of `step` around `value`, positive ones only."""
    below = value // step * step
    return " / ".join(str(size) for size in (below, below + step) if size > 0)


def nearest_divisors(value: int, wanted: int, *, unit: int = 1) -> str:
    """The divisors of `value` around `wanted`, of those that are multiples of `unit`; empty: there is none."""
    sizes = [size for size in divisors(value) if size % unit == 0]
    around = [
        max((size for size in sizes if size <= wanted), default=0),
        *[size for size in sizes if size > wanted][:1],
    ]
    return " / ".join(str(size) for size in around if size)


def validated_divisor(settings: Settings, layout: Training) -> int:
    """What validate_config divides the samples by without dynamic batch sizes."""
    if layout.strategy != "megatron":
        return layout.world
    micro = settings.positive(f"{ACTOR}.ppo_micro_batch_size_per_gpu") or 1
    return (layout.data_parallel or 1) * micro


def _prompts(settings: Settings, flow: Flow, mode: str) -> tuple[int | None, str]:
    train = settings.positive(TRAIN)
    if flow == "async":
        mini, batches = settings.positive(MINI), settings.positive("async_training.require_batches")
        return (mini * batches if mini and batches else None), MINI
    if flow in ("ray", "one_step") and settings.value(GEN) is not None:  # the data loader's batch size
        return settings.positive(GEN), GEN
    if mode == "separate_async":
        steps = settings.positive(SYNC_STEP)
        return (train // steps or None if train and steps and train % steps == 0 else None), TRAIN
    return train, TRAIN
