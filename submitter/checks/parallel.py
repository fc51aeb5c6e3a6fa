"""The parallel layout that a job asks for: world, actor and rollout sizes. Pure arithmetic on settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

from submitter.checks.settings import Settings

ACTOR = "actor_rollout_ref.actor"
REF = "actor_rollout_ref.ref"
CRITIC = "critic"
ROLLOUT = "actor_rollout_ref.rollout"

_CACHED = 8
"""Layouts of the last jobs: actor, reference model, critic and rollout of two."""

LARGEST_SIZE = 1_000_000
"""Of one parallel size, and of NPUs per node or nodes; what is above is no layout, and its arithmetic could be long."""

_DIVIDED = LARGEST_SIZE**2
"""Nodes times NPUs. Of a larger number (a job may set any) divisors are not looked for: it would take for ever."""


@dataclass(frozen=True)
class Training:
    """Sizes in processes (one per NPU); what a strategy does not have is 1."""

    strategy: str
    """`fsdp`, `fsdp2`, `megatron`, `veomni`, `torchtitan` …"""
    world: int
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    expert_tensor: int = 1
    virtual_pipeline: int | None = None
    sequence: int = 1
    """Ulysses sequence parallel size (FSDP, VeOmni)."""
    section: str = ""
    """The keys of a Megatron layout are `<section>.tensor_model_parallel_size` …; empty for other strategies."""

    @property
    def model_parallel(self) -> int:
        """Processes that hold one replica of the data: TP x PP x CP, or the sequence parallel size."""
        return self.tensor * self.pipeline * self.context * self.sequence

    @property
    def data_parallel(self) -> int | None:
        """World over model parallel; None when it does not divide."""
        return None if self.world % self.model_parallel else self.world // self.model_parallel

    @property
    def packing(self) -> int:
        """What a token cap per NPU is multiplied by: context or sequence parallel size."""
        return self.context * self.sequence

    def spelled(self) -> str:
        """`world 64 / (TP 2 x PP 4 x CP 4) = DP 2`."""
        sizes = [("TP", self.tensor), ("PP", self.pipeline), ("CP", self.context), ("SP", self.sequence)]
        product = " × ".join(f"{name} {size}" for name, size in sizes if size > 1)
        whole = self.data_parallel
        result = quotient(self.world, self.model_parallel) if whole is None else f"DP {whole}"
        return f"world {self.world} / {f'({product})' if product else 1} = {result}"


@dataclass(frozen=True)
class Rollout:
    """One rollout replica's sizes; the world is cut into replicas of TP x DP x PP."""

    world: int
    """NPUs of all replicas together."""
    tensor: int = 1
    data: int = 1
    pipeline: int = 1
    expert: int = 1
    node: int = 1
    """NPUs per node, of those that hold the replicas."""
    separate: bool = False
    """The replicas have nodes of their own, not those of the trainer."""

    @property
    def replica(self) -> int:
        """NPUs of one replica."""
        return self.tensor * self.data * self.pipeline


def quotient(number: int, by: int) -> str:
    """`3`, or `2.66` where it does not come out: two places, cut off; `by` is at least 1."""
    hundredths = number * 100 // by
    return f"{number // by}" if number % by == 0 else f"{hundredths // 100}.{hundredths % 100:02d}"


def divisors(count: int) -> list[int]:
    """In order; `count` is at least 1. Of one that is no size of anything only 1 and itself."""
    if count > _DIVIDED:
        return [1, count]
    small = [size for size in range(1, isqrt(count) + 1) if count % size == 0]
    return sorted({*small, *(count // size for size in small)})


def world_size(settings: Settings) -> int | None:
    """NPUs that verl trains on: `trainer.nnodes` x `trainer.n_gpus_per_node`."""
    nodes, npus = _count(settings, "trainer.nnodes"), _count(settings, "trainer.n_gpus_per_node")
    return None if nodes is None or npus is None else nodes * npus


def shares(heads: int, ranks: int) -> bool:
    """Key-value heads can be shared out to ranks, or repeated on them, in whole numbers."""
    return heads % ranks == 0 or ranks % heads == 0


@lru_cache(maxsize=_CACHED)  # Settings never change; forty rules ask
def training(settings: Settings, role: str = ACTOR) -> Training | None:
    """The layout of the actor (or of `REF`, `CRITIC`).

    None when a size is no positive number, or when the strategy is not known.
    """
    world = world_size(settings)
    strategy = settings.text(f"{role}.strategy")
    if world is None or strategy is None:
        return None
    if strategy == "megatron" or settings.text(f"{role}.{strategy}.strategy") == "mindspeed_megatron":
        return _megatron(settings, strategy, world, f"{role}.{strategy}")
    if strategy == "torchtitan":
        titan = {name: _size(settings, f"{role}.torchtitan.{key}") for name, key in _TORCHTITAN.items()}
        return None if None in titan.values() else Training(strategy, world, **titan)  # type: ignore[arg-type]
    if strategy not in _SEQUENCE:
        return None
    sizes = [_size(settings, key.format(role=role)) for key in _SEQUENCE[strategy]]
    known = [size for size in sizes if size is not None]
    expert = _size(settings, f"{role}.veomni.expert_parallel_size") if strategy == "veomni" else 1
    if len(known) < len(sizes) or expert is None:
        return None
    return Training(strategy, world, sequence=next((size for size in known if size > 1), 1), expert=expert)


@lru_cache(maxsize=_CACHED)
def rollout(settings: Settings) -> Rollout | None:
    """None when a size is no positive number."""
    pool = _rollout_pool(settings)
    sizes = {name: _size(settings, f"{ROLLOUT}.{key}") for name, key in _ROLLOUT.items()}
    if pool is None or None in sizes.values():
        return None
    nodes, node, separate = pool
    return Rollout(nodes * node, node=node, separate=separate, **sizes)  # type: ignore[arg-type]


def _megatron(settings: Settings, strategy: str, world: int, section: str) -> Training | None:
    sizes = {name: _size(settings, f"{section}.{key}") for name, key in _MEGATRON.items()}
    virtual = settings.integer(f"{section}.virtual_pipeline_model_parallel_size")
    expert_tensor = settings.integer(f"{section}.expert_tensor_parallel_size")
    sizes["expert_tensor"] = sizes["tensor"] if expert_tensor is None else max(expert_tensor, 0) or None
    if None in sizes.values():
        return None
    return Training(strategy, world, virtual_pipeline=virtual, section=section, **sizes)  # type: ignore[arg-type]


def _own_nodes(settings: Settings) -> bool:
    """Without a config of its own: `hybrid_engine=False`, or the mode of verl's newer trainer (trainer/ppo/v1)."""
    if settings.text("trainer.v1.trainer_mode") == "separate_async":
        return True
    return settings.truth("actor_rollout_ref.hybrid_engine") is False and bool(settings.integer(f"{ROLLOUT}.nnodes"))


def _rollout_pool(settings: Settings) -> tuple[int, int, bool] | None:
    """(nodes, NPUs per node, whether they are the rollout's own)."""
    if settings.config.startswith(_SEPARATE):
        keys, separate = ("rollout.nnodes", "rollout.n_gpus_per_node"), True
    elif _own_nodes(settings):
        keys, separate = (f"{ROLLOUT}.nnodes", f"{ROLLOUT}.n_gpus_per_node"), True
    else:
        keys, separate = ("trainer.nnodes", "trainer.n_gpus_per_node"), False
    nodes, npus = (_count(settings, key) for key in keys)
    return None if nodes is None or npus is None else (nodes, npus, separate)


_MEGATRON = {
    "tensor": "tensor_model_parallel_size",
    "pipeline": "pipeline_model_parallel_size",
    "context": "context_parallel_size",
    "expert": "expert_model_parallel_size",
}
_TORCHTITAN = {
    "tensor": "tensor_parallel_size",
    "pipeline": "pipeline_parallel_size",
    "context": "context_parallel_size",
    "expert": "expert_parallel_size",
}
_ULYSSES = (
    # The role's own counts where it is above 1 (workers/config/actor.py).
    "{role}.ulysses_sequence_parallel_size",
    "{role}.fsdp_config.ulysses_sequence_parallel_size",
)
_SEQUENCE = {
    "fsdp": _ULYSSES,
    "fsdp2": _ULYSSES,
    "veomni": ("{role}.veomni.ulysses_parallel_size",),
}
_SEPARATE = ("fully_async_", "one_step_off_")
"""Configs whose trainer and rollout have nodes of their own."""
_ROLLOUT = {
    "tensor": "tensor_model_parallel_size",
    "data": "data_parallel_size",
    "pipeline": "pipeline_model_parallel_size",
    "expert": "expert_parallel_size",
}


def _size(settings: Settings, key: str) -> int | None:
    """A key that does not exist counts as 1."""
    if settings.value(key) is None and not settings.is_set(key):
        return 1
    return _count(settings, key)


def _count(settings: Settings, key: str) -> int | None:
    size = settings.integer(key)
    return size if size is not None and 1 <= size <= LARGEST_SIZE else None
