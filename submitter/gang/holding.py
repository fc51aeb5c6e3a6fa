"""Asks processes that hold reserved NPUs, as the trainer's ranks will: one task per node, in its first bundle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .ask import RayNodes
from .probes.inside import inside
from .probes.measure import NotMeasuredError


class Holders(RayNodes):
    """By index of the gang's members. `end` before the bundles are needed for something else."""

    def __init__(self, groups: Sequence[Any], npus: float) -> None:
        """`npus`: of the first bundle of each placement group."""
        super().__init__(())
        self._groups = groups
        self._npus = npus
        self._asked: list[Any] = []

    def ask(self, index: int, method: str, *arguments: Any) -> Any:
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        strategy = PlacementGroupSchedulingStrategy(self._groups[index], placement_group_bundle_index=0)
        options = {"num_cpus": 1, "resources": {"NPU": self._npus}, "max_retries": 0, "name": method}
        task = ray.remote(_METHODS[method]).options(**options, scheduling_strategy=strategy)
        self._asked.append(task.remote(*arguments))
        return self._asked[-1]

    def end(self) -> None:
        """A task that is late would hold what the trainer is to get."""
        import ray

        _, late = ray.wait(self._asked, num_returns=len(self._asked), timeout=0) if self._asked else ([], [])
        for reference in late:
            ray.cancel(reference, force=True)
        self._asked = []


def _inside() -> dict[str, Any]:
    """`{"facts"}`, with the ids that Ray has `given` to this task, or `{"why"}`."""
    import ray

    given = list(map(str, ray.get_runtime_context().get_accelerator_ids().get("NPU", [])))
    try:
        return {"facts": {**inside(), "given": given}}
    except NotMeasuredError as error:
        return {"why": str(error)}


_METHODS = {"inside": _inside}
