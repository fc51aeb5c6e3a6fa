"""The heartbeat's hands, with a Ray made for the test: references that are answered, fail, or stay open."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from submitter.gang import watch as room
from submitter.gang.members import Gang, Member
from submitter.gang.watch import Watch


class RayError(Exception):
    pass


@dataclass(eq=False)
class Reference:
    answer: Callable[[], Any]
    """Raises LookupError while there is no answer."""


@dataclass
class Call:
    answer: Callable[..., Any]

    def remote(self, *arguments: Any) -> Reference:
        return Reference(lambda: self.answer(*arguments))


def answered() -> None:
    return None


def silent() -> None:
    raise LookupError


def dead() -> None:
    raise RayError("ActorDiedError\n")


@dataclass
class Worker:
    number: int
    state: Callable[[], Any] = answered
    ended: list[Any] = field(default_factory=list)

    @property
    def ping(self) -> Call:
        return Call(lambda: self.state())

    @property
    def evidence(self) -> Call:
        return Call(lambda: self.state() or f"load {self.number}\n")

    @property
    def identity(self) -> Call:
        return Call(lambda: (1000 + self.number, "77"))

    @property
    def end_predecessor(self) -> Any:
        return types.SimpleNamespace(remote=lambda *identity: self.ended.append(identity))


@dataclass
class Scene:
    """Three nodes; `tasks` says how each node's raylet answers."""

    now: float = 0.0
    workers: list[Worker] = field(default_factory=lambda: [Worker(number) for number in (1, 2, 3)])
    tasks: dict[str, Callable[[], Any]] = field(default_factory=lambda: dict.fromkeys(("id1", "id2", "id3"), answered))
    killed: list[Worker] = field(default_factory=list)
    spawned: list[Worker] = field(default_factory=list)

    def __post_init__(self) -> None:
        members = tuple(Member(f"id{number}", f"10.0.0.{number}", "h") for number in (1, 2, 3))
        self.gang = Gang("run-a1", members, (), 16, True, workers=list(self.workers))
        self.watch = Watch(self.gang)

    def run(self, seconds: float) -> Any:
        """Beats until the attempt has to end, or `seconds` have passed."""
        end = self.now + seconds
        while self.now < end:
            if ended := self.watch.beat():
                return ended
            self.now += 0.25
        return None

    def start(self, member: Member, attempt: str) -> Worker:
        worker = Worker(10 + int(member.node_id[2:]))
        self.spawned.append(worker)
        return worker

    def wait(
        self, references: Sequence[Reference], num_returns: int, timeout: float
    ) -> tuple[list[Reference], list[Any]]:
        ready = [reference for reference in references if not isinstance(self._outcome(reference), LookupError)]
        return ready, [reference for reference in references if reference not in ready]

    def get(self, reference: Reference, timeout: float) -> Any:
        outcome = self._outcome(reference)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def kill(self, worker: Worker, no_restart: bool) -> None:
        self.killed.append(worker)

    @staticmethod
    def _outcome(reference: Reference) -> Any:
        try:
            return reference.answer()
        except (LookupError, RayError) as error:
            return error


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    box: list[Scene] = []
    ray = types.SimpleNamespace(
        wait=lambda *a, **k: box[0].wait(*a, **k),
        get=lambda *a, **k: box[0].get(*a, **k),
        kill=lambda *a, **k: box[0].kill(*a, **k),
        remote=lambda **_: (
            lambda _function: types.SimpleNamespace(options=lambda scheduling_strategy: scheduling_strategy)
        ),
        exceptions=types.SimpleNamespace(RayError=RayError),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(room, "pinned_to", lambda node_id: Call(lambda: box[0].tasks[node_id]()))
    monkeypatch.setattr(room, "start_node_worker", lambda member, attempt: box[0].start(member, attempt))
    clock = types.SimpleNamespace(monotonic=lambda: box[0].now)
    monkeypatch.setattr(room, "time", clock)
    scene = Scene()
    box.append(scene)
    return scene


def test_well_nodes_are_left_alone(scene: Scene) -> None:
    assert scene.run(60) is None
    assert scene.killed == []


def test_samples_come_with_the_answers_to_pings(scene: Scene) -> None:
    scene.workers[2].state = lambda: {"at": scene.now}
    assert scene.run(5) is None
    found = scene.watch.samples()
    assert {ip for ip, _ in found} == {"10.0.0.3"}
    assert [sample["at"] for _, sample in found] == sorted({sample["at"] for _, sample in found})
    assert scene.watch.samples() == []


def test_a_silent_node_worker_is_replaced_and_the_old_one_ended_for_sure(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scene.run(5) is None
    scene.workers[1].state = silent
    assert scene.run(60) is None
    assert scene.killed == [scene.workers[1]]
    (new,) = scene.spawned
    assert scene.gang.workers == [scene.workers[0], new, scene.workers[2]]
    assert new.ended == [(1002, "77")]
    warning = "[npurun] warning: the node worker on 10.0.0.2 does not answer, while its node does"
    assert warning in capsys.readouterr().out


def test_a_dead_node_worker_is_replaced(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert scene.run(5) is None
    scene.workers[0].state = dead
    assert scene.run(5) is None
    assert scene.killed == [scene.workers[0]]
    assert "10.0.0.1 has died" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("worker", "reason", "said"),
    [
        (answered, "node_frozen", "its raylet: pings are answered, tasks are not"),
        (silent, "node_frozen", "the node: neither tasks nor pings"),
        (dead, "node_lost", "lost: its processes are gone"),
    ],
)
def test_a_node_without_answers_to_tasks_ends_the_attempt(
    scene: Scene, worker: Callable[[], Any], reason: str, said: str
) -> None:
    assert scene.run(5) is None
    scene.tasks["id3"] = silent
    scene.workers[2].state = worker
    ended = scene.run(12)
    assert (ended.reason, ended.node, ended.quarantine) == (reason, "10.0.0.3", ("10.0.0.3",))
    assert f"node 10.0.0.3: {said}" in ended.evidence[0]
    last = "10.0.0.3: load 3\\n" if worker is answered else "10.0.0.3: does not answer"
    assert scene.watch.evidence() == ("10.0.0.1: load 1\\n", "10.0.0.2: load 2\\n", last)


def test_well_since_a_moment_once_every_node_has_answered_again(scene: Scene) -> None:
    scene.run(5)
    moment = scene.watch.now()
    assert not scene.watch.well_since(moment)
    scene.run(3)
    assert scene.watch.well_since(moment)
    scene.tasks["id2"] = silent
    scene.run(3)
    moment = scene.watch.now()
    scene.run(3)
    assert not scene.watch.well_since(moment)
