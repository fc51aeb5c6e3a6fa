"""From the trainer's start to its end, with a trainer and a watch made for the test; and the real child process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from submitter.gang import training
from submitter.gang.ended import Ended, Stop
from submitter.gang.launch_ray import launch
from submitter.gang.launcher import LaunchResult
from submitter.gang.members import Gang
from submitter.gang.plan import Plan
from submitter.gang.step_lines import Step
from tests.support.processes import carrying, wait_for

GANG = Gang("t-a1", (), (), 1, True)


@dataclass
class Trainer:
    """Ends after `polls` polls with `code`, or when it gets a call of `ends_on`."""

    code: int = 0
    polls: int | None = None
    ends_on: tuple[str, ...] = ("kill",)
    calls: list[str] = field(default_factory=list)
    ended: LaunchResult | None = None

    def poll(self, wait_s: float) -> LaunchResult | None:
        assert wait_s <= training.POLL_S
        if self.polls is not None:
            self.polls -= 1
            if self.polls <= 0:
                return LaunchResult(self.code)
        return self.ended

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name in self.ends_on:
            self.ended = LaunchResult(-9 if name == "kill" else self.code)

    def stopped(self) -> None:
        self._call("stopped")

    def terminate(self) -> None:
        self._call("terminate")

    def kill(self) -> None:
        self._call("kill")


@dataclass
class Watch:
    beats: Callable[[], Ended | None] = lambda: None

    def beat(self) -> Ended | None:
        return self.beats()

    well: bool = False

    def now(self) -> float:
        return 0.0

    def well_since(self, moment: float) -> bool:
        return self.well

    def evidence(self) -> tuple[str, ...]:
        return ("10.0.0.2: load 1",)

    def samples(self) -> list[tuple[str, dict[str, Any]]]:
        return [("10.0.0.2", {"at": 1.0})]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TERM_WAIT_S", "KILL_WAIT_S", "STOP_WAIT_S"):
        monkeypatch.setattr(training, name, 0.05)
    monkeypatch.setattr(training, "LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(training, "AFTERMATH_S", 0.2)


@dataclass
class Progress:
    line: str | None = None

    newest: Step | None = None
    total: int | None = None

    def hung(self) -> str | None:
        return self.line

    def news(self) -> Step | None:
        return self.newest


@dataclass
class Publisher:
    seen: list[Any] = field(default_factory=list)

    def samples(self, samples: list[tuple[str, dict[str, Any]]]) -> None:
        self.seen += samples

    def step(self, step: Step, total: int | None) -> None:
        self.seen.append((step.number, total))


def follow(
    trainer: Trainer,
    watch: Watch,
    stop: Stop | None = None,
    progress: Progress | None = None,
    publisher: Publisher | None = None,
) -> LaunchResult:
    parts: Any = (trainer, watch, progress or Progress(), publisher or Publisher(), GANG, stop or Stop())
    return training._follow(*parts)


def frozen() -> Ended:
    return Ended("node_frozen", node="10.0.0.1", evidence=("node 10.0.0.1: frozen",), quarantine=("10.0.0.1",))


def test_the_trainers_result_passes_through() -> None:
    trainer = Trainer(code=7, polls=3)
    assert follow(trainer, Watch()) == LaunchResult(7)
    assert trainer.calls == []


def test_steps_and_samples_are_published_while_it_runs() -> None:
    publisher = Publisher()
    follow(Trainer(polls=2), Watch(), progress=Progress(newest=Step(3, {}), total=8), publisher=publisher)
    assert publisher.seen == [("10.0.0.2", {"at": 1.0}), (3, 8)]


@pytest.mark.parametrize(("gentle", "code"), [(True, 0), (False, -9)])
def test_a_frozen_node_ends_the_trainer_gently_then_hard_with_evidence(gentle: bool, code: int) -> None:
    trainer = Trainer(ends_on=("terminate", "kill") if gentle else ("kill",))
    with pytest.raises(Ended) as ended:
        follow(trainer, Watch(beats=frozen))
    assert trainer.calls == (["terminate"] if gentle else ["terminate", "kill"])
    assert (ended.value.reason, ended.value.node, ended.value.code) == ("node_frozen", "10.0.0.1", code)
    assert ended.value.evidence == ("node 10.0.0.1: frozen", "10.0.0.2: load 1")
    assert ended.value.quarantine == ("10.0.0.1",)


@pytest.mark.parametrize(
    ("stopped", "node"), [([], None), (["10.0.0.2"], "10.0.0.2"), (["10.0.0.1", "10.0.0.2"], None)]
)
def test_a_hung_trainer_is_looked_at_and_then_ended(
    monkeypatch: pytest.MonkeyPatch, stopped: list[str], node: str | None
) -> None:
    trainer = Trainer()

    def look(gang: Gang, check: Callable[[], None]) -> list[str]:
        assert trainer.calls == [], "nothing is left to look at afterwards"
        return stopped

    monkeypatch.setattr(training, "tell_hang", look)
    with pytest.raises(Ended) as ended:
        follow(trainer, Watch(), progress=Progress("no new step for 61 s"))
    assert (ended.value.reason, ended.value.node, ended.value.code) == ("hung", node, -9)
    assert trainer.calls == ["terminate", "kill"]
    told = tuple(f"{ip}: has stopped processes" for ip in stopped)
    assert ended.value.evidence == ("no new step for 61 s", *told, "10.0.0.2: load 1")


def test_a_stop_while_a_hung_trainer_is_looked_at_is_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stop()

    def look(gang: Gang, check: Callable[[], None]) -> list[str]:
        stop.requested = True
        check()
        raise AssertionError

    monkeypatch.setattr(training, "tell_hang", look)
    trainer = Trainer(ends_on=("stopped",))
    with pytest.raises(Ended, match="stopped"):
        follow(trainer, Watch(), stop, Progress("no new step"))
    assert trainer.calls == ["stopped"]


@pytest.mark.parametrize("gentle", [True, False])
def test_a_stop_waits_for_the_trainer_and_never_signals_it_twice(gentle: bool) -> None:
    stop = Stop()
    stop.requested = True
    trainer = Trainer(ends_on=("stopped",) if gentle else ("kill",))
    with pytest.raises(Ended) as ended:
        follow(trainer, Watch(), stop)
    assert ended.value.reason == "stopped"
    assert trainer.calls == (["stopped"] if gentle else ["stopped", "kill"])


def test_a_trainer_that_ends_on_the_signal_before_the_driver_looks_was_stopped() -> None:
    stop = Stop()
    stop.requested = True
    with pytest.raises(Ended) as ended:
        follow(Trainer(code=-15, polls=1), Watch(), stop)
    assert (ended.value.reason, ended.value.code) == ("stopped", -15)


def test_a_failure_after_a_nodes_death_is_the_nodes() -> None:
    beats = iter([None, None, None, Ended("node_lost", node="10.0.0.3")])
    with pytest.raises(Ended) as ended:
        follow(Trainer(code=1, polls=2), Watch(beats=lambda: next(beats)))
    assert (ended.value.reason, ended.value.node, ended.value.code) == ("node_lost", "10.0.0.3", 1)


def test_a_failure_on_well_nodes_and_a_success_on_any_are_the_trainers_own() -> None:
    assert follow(Trainer(code=1, polls=1), Watch(well=True)) == LaunchResult(1)
    assert follow(Trainer(code=0, polls=1), Watch(beats=frozen)) == LaunchResult(0)


def test_nodes_that_do_not_answer_before_training_are_told_and_the_wait_is_bounded() -> None:
    assert training._trouble_within(Watch(), Stop(), 0.05) is None  # type: ignore[arg-type]
    ended = training._trouble_within(Watch(beats=frozen), Stop(), 5)  # type: ignore[arg-type]
    assert ended is not None and ended.reason == "node_frozen"
    stop = Stop()
    stop.requested = True
    with pytest.raises(Ended, match="stopped"):
        training._trouble_within(Watch(), stop, 5)  # type: ignore[arg-type]


def test_a_launcher_that_cannot_start_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(plan: Plan, gang: Gang) -> Any:
        raise OSError("no such thing")

    monkeypatch.setattr("submitter.gang.launch_ray.launch", fails)
    with pytest.raises(Ended) as ended:
        training._launch(Plan("ray", ("true",), 1, 1, {}, {}), GANG)
    assert (ended.value.reason, ended.value.evidence) == ("launch_failed", ("OSError: no such thing",))


def test_stop_is_noted_and_raised_where_it_is_looked_for() -> None:
    stop = Stop()
    stop.check()
    previous = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    try:
        stop.listen()
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for(lambda: stop.requested, bound_s=5, what="the signal")
    finally:
        signal.signal(signal.SIGTERM, previous[0])
        signal.signal(signal.SIGINT, previous[1])
    with pytest.raises(Ended, match="stopped"):
        stop.check()


def run(command: list[str]) -> int | None:
    running = launch(Plan("ray", tuple(command), 1, 1, {}, {}), GANG)
    result = wait_for(lambda: running.poll(0.25), bound_s=20, what="the child's end")
    assert result is not None
    return result.code


def test_the_child_gets_its_arguments_untouched_and_its_code_and_output_pass_through(
    capfd: pytest.CaptureFixture[str],
) -> None:
    hostile = ["a b", "'; echo x", 'q"', "$HOME", "back\\slash", "new\nline", "", "-c", "--", "é"]
    code = "import sys; print(sys.argv[1:]); print('err', file=sys.stderr); sys.exit(7)"
    assert run(["python3", "-c", code, *hostile]) == 7
    out, err = capfd.readouterr()
    assert str(hostile) in out.splitlines()
    assert "err" in err.splitlines()


def test_the_child_runs_in_the_drivers_python_and_process_group(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["python3", "-c", "import os, sys; print(sys.executable, os.getpgid(0))"]) == 0
    assert f"{sys.executable} {os.getpgid(0)}" in capfd.readouterr().out


def test_a_program_that_does_not_exist_is_one_line_and_127(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["/no/such/program"]) == 127
    assert "cannot start /no/such/program: No such file" in capfd.readouterr().err


def test_a_killed_trainer_has_its_signal_as_code() -> None:
    running = launch(Plan("ray", ("sleep", "60"), 1, 1, {}, {}), GANG)
    assert running.poll(0.01) is None
    running.stopped()
    assert running.poll(0.01) is None
    running.kill()
    result = wait_for(lambda: running.poll(0.25), bound_s=10, what="the child's end")
    assert result == LaunchResult(-9)


TRAINER = "import signal, time; signal.signal(15, lambda *_: None); print('up', flush=True); time.sleep(60)"
DRIVER = f"""
import time
from submitter.gang.launch_ray import Child
child = Child(["python3", "-c", {TRAINER!r}])
time.sleep(60)
"""


def test_the_trainer_dies_with_a_driver_that_is_killed(tmp_path: Path) -> None:
    mark = f"NPURUN_ATTEMPT=t-{os.getpid()}-{time.monotonic_ns()}"
    name, _, value = mark.partition("=")
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        env={**os.environ, name: value},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert driver.stdout is not None
        assert any(line == "up\n" for line in driver.stdout)
        assert len(carrying(mark)) == 2
    finally:
        driver.kill()
        driver.wait(10)
    wait_for(lambda: not carrying(mark), bound_s=10, what="the child's death")
