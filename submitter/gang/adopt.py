"""The trainer's side of the reservation: finds the gang by its named actor and hands out its placement groups.

Nothing is ever removed or created anew for NPUs: a group that is released lets any waiting task in.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group

from .compat import pinned_group
from .members import ACTOR_NAME, namespace

ANSWER_TIMEOUT_S = 30
"""The gang's actor answers in milliseconds; on an overloaded node a call was seen to take seconds."""

CPU_GROUP_WAIT_S = 10
"""A group without NPUs comes in milliseconds or, since the gang holds the CPUs, not at all."""


class HandoverError(RuntimeError):
    """verl cannot be given what it asks for; one line that says why."""


class BundleView(PlacementGroup):  # type: ignore[misc]  # Ray has no types
    """A run of bundles of one group that looks to verl like a group of its own.

    It bears the id of the whole group; `strategy_within` adds `first` to every bundle index.
    """

    def __init__(self, whole: PlacementGroup, first: int, count: int) -> None:
        super().__init__(whole.id, bundle_cache=whole.bundle_specs[first : first + count])
        self.whole = whole
        self.first = first


def strategy_within(strategy_class: Callable[..., Any]) -> Callable[..., Any]:
    """Ray's PlacementGroupSchedulingStrategy, for views too: their bundle indexes are shifted into the whole group."""

    def strategy(placement_group: PlacementGroup, placement_group_bundle_index: int = -1, **options: Any) -> Any:
        if not isinstance(placement_group, BundleView):
            return strategy_class(placement_group, placement_group_bundle_index, **options)
        # -1 is "any bundle"; a view cannot say that, and its first bundle is one of them
        index = placement_group.first + max(placement_group_bundle_index, 0)
        return strategy_class(placement_group.whole, index, **options)

    return strategy


@dataclass(frozen=True)
class Holding:
    """What the attempt holds, as its named actor tells it. `groups[i]` lies on `node_ids[i]`."""

    node_ids: tuple[str, ...]
    ips: tuple[str, ...]
    groups: tuple[PlacementGroup, ...]
    by_label: bool
    """This Ray knows label selectors."""
    actor: Any

    def take(self, pool: str, wanted: Sequence[int]) -> list[PlacementGroup]:
        """Groups (or views) of the pool's share, in verl's order: by node IP as text. Raises HandoverError."""
        answer = _answer(self.actor.take.remote(pool, list(wanted)))
        if answer["refused"] is not None:
            raise _no_room(answer["refused"])
        parts = zip(answer["places"], wanted, strict=True)
        by_ip = sorted(parts, key=lambda part: self.ips[part[0][0]])
        return [_part(self.groups[index], first, count) for (index, first), count in by_ip]

    def check(self, pools: Mapping[str, Sequence[int]]) -> None:
        """Raises HandoverError at once if the pools together do not fit into what is left."""
        refused = _answer(self.actor.refusal.remote({pool: list(wanted) for pool, wanted in pools.items()}))
        if refused is not None:
            raise _no_room(refused)

    def cpu_groups(self, pool: str, wanted: Sequence[int], cpus: int) -> list[PlacementGroup]:
        """New groups without NPUs for a pool that asks for none: entry i on the gang's node i (modulo its size)."""
        nodes = [index % len(self.node_ids) for index in range(len(wanted))]
        groups = [self._cpu_group(f"{pool}_{i}", wanted[i], cpus, node) for i, node in enumerate(nodes)]
        if all(group.wait(CPU_GROUP_WAIT_S) for group in groups):
            return [group for _, group in sorted(zip(nodes, groups, strict=True), key=lambda one: self.ips[one[0]])]
        for group in groups:
            remove_placement_group(group)
        shape = f"{list(wanted)} bundles of {cpus} CPUs"
        raise HandoverError(f"npurun: pool {pool} wants {shape}; the gang's nodes do not have them free")

    def _cpu_group(self, name: str, count: int, cpus: int, node: int) -> PlacementGroup:
        pinned = pinned_group([{"CPU": cpus}] * count, self.node_ids[node], self.ips[node], by_label=self.by_label)
        return placement_group(strategy="STRICT_PACK", name=name, **pinned)


@functools.cache
def holding(attempt: str) -> Holding:
    """What the attempt holds; asked once per process. Raises HandoverError within ANSWER_TIMEOUT_S."""
    try:
        actor = ray.get_actor(ACTOR_NAME, namespace=namespace(attempt))
    except ValueError:
        raise HandoverError(
            f"npurun: no actor {ACTOR_NAME} in namespace {namespace(attempt)}: the driver of this attempt is gone"
        ) from None
    facts = _answer(actor.facts.remote())
    return Holding(
        node_ids=tuple(node["node_id"] for node in facts["nodes"]),
        ips=tuple(node["ip"] for node in facts["nodes"]),
        groups=tuple(_group(hex_id) for hex_id in facts["groups"]),
        by_label=facts["supports_label_selector"],
        actor=actor,
    )


def _group(hex_id: str) -> PlacementGroup:
    from ray._raylet import PlacementGroupID

    return PlacementGroup(PlacementGroupID(bytes.fromhex(hex_id)))


def _answer(call: Any) -> Any:
    try:
        return ray.get(call, timeout=ANSWER_TIMEOUT_S)
    except (ray.exceptions.GetTimeoutError, ray.exceptions.RayActorError) as error:
        why = f"no answer within {ANSWER_TIMEOUT_S} s" if isinstance(error, TimeoutError) else "it is gone"
        raise HandoverError(f"npurun: the gang's actor cannot be asked: {why}") from None


def _part(group: PlacementGroup, first: int, count: int) -> PlacementGroup:
    return group if (first, count) == (0, group.bundle_count) else BundleView(group, first, count)


def _no_room(refused: str) -> HandoverError:
    return HandoverError(f"npurun: {refused}; ask for more in the job's cluster: section, or for smaller pools")
