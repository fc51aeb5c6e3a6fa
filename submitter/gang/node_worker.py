"""The node worker: one actor per node of the gang, without NPU or CPU, for as long as the attempt lives."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import host_facts, node_evidence, processes
from .ask import Bound
from .bounded import Bounded
from .checkpoint.look import list_steps, look
from .checkpoint.plan import CheckpointPlan
from .known import Known
from .masking import beginning
from .meeting import Meeting
from .members import ACTOR_NAME, Gang, Member
from .probes.catalogue import PROBES
from .probes.measure import as_json, measure_all
from .probes.network import open_ports
from .probes.wish import Wish
from .remains import Remains
from .share import GangActor
from .telemetry.sampler import Sampler

CALLS_AT_ONCE = 4
"""Threads: a ping is answered while a sweep or the facts are being read."""

LOOK_EVERY_S = 0.25

LIST_STEPS_S = 20.0
OPEN_FILES_S = 45.0
LOOK_S = 60.0
"""For one checkpoint; files that are not opened by OPEN_FILES_S are only counted."""

START = Bound(total_s=90.0, grace_s=20.0)
"""Cold worker processes on a loaded host take a minute; where one node needs longer than the others it is seconds."""
BUILD = Bound(total_s=300.0, grace_s=120.0)
"""Where the runtime environment has packages to be installed first, on each node anew."""
_BUILT = ("pip", "uv", "conda", "image_uri", "container")


@dataclass(frozen=True)
class DriverProcess:
    """Where the driver runs, so that it is not taken for something left behind."""

    host: str
    """`host_facts.same_host_token()`."""
    line: tuple[int, ...]
    """`processes.lineage` of the driver, from its start."""


def this_driver() -> DriverProcess:
    return DriverProcess(host_facts.same_host_token(), tuple(processes.lineage(os.getpid())))


class NodeWorker:
    def __init__(self, attempt: str, clock: Callable[[], float] = time.time) -> None:
        self._attempt = attempt
        self._clock = clock
        self._meeting: Meeting | None = None
        self._remains = Remains()
        self._known = Known(attempt)
        self._sampler = Sampler()

    def ping(self) -> dict[str, Any] | None:
        """The newest sample of the node, each once; None: none since the last ping. From the first ping on, which comes
        when the trainer starts, processes are noted and the node is sampled."""
        self._known.start()
        self._sampler.start()
        return self._sampler.news()

    def identity(self) -> tuple[int, str]:
        """(pid, start time) of this process: lets a replacement end it for sure."""
        return os.getpid(), processes.started(os.getpid())

    def facts(self) -> dict[str, Any]:
        return host_facts.read()

    def measure(self, wish: dict[str, Any], name: str) -> dict[str, Any]:
        """`{"probes": {name: Measured as JSON}, "ports": where peers may knock until `part`}`."""
        wanted = Wish.from_json(wish)
        self._meeting = Meeting(self._attempt, name, wanted.shared_dirs)
        measured = measure_all(PROBES, wanted)
        return {"probes": as_json(measured), "ports": [self._meeting.port, *open_ports(measured["ports"].facts)]}

    def clock(self) -> float:
        """Wall clock, seconds."""
        return self._clock()

    def meet(self, peers: dict[str, list[int]], names: dict[str, str]) -> dict[str, Any]:
        """After `measure` of all: which peers (IP -> ports) this node reaches, whose tokens it sees, and which host
        names (by IP) lead elsewhere; empty without `measure`."""
        return self._meeting.meet(peers, names) if self._meeting else {}

    def part(self) -> None:
        if self._meeting:
            self._meeting.close()
            self._meeting = None

    def checkpoints(self, folder: str) -> dict[str, Any]:
        """`{"listing": `Listing` as JSON or None, "why": why there is none}`."""
        found = Bounded(lambda: asdict(list_steps(Path(folder))), LIST_STEPS_S)
        return {"listing": found.value, "why": found.why}

    def checkpoint(self, plan: dict[str, Any], step: int, ranks: Sequence[int], first: bool) -> dict[str, Any]:
        """`{"seen": `Seen` as JSON or None, "why": why there is none}`. `ranks`: those that will run here."""
        wanted = CheckpointPlan.from_json(plan)
        folder = Path(wanted.folder) / f"global_step_{step}"
        late = time.monotonic() + OPEN_FILES_S
        found = Bounded(lambda: asdict(look(wanted, folder, ranks, first, lambda: time.monotonic() > late)), LOOK_S)
        return {"seen": found.value, "why": found.why}

    def evidence(self) -> str:
        """One line: the host's load and memory, and the attempt's processes that wait or are stopped."""
        facts = host_facts.read()
        mine = processes.of_attempt(self._attempt)
        stuck = [f"{one.pid} {one.state} {beginning(one.command, 60)}" for one in mine if one.state in "DT"]
        memory = f"{facts['memory_free_gib']} of {facts['memory_gib']} GiB memory free"
        return f"load {facts['load']}, {memory}, {len(mine)} processes of the attempt, waiting or stopped: {stuck}"

    def failure(self, jobs: Sequence[str], own_job: str) -> dict[str, Any]:
        """As `node_evidence.failure`."""
        return node_evidence.failure(self._known, jobs, own_job)

    def hang(self, driver: DriverProcess, own_job: str) -> dict[str, Any]:
        """As `node_evidence.hang`."""
        return node_evidence.hang(self._left(driver, own_job))

    def end_leftovers(self, driver: DriverProcess, own_job: str, wait_s: float) -> list[str]:
        """Wait for the trainer's processes on this host to end, SIGKILL the rest; returns what had to be killed."""
        deadline = time.monotonic() + wait_s
        while left := self._left(driver, own_job):
            if time.monotonic() > deadline:
                break
            time.sleep(LOOK_EVERY_S)
        for process in left:
            processes.end(process)
        return [f"{process.pid} {beginning(process.command, 120)}" for process in left]

    def end_earlier(self, run: str, number: int) -> dict[str, list[str]]:
        """As `Remains.end`."""
        return self._remains.end(run, number)

    def earlier_on_devices(self) -> dict[str, list[str] | str | None]:
        """As `Remains.on_devices`."""
        return self._remains.on_devices()

    def end_everything(self, driver: DriverProcess) -> None:
        """The last act on a node whose raylet is frozen and cannot end its workers: this process goes too."""
        for process in self._left(driver, own_job=""):
            if process.pid != os.getpid():
                processes.end(process)
        os._exit(0)

    def end_predecessor(self, pid: int, started: str) -> None:
        """SIGKILL the node worker that this one replaces: it may be stopped and deaf to Ray."""
        processes.end(processes.Process(pid, 0, "", started, "", ""))

    def _left(self, driver: DriverProcess, own_job: str) -> list[processes.Process]:
        line = driver.line if host_facts.same_host_token() == driver.host else ()
        mine = [process for process in processes.of_attempt(self._attempt) if process.state != "Z"]
        return processes.leftovers(mine, line, own_job)


def start_node_worker(member: Member, attempt: str) -> Any:
    """A handle; the process starts in the background."""
    import ray

    options = {"num_cpus": 0, "max_concurrency": CALLS_AT_ONCE, "max_restarts": 0}
    return ray.remote(NodeWorker).options(**options, scheduling_strategy=pinned_to(member.node_id)).remote(attempt)


def start_bound() -> Bound:
    """How long new node workers of this job may take until they answer."""
    import ray

    env = ray.get_runtime_context().runtime_env
    return BUILD if any(env.get(name) for name in _BUILT) else START


def start_gang_actor(gang: Gang) -> Any:
    """On the driver's own node: it lives exactly as long as the driver."""
    import ray

    here = pinned_to(ray.get_runtime_context().get_node_id())
    options = {"num_cpus": 0, "name": ACTOR_NAME, "scheduling_strategy": here}
    return ray.remote(GangActor).options(**options).remote(gang.facts())


def pinned_to(node_id: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node_id, soft=False)


def worker_facts(workers: Sequence[Any]) -> list[Any]:
    """References, not values, in the order of the workers."""
    return [worker.facts.remote() for worker in workers]
