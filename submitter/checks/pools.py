"""The resource pools that a trainer asks Ray for, one after the other, against the nodes that the job reserves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runtime_env.verl_defaults import version_key
from submitter.checks import parallel
from submitter.checks.settings import Settings
from submitter.gang.share import Group, NoRoomError, share

TRAINER = ("trainer.nnodes", "trainer.n_gpus_per_node")
STANDALONE = ("rollout.nnodes", "rollout.n_gpus_per_node")
"""Of one_step_off_policy and fully_async_policy; their main copies it to actor_rollout_ref.rollout."""
V1_STANDALONE = (f"{parallel.ROLLOUT}.nnodes", f"{parallel.ROLLOUT}.n_gpus_per_node")

_V1_SINCE = (0, 9, 0)
_PLACES_TRIED = 50_000
"""Nodes times engines, a fraction of a second; beyond it the NPUs are only added up."""


@dataclass(frozen=True)
class Pool:
    name: str
    """As a message calls it: the first part of its keys."""
    nodes: int
    npus: int
    """On each of them."""
    keys: tuple[str, str]
    replica: int | None = None
    """NPUs of one engine; every engine of a standalone pool asks for its own. None: one pool for all."""

    @property
    def total(self) -> int:
        return self.nodes * self.npus

    @property
    def requests(self) -> int:
        """How many placement requests it is."""
        return 1 if self.replica is None else self.total // self.replica

    def spelled(self) -> str:
        return f"{self.name} {self.nodes} × {self.npus}"

    def wanted(self) -> Iterator[list[int]]:
        """What verl asks for: bundles per node, once or for each engine."""
        if self.replica is None:
            yield [self.npus] * self.nodes
            return
        on_node = min(self.npus, self.replica)
        for _ in range(self.total // self.replica):
            yield [on_node] * max(1, self.replica // on_node)


def pools(settings: Settings) -> list[Pool] | None:
    """In the order in which verl asks for them; None when a size is not known."""
    found = list(_pools(settings))
    known = [pool for pool in found if pool is not None and pool.nodes >= 1 and pool.npus >= 1]
    return known if len(known) == len(found) else None


def separate(settings: Settings) -> bool:
    """The rollout has nodes of its own."""
    return settings.config.startswith(("fully_async", "one_step_off")) or _v1_separate(settings)


def fit(asked: list[Pool], nodes: int, npus: int) -> bool:
    """Whether a gang of `nodes` × `npus` has room for all of them, as the gang itself shares it out."""
    if sum(pool.total for pool in asked) > nodes * npus:
        return False
    if nodes * sum(pool.requests for pool in asked) > _PLACES_TRIED:
        return all(pool.npus <= npus for pool in asked)
    used = [0] * nodes
    try:
        for wanted in (one for pool in asked for one in pool.wanted()):
            groups = [Group(f"{index:08}", npus, taken) for index, taken in enumerate(used)]
            for (index, _), size in zip(share(groups, wanted), wanted, strict=True):
                used[index] += size
    except NoRoomError:
        return False
    return True


def _pools(settings: Settings) -> Iterator[Pool | None]:
    yield _pool(settings, "trainer", TRAINER)
    if separate(settings):
        keys = V1_STANDALONE if _v1_separate(settings) else STANDALONE
        if settings.integer(keys[0]) != 0:  # 0: the trainer's nodes do it (dynamic scheduling)
            layout = parallel.rollout(settings)
            yield _pool(settings, "rollout", keys, layout.replica if layout else None) if layout else None
    for prefix in ("reward.reward_model", "reward_model"):
        if settings.truth(f"{prefix}.enable_resource_pool"):
            yield _pool(settings, prefix, (f"{prefix}.nnodes", f"{prefix}.n_gpus_per_node"))
            break
    if settings.truth("distillation.enabled"):
        yield _pool(settings, "distillation", ("distillation.nnodes", "distillation.n_gpus_per_node"))


def _pool(settings: Settings, name: str, keys: tuple[str, str], replica: int | None = None) -> Pool | None:
    nodes, npus = (settings.integer(key) for key in keys)
    return None if nodes is None or npus is None else Pool(name, nodes, npus, keys, replica)


def _v1_separate(settings: Settings) -> bool:
    return (
        version_key(settings.release) >= _V1_SINCE
        and settings.config == "ppo_trainer"
        and settings.truth("trainer.use_v1") is True
        and settings.text("trainer.v1.trainer_mode") == "separate_async"
    )


def spelled(asked: list[Pool]) -> Mapping[str, object]:
    """`trainer 4 × 16 + rollout 2 × 16 = 96`."""
    return {"pools": " + ".join(pool.spelled() for pool in asked), "total": sum(pool.total for pool in asked)}
