"""How the trainer's pools divide the reservation: pool → bundles of the gang's groups. Pure, standard library only.

verl asks for one pool after the other (trainer, reward model, teacher, each standalone rollout), and in its
asynchronous trainers from several processes, so the book is kept in one place: the gang's named actor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any


class NoRoomError(Exception):
    """A pool does not fit into what is left of the gang. The message holds both shapes."""


@dataclass(frozen=True)
class Group:
    """One node's placement group. Pools are never given back before the end, so what is free is its tail."""

    ip: str
    bundles: int
    used: int = 0

    @property
    def free(self) -> int:
        return self.bundles - self.used


Place = tuple[int, int]
"""Index of a group and its first bundle."""


def share(groups: Sequence[Group], wanted: Sequence[int]) -> list[Place]:
    """One place per entry of `wanted` (bundles on one node), in its order, each on a node of its own.

    Nodes are tried as verl orders ranks: by IP, compared as text. The largest entry chooses first: a node that has
    room for it has room for every smaller one, so no fitting pool is refused. Raises NoRoomError.
    """
    by_ip = sorted(range(len(groups)), key=lambda index: groups[index].ip)
    chosen: dict[int, int] = {}
    for entry in sorted(range(len(wanted)), key=lambda entry: -wanted[entry]):
        room = (i for i in by_ip if groups[i].free >= wanted[entry] and i not in chosen.values())
        index = next(room, None)
        if index is None:
            raise NoRoomError(f"wants {list(wanted)}, {_held(groups)}")
        chosen[entry] = index
    return [(chosen[entry], groups[chosen[entry]].used) for entry in range(len(wanted))]


class GangActor:
    """What the gang's named actor runs: one call at a time, so two processes never get the same bundle.

    `ray.remote(num_cpus=0)(GangActor).options(name=ACTOR_NAME, namespace=…).remote(gang.facts())`
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = dict(facts)
        self._groups = [Group(node["ip"], facts["bundles_per_group"]) for node in facts["nodes"]]

    def facts(self) -> dict[str, Any]:
        return self._facts

    def take(self, pool: str, wanted: Sequence[int]) -> dict[str, Any]:
        """{"places": the new pool's places until the end of the attempt, "refused": why it gets none | None}."""
        try:
            self._groups, places = _after(self._groups, pool, wanted)
        except NoRoomError as refused:
            return {"places": [], "refused": str(refused)}
        return {"places": places, "refused": None}

    def refusal(self, pools: Mapping[str, Sequence[int]]) -> str | None:
        """Why these pools together do not fit into what is left; None when they do. Takes nothing."""
        groups = self._groups
        try:
            for pool, wanted in pools.items():
                groups, _ = _after(groups, pool, wanted)
        except NoRoomError as refused:
            return str(refused)
        return None


def _after(groups: Sequence[Group], pool: str, wanted: Sequence[int]) -> tuple[list[Group], list[Place]]:
    try:
        places = share(groups, wanted)
    except NoRoomError as refused:
        raise NoRoomError(f"pool {pool} {refused}") from None
    left = list(groups)
    for (index, first), size in zip(places, wanted, strict=True):
        left[index] = replace(left[index], used=first + size)
    return left, places


def _held(groups: Sequence[Group]) -> str:
    sizes = {group.bundles for group in groups}
    free = [group.free for group in groups]
    each = sizes.pop() if len(sizes) == 1 else [group.bundles for group in groups]
    detail = f" ({', '.join(f'{g.ip}: {g.free}' for g in groups)})" if any(free) else ""
    return f"the gang holds {len(groups)} nodes x {each} with {sum(free)} free{detail}"
