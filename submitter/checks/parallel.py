"""The parallel layout that a job asks for: world, actor and rollout sizes. Pure arithmetic on settings."""

from __future__ import annotations

from dataclasses import dataclass

from submitter.checks.settings import Settings

ACTOR = "actor_rollout_ref.actor"
REF = "actor_rollout_ref.ref"
ROLLOUT = "actor_rollout_ref.rollout"


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
    """Ulysses sequence parallel size (FSDP)."""

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
        product = " × ".join(f"{name} {size}" for name, size in sizes if size > 1) or "1"
        result = "no whole number" if self.data_parallel is None else f"DP {self.data_parallel}"
        return f"world {self.world} / ({product}) = {result}"


@dataclass(frozen=True)
class Rollout:
    """One rollout replica's sizes; the world is cut into replicas of TP x DP x PP."""

    world: int
    tensor: int = 1
    data: int = 1
    pipeline: int = 1
    expert: int = 1

    @property
    def replica(self) -> int:
        """NPUs of one replica."""
        return self.tensor * self.data * self.pipeline


def world_size(settings: Settings) -> int | None:
    """NPUs that verl trains on: `trainer.nnodes` x `trainer.n_gpus_per_node`."""
    nodes, npus = settings.integer("trainer.nnodes"), settings.integer("trainer.n_gpus_per_node")
    return None if not nodes or not npus or nodes < 1 or npus < 1 else nodes * npus


def training(settings: Settings, role: str = ACTOR) -> Training | None:
    """The layout of the actor (or the reference model, `REF`); None when a size is no positive number."""
    world = world_size(settings)
    strategy = settings.text(f"{role}.strategy")
    if world is None or strategy is None:
        return None
    if strategy == "megatron":
        sizes = {name: _size(settings, f"{role}.megatron.{key}") for name, key in _MEGATRON.items()}
        virtual = settings.integer(f"{role}.megatron.virtual_pipeline_model_parallel_size")
        expert_tensor = settings.integer(f"{role}.megatron.expert_tensor_parallel_size")
        sizes["expert_tensor"] = sizes["tensor"] if expert_tensor is None else max(expert_tensor, 0) or None
        if None in sizes.values():
            return None
        return Training(strategy, world, virtual_pipeline=virtual, **sizes)  # type: ignore[arg-type]
    sequence = _size(settings, _SEQUENCE.get(strategy, f"{role}.ulysses_sequence_parallel_size").format(role=role))
    return None if sequence is None else Training(strategy, world, sequence=sequence)


def rollout(settings: Settings) -> Rollout | None:
    """None when a size is no positive number."""
    world = world_size(settings)
    sizes = [_size(settings, f"{ROLLOUT}.{key}") for key in _ROLLOUT]
    if world is None or None in sizes:
        return None
    return Rollout(world, *sizes)  # type: ignore[arg-type]


_MEGATRON = {
    "tensor": "tensor_model_parallel_size",
    "pipeline": "pipeline_model_parallel_size",
    "context": "context_parallel_size",
    "expert": "expert_model_parallel_size",
}
_SEQUENCE = {"veomni": "{role}.veomni.ulysses_parallel_size"}
_ROLLOUT = (
    "tensor_model_parallel_size",
    "data_parallel_size",
    "pipeline_model_parallel_size",
    "expert_parallel_size",
)


def _size(settings: Settings, key: str) -> int | None:
    """A key that does not exist counts as 1."""
    if settings.value(key) is None and not settings.is_set(key):
        return 1
    size = settings.integer(key)
    return size if size is not None and size >= 1 else None
