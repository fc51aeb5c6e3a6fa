"""Lets verl adopt the gang. Loaded through VERL_USE_EXTERNAL_MODULES by every process that imports verl.

Does nothing outside an attempt (NPURUN_ATTEMPT unset). Otherwise, at import and without a word, it resolves the job's
secrets into the environment, keeps verl's file logger from an earlier attempt's file, lets the other loggers go on with
the run's curves, checks every name of verl that it relies on, and then
- `RayResourcePool.get_placement_groups` returns the pool's share of the gang's groups,
- `ResourcePoolManager._check_resource_available` asks the gang (all its NPUs count as used by then),
- new actors that hold no NPU stay on the gang's nodes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from . import secrets
from .attempt_safe import left_to_process, number_of
from .loggers import continued
from .members import ATTEMPT_VARIABLE, RUN_VARIABLE
from .pinning import Pinning, sees_gang_only

# Function of verl/single_controller/ray/base.py → the name that its body has to use for the handover to work.
# The same in 0.7.1, 0.8.0, 0.9.0 and 0.9.1.
USES = (
    ("ResourcePoolManager.create_resource_pool", "_check_resource_available"),
    ("ResourcePoolManager._check_resource_available", "resource_pool_spec"),
    ("RayResourcePool.get_placement_groups", "_store"),
    ("RayResourcePool.__init__", "pgs"),
    ("RayResourcePool.__init__", "use_gpu"),
    ("RayResourcePool.__init__", "name_prefix"),
    ("RayResourcePool.get_placement_groups", "max_colocate_count"),
    ("RayWorkerGroup._init_with_resource_pool", "get_placement_groups"),
    ("RayWorkerGroup._init_with_subresource_pool", "get_placement_groups"),
    ("RayWorkerGroup._get_master_addr_port", "PlacementGroupSchedulingStrategy"),
    ("RayClassWithInitArgs.__call__", "PlacementGroupSchedulingStrategy"),
)


class UnsupportedVerlError(ImportError):
    """This verl lacks something that the handover rests on."""


def install() -> None:
    """Everything above, in the process that imports verl. Raises UnsupportedVerlError or SecretMissingError."""
    references = json.loads(os.environ.get(secrets.REFERENCES_VARIABLE) or "{}")
    os.environ.update(secrets.resolve(references, os.environ))
    os.environ.update(left_to_process(os.environ, number_of(os.environ[ATTEMPT_VARIABLE])))
    os.environ.update(continued(os.environ, os.environ[RUN_VARIABLE], _home()))
    import ray
    import verl
    import verl.single_controller.ray.base as base
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from . import adopt

    def held() -> adopt.Holding:
        return adopt.holding(os.environ[ATTEMPT_VARIABLE])

    check_names(base, getattr(verl, "__version__", "of unknown version"))
    hand_over(base, held, adopt.strategy_within)
    keep_on_gang(ray, held, lambda node_id: NodeAffinitySchedulingStrategy(node_id, soft=False))


def _home() -> Path | None:
    """None: of a user id without a name, as in some containers, and without $HOME."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def check_names(base: ModuleType, version: str) -> None:
    """Raises UnsupportedVerlError that tells the first name which verl's code lacks or no longer uses."""
    for path, name in USES:
        code = getattr(_lookup(base, path), "__code__", None)
        if code is None:
            raise _unsupported(version, f"has no {path}")
        if name not in code.co_names:
            raise _unsupported(version, f"does not use {name} in {path}")


def _lookup(base: ModuleType, path: str) -> Any:
    owner, _, name = path.partition(".")
    return getattr(getattr(base, owner, None), name, None)


def _unsupported(version: str, what: str) -> UnsupportedVerlError:
    return UnsupportedVerlError(
        f"npurun cannot hand its reservation to verl {version}: it {what} (verl/single_controller/ray/base.py); "
        f"use a verl from 0.7.1 to 0.9.1"
    )


def hand_over(base: Any, held: Callable[[], Any], strategy_within: Callable[[Any], Any]) -> None:
    """Lets the pools of verl's module `base` take their groups from `held()`, and workers start inside views."""

    def get_placement_groups(self: Any, strategy: str = "", name: str | None = None, device_name: str = "") -> Any:
        if self.pgs is None:
            self.pgs = _groups(self, held())
        return self.pgs

    def _check_resource_available(self: Any) -> None:
        held().check(self.resource_pool_spec)

    base.RayResourcePool.get_placement_groups = get_placement_groups
    base.ResourcePoolManager._check_resource_available = _check_resource_available
    base.PlacementGroupSchedulingStrategy = strategy_within(base.PlacementGroupSchedulingStrategy)


def _groups(pool: Any, held: Any) -> list[Any]:
    if pool.use_gpu:
        return list(held.take(pool.name_prefix, pool._store))
    return list(held.cpu_groups(pool.name_prefix, pool._store, pool.max_colocate_count))


def keep_on_gang(ray: Any, held: Callable[[], Any], affinity: Callable[[str], Any]) -> None:
    """Gives new actors of this process a place on the gang, and shows verl's own code the gang's nodes only."""
    create, all_nodes = ray.actor.ActorClass._remote, ray.nodes
    made: list[Pinning] = []

    def pinning() -> Pinning:
        if not made:
            made.append(Pinning(held().node_ids, by_label=held().by_label, affinity=affinity))
        return made[0]

    def _remote(self: Any, args: Any = None, kwargs: Any = None, **options: Any) -> Any:
        if not ray.is_initialized():
            ray.init()  # what Ray itself does on the first actor
        return create(self, args, kwargs, **pinning().options(options))

    def nodes() -> list[Any]:
        found = list(all_nodes())
        if not sees_gang_only(sys._getframe(1).f_globals.get("__name__", "")):
            return found
        return [node for node in found if node["NodeID"] in held().node_ids]

    ray.actor.ActorClass._remote = _remote
    ray.nodes = nodes


if os.environ.get(ATTEMPT_VARIABLE):
    install()
