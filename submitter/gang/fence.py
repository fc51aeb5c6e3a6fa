"""Before anything is reserved: nothing of an earlier attempt of this run is left on the cluster.

Ray calls a job FAILED seconds before the last of its processes is gone, and a trainer's own daemon may outlive it: the
next attempt would find its devices taken. What belongs to an earlier attempt is proved by NPURUN_RUN and
NPURUN_ATTEMPT in the environment of a process or an actor, and by the attempt in the name of a placement group, which
only the gang gives; never by a program's name.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .ask import Answer, Bound, Nodes, RayNodes, ask_all
from .compat import end_actor, living_actors
from .ended import Ended, Stop
from .members import Member
from .node_worker import start_bound, start_node_worker
from .nodes import read_nodes
from .placement import Need, never_fitting
from .processes import is_earlier
from .say import clean, say, warn

FENCE_S = 60.0
"""A killed process is gone at once, unless it waits for a device; a device's memory comes back within seconds. Ray
takes up to 30 s to call a silent node dead, and a dead node holds nothing."""
ASK = Bound(total_s=30.0, grace_s=10.0)
"""npu-smi alone may take 8 s."""
LOOK_EVERY_S = 0.5

_ATTEMPT = re.compile(r"(.+)-a([1-9][0-9]*)", re.DOTALL)


@dataclass(frozen=True)
class Remain:
    """Something of an earlier attempt that was there at this look; it may be gone by the next."""

    node: str
    """IP; empty where it is not told."""
    what: str
    blocks: bool = True
    """False: it is waited for, and the attempt goes on without it at the bound."""


Look = Callable[[], Sequence[Remain]]
"""Ends what it finds and says what that was. Empty: nothing is left."""


def fence(attempt: str, stop: Stop, need: Need) -> None:
    """Ends what is left and waits until it is gone. Raises Ended: fence_failed (node and pids), stopped.

    What stays on a quarantined node is told, and does not hold it up; nor does one that is silent and could never
    take the job. The first attempt of a run has nothing to fence.
    """
    run, number = split(attempt)
    if number <= 1:
        return
    say(f"fence: looking for what earlier attempts of {clean(run)} left")
    nodes = read_nodes()
    members = [Member(node.node_id, node.ip, node.hostname) for node in nodes if node.alive]
    workers = [start_node_worker(member, attempt) for member in members]
    unused = never_fitting(nodes, need)
    hosts = Hosts([member.ip for member in members], RayNodes(workers), unused, stop, start_bound(), _living)
    looks = (
        # In this order: an actor that is only killed as a process would be restarted, on any node.
        lambda: _end_actors(earlier_actors(living_actors(), run, number), stop),
        lambda: _remove_groups(earlier_groups(_groups(), run, number), stop),
        lambda: hosts.processes(run, number),
        hosts.devices,
    )
    try:
        clear(looks, need.quarantine, len(members))
    finally:
        _end(workers)


def split(attempt: str) -> tuple[str, int]:
    """`run-a3` → ("run", 3). ValueError: no attempt's id."""
    match = _ATTEMPT.fullmatch(attempt)
    if match is None:
        raise ValueError(f"not an attempt's id: {attempt}")
    return match[1], int(match[2])


def earlier_groups(names: Mapping[str, str], run: str, number: int) -> dict[str, str]:
    """Those of `names` (placement group's hex id -> name) that an earlier attempt of the run made.

    The gang's are named `npurun-<attempt>-t<trial>-n<node>`.
    """
    pattern = re.compile(rf"npurun-{re.escape(run)}-a([1-9][0-9]*)-t[0-9]+-n[0-9]+")
    found = {group: pattern.fullmatch(name) for group, name in names.items()}
    return {group: names[group] for group, match in found.items() if match and int(match[1]) < number}


def earlier_actors(actors: Iterable[tuple[str, Any]], run: str, number: int) -> list[tuple[str, Any]]:
    """Those of `actors` (state, Ray's ActorTableData) whose environment is an earlier attempt's, Ray's own job
    supervisor too."""
    return [one for one in actors if is_earlier(_environment(one[1].serialized_runtime_env), run, number)]


def clear(
    looks: Sequence[Look],
    spared: Collection[str],
    nodes: int,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Looks until one look at everything finds nothing. Raises Ended: fence_failed, FENCE_S after the first look.

    At everything each time: Ray may restart elsewhere what was ended here. Of the cluster's `nodes` nodes those that
    still hold something are proposed for quarantine, unless they all do.
    """
    left = _look(looks)
    deadline = clock() + FENCE_S  # from here on: the first look waited for the workers' cold start
    while there := [remain for remain in left if remain.node not in spared]:
        if clock() > deadline:
            _check_none_blocks(there, nodes)
            break
        sleep(LOOK_EVERY_S)
        left = _look(looks)
    for remain in left:
        which = ", which is left out" if remain.node in spared else ""
        warn(f"fence: on {remain.node}{which}: {clean(remain.what)}")
    if not left:
        say("fence: nothing of an earlier attempt is left")


def _check_none_blocks(there: Sequence[Remain], nodes: int) -> None:
    if blocking := [remain for remain in there if remain.blocks]:
        raise _failed(blocking, nodes)


def _look(looks: Sequence[Look]) -> list[Remain]:
    return [remain for look in looks for remain in look()]


class Hosts:
    """Every node at once, through its node worker."""

    def __init__(
        self,
        ips: Sequence[str],
        workers: Nodes,
        unused: Collection[str],
        stop: Stop,
        start: Bound,
        living: Callable[[], Collection[str]],
    ) -> None:
        """`unused`: IPs of nodes that the attempt does not use. `start` bounds the first question, `living` tells the
        IPs of the nodes that Ray calls alive."""
        self._ips = ips
        self._workers = workers
        self._unused = unused
        self._stop = stop
        self._bound = start
        self._living = living
        self._asked = list(range(len(ips)))
        self._devices: set[int] = set()
        """Where something was ended, and the devices have not been seen free since."""
        self._blind: set[int] = set()
        """Where it was said that devices cannot be measured."""

    def processes(self, run: str, number: int) -> list[Remain]:
        """What was there on each node; a node that does not answer may hold anything."""
        answers = self._answers(self._asked, "end_earlier", run, number)
        self._bound = ASK
        for index, answer in answers.items():
            self._note(index, answer)
        silent = [index for index, answer in answers.items() if answer.why is not None]
        if silent:
            self._leave_out(silent)
        return [
            Remain(self._ips[index], line)
            for index, answer in answers.items()
            if index in self._asked
            for line in _lines(answer)
        ]

    def devices(self) -> list[Remain]:
        """Devices that still show a process which was ended, or memory that none holds. Where that cannot be told it
        is said, once."""
        found = []
        for index, answer in self._answers(self._devices, "earlier_on_devices").items():
            self._note_blind(index, answer.why or answer.value["why"])
            there = [] if answer.why else list(_on_devices(self._ips[index], answer.value))
            if not there:
                self._devices.discard(index)
            found += there
        return found

    def _note_blind(self, index: int, why: str | None) -> None:
        if why and index not in self._blind:
            self._blind.add(index)
            say(f"fence: {self._ips[index]}: devices not measured: {clean(why)}")

    def _answers(self, asked: Iterable[int], method: str, *arguments: Any) -> dict[int, Answer]:
        return ask_all(self._workers, dict.fromkeys(asked, arguments), method, self._bound, self._stop.check)

    def _note(self, index: int, answer: Answer) -> None:
        for line in answer.value["ended"] if answer.why is None else ():
            self._devices.add(index)
            say(f"fence: ended on {self._ips[index]}: {clean(line)}")

    def _leave_out(self, silent: Sequence[int]) -> None:
        """A node that has died holds nothing; one that the attempt does not use is asked no more."""
        living = self._living()
        for index in silent:
            ip = self._ips[index]
            if ip in living and ip not in self._unused:
                continue
            self._asked.remove(index)
            self._devices.discard(index)
            if ip in living:
                warn(f"fence: {ip} does not answer, and is left out anyway")
            else:
                say(f"fence: {ip} does not answer, and has died")


def _lines(answer: Answer) -> list[str]:
    """Also what is gone by now: another look has to find nothing."""
    return [answer.why] if answer.why is not None else list(answer.value["left"] or answer.value["ended"])


def _on_devices(ip: str, found: Mapping[str, Sequence[str]]) -> Iterable[Remain]:
    yield from (Remain(ip, line) for line in found["held"])
    yield from (Remain(ip, line, blocks=False) for line in found["draining"])  # it may be another container's


def _environment(runtime_env: str) -> Mapping[str, str]:
    try:
        found: Mapping[str, str] = json.loads(runtime_env or "{}").get("env_vars") or {}
    except ValueError:
        return {}
    return found


def _end_actors(actors: Iterable[tuple[str, Any]], stop: Stop) -> list[Remain]:
    found = []
    for state, actor in actors:
        stop.check()
        told = clean(f"actor {actor.class_name} {actor.name or actor.actor_id.hex()}")
        say(f"fence: ending the {told} ({state})")
        end_actor(actor.actor_id)
        found.append(Remain(actor.address.ip_address, f"pid {actor.pid} ({state}) {told}"))
    return found


def _groups() -> dict[str, str]:
    """Hex id -> name of every placement group that is not removed."""
    from ray.util import placement_group_table

    table: Mapping[str, Mapping[str, Any]] = placement_group_table()
    return {group: one["name"] for group, one in table.items() if one["state"] != "REMOVED"}


def _remove_groups(groups: Mapping[str, str], stop: Stop) -> list[Remain]:
    from ray._raylet import PlacementGroupID
    from ray.util import remove_placement_group
    from ray.util.placement_group import PlacementGroup

    for group, name in groups.items():
        stop.check()
        say(f"fence: removing the placement group {clean(name)}")
        remove_placement_group(PlacementGroup(PlacementGroupID(bytes.fromhex(group))))
    return [Remain("", f"placement group {name}") for name in groups.values()]


def _living() -> set[str]:
    return {node.ip for node in read_nodes() if node.alive}


def _failed(there: Sequence[Remain], nodes: int) -> Ended:
    lines = tuple(clean(f"{remain.node or 'cluster'}: {remain.what}") for remain in there)
    say(f"fence: still there after {FENCE_S:.0f} s: {'; '.join(lines)}")
    ips = tuple(dict.fromkeys(remain.node for remain in there if remain.node))
    return Ended("fence_failed", node=next(iter(ips), None), evidence=lines, quarantine=ips if len(ips) < nodes else ())


def _end(workers: Sequence[Any]) -> None:
    import ray

    for worker in workers:
        ray.kill(worker, no_restart=True)
