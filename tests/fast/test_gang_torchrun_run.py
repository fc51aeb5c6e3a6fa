"""How the driver drives the nodes of launcher torchrun: against actors that answer by script, without Ray."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from submitter.gang import launch_torchrun
from submitter.gang.launch_torchrun import OTHERS_GRACE_S, TERMINATE_GRACE_S, Node, TorchrunRun
from submitter.gang.launcher import LaunchResult
from submitter.gang.members import Member
from submitter.gang.plan import Plan, TorchrunPlan
from submitter.gang.secrets import SecretMissingError
from submitter.gang.torchrun_agent import Death
from submitter.gang.torchrun_node import Chunk

PLAN = Plan("torchrun", ("-m", "train"), 2, 16, {}, {}, {"KEY": {"env": "OTHER"}}, torchrun=TorchrunPlan(2, None, None))
POLLS = 50


class FakeTaskError(Exception):
    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class FakeRayError(Exception):
    pass


@dataclass(eq=False)
class Reference:
    outcome: Any


class FakeRay:
    """PENDING is never ready."""

    PENDING = object()
    exceptions = SimpleNamespace(RayTaskError=FakeTaskError, RayError=FakeRayError)

    def wait(self, references: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        ready = [reference for reference in references if reference.outcome is not self.PENDING][:num_returns]
        return ready, [reference for reference in references if reference not in ready]

    def get(self, reference: Any) -> Any:
        if isinstance(reference.outcome, Exception):
            raise reference.outcome
        return reference.outcome


@dataclass
class FakeActor:
    """Answers each method's calls in turn, then never."""

    answers: dict[str, deque[Any]]
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        def remote(*arguments: Any) -> Any:
            self.calls.append((name, *arguments))
            answers = self.answers.get(name, ())
            return Reference(answers.popleft() if answers else FakeRay.PENDING)

        return SimpleNamespace(remote=remote)

    def called(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for method, *arguments in self.calls if method == name]


def actor(*chunks: Any, prepare: Any = 4000, start: Any = None) -> FakeActor:
    return FakeActor({"prepare": deque([prepare]), "start": deque([start]), "read": deque(chunks)})


def chunk(data: bytes = b"", *, deaths: tuple[Death, ...] = (), code: int | None = None) -> Chunk:
    return Chunk(data, deaths, code, ("last words",) if code is not None else (), 0.0, 0.0)


def running(*actors: FakeActor, plan: Plan = PLAN) -> TorchrunRun:
    assert plan.torchrun
    nodes = [Node(Member(f"id{place}", f"10.0.0.{place}", "host"), actor) for place, actor in enumerate(actors)]
    return TorchrunRun(plan, plan.torchrun, "run-a1", nodes)


def go_on(run: TorchrunRun) -> None:
    """Until every node has given the answers that it has; the end is not among them."""
    assert all(run.poll(0.0) is None for _ in range(POLLS))


def finish(run: TorchrunRun) -> LaunchResult:
    for _ in range(POLLS):
        if result := run.poll(0.0):
            return result
    raise AssertionError("no result")


@pytest.fixture(autouse=True)
def ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", FakeRay())


def test_success_and_output_of_all_nodes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    first, second = actor(chunk(b"a\n"), chunk(b"b\n", code=0)), actor(chunk(b"\xffc\r"), chunk(code=0))
    assert finish(running(first, second)) == LaunchResult(0)
    out = capfdbinary.readouterr().out
    assert sorted(out.replace(b"\r", b"\n").split()) == [b"a", b"b", b"\xffc"]


def test_every_node_is_started_with_the_first_nodes_port_and_its_own_rank() -> None:
    first, second = actor(chunk(code=0), prepare=4001), actor(chunk(code=0), prepare=4002)
    finish(running(first, second))
    assert first.called("prepare") == second.called("prepare") == [[None]]
    for rank, each in enumerate((first, second)):
        ((options, command, references),) = each.called("start")
        assert ["--node_rank", str(rank)] == options[4:6]
        assert options[options.index("--rdzv_endpoint") + 1] == "10.0.0.0:4001"
        assert (command, references) == (["-m", "train"], {"KEY": {"env": "OTHER"}})


def test_a_given_port_is_held_on_the_first_node_only() -> None:
    first, second = actor(), actor()
    running(first, second, plan=Plan("torchrun", (), 2, 1, {}, {}, torchrun=TorchrunPlan(1, None, 29500)))
    assert (first.called("prepare"), second.called("prepare")) == ([[29500]], [[None]])


def test_the_first_failed_rank_ends_the_other_nodes_at_once_and_its_own_after_its_report() -> None:
    failing = actor(chunk(b"oops\n", deaths=(Death(1, 1, 7, 10.0),)), chunk(code=7))
    other = actor(chunk(b"fine\n"), chunk(deaths=(Death(2, 0, -15, 11.0),)), chunk(code=143))
    result = finish(running(failing, other))
    assert (result.code, result.node, result.evidence[1:]) == (7, "10.0.0.0", ("last words",))
    assert other.called("end") == [[OTHERS_GRACE_S]]
    assert failing.called("end") == []


def test_a_failing_node_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_torchrun, "REPORT_GRACE_S", 0.0)
    failing, other = actor(chunk(deaths=(Death(0, 0, 3, 1.0),))), actor(chunk(code=143))
    go_on(running(failing, other))
    assert failing.called("end") == [[0.0]]


def test_a_rank_that_ends_well_ends_nobody() -> None:
    first, second = actor(chunk(deaths=(Death(0, 0, 0, 1.0),))), actor(chunk(b"working\n"))
    run = running(first, second)
    go_on(run)
    assert first.called("end") == second.called("end") == []


def test_a_missing_secret_is_the_reason_and_the_others_are_ended() -> None:
    missing = SecretMissingError("secret missing on node host: KEY (variable OTHER: is not set)")
    refused, other = actor(start=FakeTaskError(missing)), actor(chunk(), chunk(code=143))
    result = finish(running(refused, other))
    assert (result.code, result.reason, result.node) == (None, "secret_missing", "10.0.0.0")
    assert str(missing) in result.evidence[0]
    assert other.called("end") == [[OTHERS_GRACE_S]]


def test_a_port_in_use_ends_the_launch_before_anything_is_started() -> None:
    busy = FakeTaskError(OSError(98, "Address already in use"))
    first, second = actor(prepare=busy), actor()
    result = finish(running(first, second))
    assert (result.reason, result.node) == ("launch_failed", "10.0.0.0")
    assert "in use" in result.evidence[0]
    assert first.called("start") == second.called("start") == []


def test_a_launcher_that_dies_is_named() -> None:
    dead, other = actor(chunk(), FakeRayError("The actor died.\nmore")), actor(chunk(), chunk(code=143))
    result = finish(running(dead, other))
    assert (result.code, result.reason, result.node) == (None, "node_lost", "10.0.0.0")
    assert result.evidence == ("the launcher on node 10.0.0.0 is lost: The actor died.",)


def test_a_launcher_that_stays_silent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_torchrun, "SILENT_AFTER_S", 0.0)
    silent, other = actor(FakeRay.PENDING), actor(chunk(code=0))
    result = finish(running(silent, other))
    assert (result.reason, result.node) == ("node_lost", "10.0.0.0")
    assert "no answer for" in result.evidence[0]


def test_launchers_that_do_not_start_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_torchrun, "START_WAIT_S", 0.0)
    monkeypatch.setattr(launch_torchrun, "LOST_AFTER_S", 0.0)
    result = finish(running(actor(), actor(prepare=FakeRay.PENDING)))
    assert result.reason == "launch_failed"
    assert "10.0.0.1" in result.evidence[0]
    assert "10.0.0.0" not in result.evidence[0]


def test_a_stop_is_passed_on_to_every_node_once_and_a_kill_without_grace() -> None:
    actors = [actor(chunk(b"working\n")) for _ in range(2)]
    run = running(*actors)
    go_on(run)
    run.stopped()
    run.kill()
    assert all(each.called("end") == [[TERMINATE_GRACE_S], [0.0]] for each in actors)


def test_a_node_that_stays_silent_after_a_kill_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_torchrun, "LOST_AFTER_S", 0.0)
    run = running(actor(chunk(code=0)), actor(chunk(b"working\n")))
    go_on(run)
    run.kill()
    assert finish(run).reason == "launch_failed"


def test_an_end_before_the_start_needs_no_answer() -> None:
    run = running(actor(prepare=FakeRay.PENDING), actor(prepare=FakeRay.PENDING))
    run.terminate()
    assert finish(run).code is None
