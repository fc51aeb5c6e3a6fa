"""Keeps the trainer's actors that hold no NPU on the gang's nodes. Pure: options in, options out.

Left alone, verl's task runner, agent loops, reward workers and TransferQueue land on any node of the cluster, so also
on a quarantined one. Standard library only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .compat import NODE_ID_LABEL

ANYWHERE = (None, "DEFAULT", "SPREAD")
"""Scheduling strategies that leave the node to Ray."""


class Pinning:
    """What Ray's options of one new actor have to be for it to stay on the gang."""

    def __init__(self, node_ids: Sequence[str], *, by_label: bool, affinity: Callable[[str], Any]) -> None:
        """`by_label`: this Ray knows label selectors. `affinity(node_id)` makes a hard node affinity."""
        self._node_ids = tuple(node_ids)
        self._by_label = by_label
        self._affinity = affinity
        self._turn: Iterator[str] = itertools.cycle(self._node_ids)

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """`options`, with a place on the gang unless they name a place or a resource themselves."""
        strategy = options.get("scheduling_strategy")
        if _says_where(options):
            return dict(options)
        if getattr(strategy, "node_id", None) is not None:
            return {**options, "scheduling_strategy": self._kept(strategy)}
        if strategy not in ANYWHERE:
            return dict(options)
        if self._by_label:
            return {**options, "label_selector": {NODE_ID_LABEL: f"in({','.join(self._node_ids)})"}}
        return {**options, "scheduling_strategy": self._affinity(next(self._turn))}

    def _kept(self, strategy: Any) -> Any:
        if not strategy.soft:
            return strategy
        # Ray's soft affinity falls back to any node of the cluster. It differs from a hard one only when the node
        # is dead or too small in total, and a dead node of the gang ends the attempt anyway.
        node_id = strategy.node_id if strategy.node_id in self._node_ids else next(self._turn)
        return self._affinity(node_id)


def _says_where(options: Mapping[str, Any]) -> bool:
    group = options.get("placement_group")
    return bool(
        options.get("label_selector")
        or group not in (None, "default")
        or options.get("resources")  # a resource by name says where, and may exist outside the gang only
        or options.get("num_gpus")
    )


PLACING_PACKAGES = ("verl", "transfer_queue")
"""Packages that place actors, some with a hard affinity, on every node that `ray.nodes()` lists."""

RANK_ORDER_MODULE = "verl.single_controller.ray.base"
"""Looks up nodes of given placement groups, so it has to see all of them."""


def sees_gang_only(module: str) -> bool:
    """Whether code of this module is to see the gang's nodes only when it asks Ray for nodes."""
    return module.split(".", 1)[0] in PLACING_PACKAGES and module != RANK_ORDER_MODULE
