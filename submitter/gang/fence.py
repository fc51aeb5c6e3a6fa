"""Before anything is reserved: nothing of an earlier attempt of this run is left on the cluster.

Ray calls a job FAILED seconds before the last of its processes is gone, and a trainer's own daemon may outlive it: the
next attempt would find its devices taken. What belongs to an earlier attempt is proved by NPURUN_RUN and
NPURUN_ATTEMPT in a process's environment, and by the attempt in a placement group's name; never by a program's name.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .ask import Answer, Bound, RayNodes, ask_all
from .ended import Ended, Stop
from .members import Member
from .node_worker import start_node_worker
from .nodes import read_nodes
from .say import clean, say

FENCE_S = 60.0
"""A killed process is gone at once, unless it waits for a device; a device's memory comes back within seconds."""
ASK = Bound(total_s=60.0, grace_s=15.0)
"""The first question waits for the workers' cold start."""
LOOK_EVERY_S = 0.5

_ATTEMPT = re.compile(r"(.+)-a([1-9][0-9]*)", re.DOTALL)


def fence(attempt: str, stop: Stop) -> None:
    """Ends what is left and waits until it is gone. Raises Ended: fence_failed (node and pids), stopped.

    The first attempt of a run has nothing to fence.
    """
    run, number = split(attempt)
    if number <= 1:
        return
    say(f"fence: looking for what earlier attempts of {run} left")
    members = [Member(node.node_id, node.ip, node.hostname) for node in read_nodes() if node.alive]
    workers = [start_node_worker(member, attempt) for member in members]
    try:
        _remove_groups(earlier_groups(_groups(), run, number), stop)
        _sweep([member.ip for member in members], RayNodes(workers), run, number, stop)
    finally:
        _end(workers)


def split(attempt: str) -> tuple[str, int]:
    """`run-a3` → ("run", 3). ValueError: no attempt's id."""
    match = _ATTEMPT.fullmatch(attempt)
    if match is None:
        raise ValueError(f"not an attempt's id: {attempt}")
    return match[1], int(match[2])


def earlier_groups(names: Mapping[str, str], run: str, number: int) -> dict[str, str]:
    """Those of `names` (placement group's name -> hex id) that an earlier attempt of the run made.

    The gang's are named `npurun-<attempt>-t<trial>-n<node>`.
    """
    pattern = re.compile(rf"npurun-{re.escape(run)}-a([1-9][0-9]*)-t[0-9]+-n[0-9]+")
    found = {name: pattern.fullmatch(name) for name in names}
    return {name: names[name] for name, match in found.items() if match and int(match[1]) < number}


def _groups() -> dict[str, str]:
    """Name -> hex id of every placement group that is not removed."""
    from ray.util import placement_group_table

    table: Mapping[str, Mapping[str, Any]] = placement_group_table()
    return {one["name"]: group for group, one in table.items() if one["name"] and one["state"] != "REMOVED"}


def _remove_groups(groups: Mapping[str, str], stop: Stop) -> None:
    from ray._raylet import PlacementGroupID
    from ray.util import remove_placement_group
    from ray.util.placement_group import PlacementGroup

    for name, group in groups.items():
        stop.check()
        say(f"fence: removing the placement group {clean(name)}")
        remove_placement_group(PlacementGroup(PlacementGroupID(bytes.fromhex(group))))


def _sweep(
    ips: Sequence[str],
    workers: RayNodes,
    run: str,
    number: int,
    stop: Stop,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    deadline = clock() + FENCE_S
    left = {index: [""] for index in range(len(ips))}
    while left:
        answers = ask_all(workers, dict.fromkeys(left, (run, number)), "end_earlier", ASK, stop.check)
        _tell(ips, answers)
        left = {index: lines for index, answer in answers.items() if (lines := _lines(answer))}
        if left and clock() > deadline:
            raise _failed(ips, left)
        if left:
            time.sleep(LOOK_EVERY_S)


def _lines(answer: Answer) -> list[str]:
    """What is still there; a node that does not answer may hold anything."""
    return [answer.why] if answer.why is not None else list(answer.value["left"])


def _tell(ips: Sequence[str], answers: Mapping[int, Answer]) -> None:
    for index, answer in answers.items():
        for line in [] if answer.why is not None else answer.value["ended"]:
            say(f"fence: ended on {ips[index]}: {clean(line)}")


def _failed(ips: Sequence[str], left: Mapping[int, Sequence[str]]) -> Ended:
    lines = tuple(f"{ips[index]}: {clean(line)}" for index, found in left.items() for line in found)
    say(f"fence: still there after {FENCE_S:.0f} s: {'; '.join(lines)}")
    return Ended("fence_failed", node=ips[next(iter(left))], evidence=lines)


def _end(workers: Sequence[Any]) -> None:
    import ray

    for worker in workers:
        ray.kill(worker, no_restart=True)
