"""Reserve all nodes of the gang or none, waiting within a bound and saying what is missing."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .compat import pinned_group, supports_bundle_labels
from .ended import Ended, Stop
from .members import Gang, Member
from .nodes import read_holders, read_nodes
from .placement import CPUS_PER_NPU, Choice, Need, NodeFacts, choose, could_fit, need_of, rows, summary
from .plan import Plan
from .say import say

GROUPS_WAIT_S = 5.0
"""A group whose node has the room is created in milliseconds: past this, someone else was quicker."""

LOOK_EVERY_S = 0.05
RETRY_AFTER_S = (0.5, 3.0)
"""A random pause in this range before the next try, so that two submitters that each hold half do not go on so."""

REPORT_EVERY_S = 15.0
ROWS_SHOWN = 100


def reserve(plan: Plan, attempt: str, stop: Stop, trials: Iterator[int]) -> Gang:
    """The gang, every group created and pinned. Raises Ended: not_placed at the bound, stopped.

    `trials` numbers the tries of the attempt, since Ray frees a group's name later than the group.
    """
    need = need_of(plan)
    waiting = _Waiting(plan.place_wait_s, need)
    while True:
        stop.check()
        choice = choose(nodes := read_nodes(), need)
        if choice.chosen:
            groups, late = _try(choice.chosen, plan, f"npurun-{attempt}-t{next(trials)}", stop)
            if not late:
                return _gang(plan, attempt, choice.chosen, groups)
            choice = dataclasses.replace(choice, lacking=_late(late))
        waiting.tell(choice, nodes)
        _pause(random.uniform(*RETRY_AFTER_S), stop)


def bundles(plan: Plan) -> list[dict[str, float]]:
    """One node's bundles in the launcher's shape."""
    if plan.launcher == "ray":
        return [{"NPU": 1, "CPU": CPUS_PER_NPU["ray"]} for _ in range(plan.npus_per_node)]
    return [{"NPU": plan.npus_per_node, "CPU": plan.npus_per_node * CPUS_PER_NPU["torchrun"]}]


class _Waiting:
    """How long there is still to wait, and the report every 15 s."""

    def __init__(self, bound_s: float, need: Need, clock: Callable[[], float] = time.monotonic) -> None:
        self._need = need
        self._clock = clock
        self._bound_s = bound_s
        self._began = clock()
        self._told: float | None = None

    def tell(self, choice: Choice, nodes: Sequence[NodeFacts]) -> None:
        now = self._clock()
        over = now - self._began >= self._bound_s
        if not over and self._told is not None and now - self._told < REPORT_EVERY_S:
            return
        lines = rows(choice, read_holders())
        say(self._headline(choice, nodes, now - self._began))
        _tell_rows(lines)
        self._told = now
        if over:
            raise Ended("not_placed", evidence=(summary(choice, self._need), *lines[:ROWS_SHOWN]))

    def _headline(self, choice: Choice, nodes: Sequence[NodeFacts], waited: float) -> str:
        # The last try may end after the bound.
        left = f"waited {int(min(waited, self._bound_s))} s of {self._bound_s:g} s"
        possible = could_fit(nodes, self._need)
        never = f"; even when free only {possible} would fit" if possible < self._need.nodes else ""
        return f"placement: cannot fit now: {summary(choice, self._need)} ({self._need}){never}; {left}"


def _tell_rows(lines: Sequence[str]) -> None:
    for line in lines[:ROWS_SHOWN]:
        say(f"  {line}")
    if len(lines) > ROWS_SHOWN:
        say(f"  and {len(lines) - ROWS_SHOWN} nodes more")


def _try(
    chosen: Sequence[NodeFacts], plan: Plan, name: str, stop: Stop
) -> tuple[tuple[Any, ...], tuple[NodeFacts, ...]]:
    """(all groups, created; none) or, when one does not come in time, all are given back: (none; the late nodes)."""
    groups: list[Any] = []
    try:
        for index, node in enumerate(chosen):
            groups.append(_group(node, plan, f"{name}-n{index}"))
        late = _late_ones(groups, stop)
    except BaseException:  # a stop too: a half reservation would hold others up
        give_back(groups)
        raise
    if not late:
        return tuple(groups), ()
    give_back(groups)
    return (), tuple(node for node, group in zip(chosen, groups, strict=True) if group in late)


def _group(node: NodeFacts, plan: Plan, name: str) -> Any:
    from ray.util.placement_group import placement_group

    pinned = pinned_group(bundles(plan), node.node_id, node.ip, by_label=supports_bundle_labels())
    return placement_group(strategy="STRICT_PACK", name=name, **pinned)


def _late_ones(groups: Sequence[Any], stop: Stop) -> list[Any]:
    """Groups that are not created within the bound."""
    # Looks at the table: PlacementGroup.wait counts in whole seconds and would delay a stop.
    from ray.util import placement_group_table

    deadline = time.monotonic() + GROUPS_WAIT_S
    late = list(groups)
    while late := [group for group in late if placement_group_table(group).get("state") != "CREATED"]:
        stop.check()
        if time.monotonic() > deadline:
            break
        time.sleep(LOOK_EVERY_S)
    return late


def _late(nodes: Sequence[NodeFacts]) -> str:
    ips = ", ".join(node.ip for node in nodes)
    return f"no reservation on {ips} within {GROUPS_WAIT_S:g} s: another job was quicker, or Ray does not answer there"


def give_back(groups: Sequence[Any]) -> None:
    from ray.util import remove_placement_group

    for group in groups:
        remove_placement_group(group)


def _gang(plan: Plan, attempt: str, chosen: Sequence[NodeFacts], groups: tuple[Any, ...]) -> Gang:
    say(f"placement: {len(chosen)} nodes x {plan.npus_per_node} NPU reserved: {', '.join(node.ip for node in chosen)}")
    return Gang(
        attempt=attempt,
        members=tuple(_member(node) for node in chosen),
        groups=groups,
        bundles_per_group=len(bundles(plan)),
        supports_label_selector=supports_bundle_labels(),
        labels=plan.labels,
    )


def _member(node: NodeFacts) -> Member:
    """`node` as it was before the gang took its part."""
    return Member(node.node_id, node.ip, node.hostname, node.npus, node.cpus, shared=node.npus_free < node.npus)


def _pause(seconds: float, stop: Stop) -> None:
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        stop.check()
        time.sleep(min(0.2, left))
