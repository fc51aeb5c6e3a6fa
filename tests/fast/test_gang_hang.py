"""Steps in the driver's own log, and how long a trainer may be without one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.hang import Pace
from submitter.gang.plan import HangPlan
from submitter.gang.progress import Progress
from submitter.gang.steps import KEPT_BYTES, LogTail, Seen, seen_in

COLOURED = "\x1b[36m(TaskRunnerV1 pid=30211, ip=127.0.0.2)\x1b[0m "
MIN = 60.0


@pytest.mark.parametrize(
    "line",
    [
        "step:3 - actor/loss:0.1 - training/global_step:3 - timing_s/step:2.6",
        f"{COLOURED}step:3 - global_seqlen/min:612.0",
        "(TaskRunner pid=1) step:3 - a:np.float64(0.0)",
        "\x1b[36m(TaskRunnerV1 pid=1, ip=10.0.0.1)\x1b[0m step:3 - a:1 [repeated 2x across cluster]",
        "  step:3 - a:1",
    ],
)
def test_a_step_is_seen(line: str) -> None:
    assert seen_in(f"before\n{line}\nafter\n".encode()) == Seen((3,))


@pytest.mark.parametrize(
    "line",
    [
        "training/global_step:3 - x:1",
        f"{COLOURED}the answer is step:3 - as everybody knows",
        "step:3",
        "step:x - y",
        "(WorkerDict pid=1) timing_s/step:3 - x",
        "step:1234567890 - more than any trainer makes",
    ],
)
def test_anything_else_is_no_step(line: str) -> None:
    assert seen_in(f"{line}\n".encode()) == Seen()


@pytest.mark.parametrize(
    "line", [f"{COLOURED}INFO:2026-11-30 11:48:25,877:Total training steps: 12", "Total training steps: 12"]
)
def test_how_many_steps_there_will_be(line: str) -> None:
    assert seen_in(f"{line}\nstep:1 - a:1\n".encode()) == Seen((1,), 12)


@given(st.binary())
def test_any_bytes_can_be_read(text: bytes) -> None:
    seen_in(text)


def pace(**plan: float) -> Pace:
    return Pace(HangPlan(step_min=10, first_step_min=120, validation_min=60, **plan), 0.0)  # type: ignore[arg-type]


def stepped(found: Pace, every_s: float, steps: range, start: float = 0.0) -> float:
    """Steps so far apart; the time of the last one."""
    now = start
    for step in steps:
        now += every_s
        found.see(Seen((step,)), now)
    return now


def test_the_first_step_has_a_bound_of_its_own() -> None:
    found = pace()
    assert found.hung(120 * MIN) is None
    assert found.hung(120 * MIN + 1) == (
        "no new step for 7201 s since the trainer's start; the limit is 7200 s: first_step_min"
    )
    assert pace(val_before_train=True).hung(120 * MIN + 1) is None
    validated = pace(val_before_train=True)
    validated.see(Seen((0,)), 100 * MIN)
    assert validated.hung(220 * MIN) is None
    assert "since the validation before training" in str(validated.hung(221 * MIN))


def test_ten_minutes_or_five_times_the_median_whichever_is_longer() -> None:
    quick, slow = pace(), pace()
    now = stepped(quick, 20, range(1, 6))
    assert quick.hung(now + 600) is None
    assert quick.hung(now + 601) == "no new step for 601 s after step 5; the limit is 600 s: hang_min"
    now = stepped(slow, 300, range(1, 6))
    assert slow.hung(now + 1500) is None
    assert slow.hung(now + 1501) == (
        "no new step for 1501 s after step 5; the limit is 1500 s: 5 times the median step"
    )


def test_the_way_to_the_first_step_and_steps_long_ago_do_not_count() -> None:
    found = pace()
    found.see(Seen((1,)), 7000)
    now = stepped(found, 1000, range(2, 12), 7000)
    now = stepped(found, 200, range(12, 32), now)
    assert found.limit() == (1000, "5 times the median step")


@pytest.mark.parametrize(("step", "more"), [(3, True), (4, True), (5, False), (7, True), (8, True), (9, False)])
def test_validation_and_checkpoints_have_time_of_their_own(step: int, more: bool) -> None:
    found = pace(test_freq=4)
    found.see(Seen((step,)), 0)
    assert found.limit()[0] == (70 if more else 10) * MIN
    both = pace(test_freq=4, save_freq=2)
    both.see(Seen((3,)), 0)
    assert both.limit() == (70 * MIN, "hang_min, and the time for a validation and a checkpoint")


def test_a_kind_of_step_that_was_seen_is_measured_by_its_own_median() -> None:
    every = pace(save_freq=1)
    assert stepped(every, 60, range(1, 2)) and every.limit()[0] == 70 * MIN, "no checkpoint has been seen yet"
    stepped(every, 60, range(2, 6), 60)
    assert every.limit() == (10 * MIN, "hang_min")
    slow = pace(save_freq=1)
    stepped(slow, 300, range(1, 6))
    assert slow.limit() == (1500, "5 times the median step of steps with a checkpoint")


def test_a_validation_that_was_never_seen_has_its_hour_however_quick_checkpoints_are() -> None:
    found = pace(save_freq=2, test_freq=10)
    stepped(found, 60, range(1, 9))
    assert found.limit() == (10 * MIN, "hang_min")
    found.see(Seen((9,)), 9 * 60)
    assert found.limit() == (70 * MIN, "hang_min, and the time for a validation and a checkpoint")


def test_the_last_step_validates_and_saves_and_what_comes_after_it_has_a_bound() -> None:
    found = pace(save_freq=100)
    found.see(Seen((6,), 8), 0)
    assert found.limit()[0] == 10 * MIN
    found.see(Seen((7,)), 0)
    assert found.limit()[0] == 70 * MIN
    found.see(Seen((8,)), 0)
    assert found.limit() == (70 * MIN, "hang_min, and the time for a checkpoint"), "it may still be written"


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(0, 1e5)), max_size=60), st.integers(0, 5), st.integers(0, 5))
def test_the_limit_is_never_below_the_least_and_never_without_bound(
    steps: list[tuple[int, float]], test_freq: int, save_freq: int
) -> None:
    found, now = pace(test_freq=test_freq, save_freq=save_freq), 0.0
    for step, after in steps:
        now += after
        found.see(Seen((step,)), now)
        limit, _ = found.limit()
        assert 10 * MIN <= limit <= 5e5 + 180 * MIN
        assert found.hung(now) is None
        assert found.hung(now + limit + 1) is not None


def test_a_log_is_read_from_its_end_on_line_by_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"step:1 - old\nstep:2 - ")
    tail = LogTail(log)
    with log.open("ab") as file:
        file.write(b"rest of two\nstep:3 - a\nstep:4")
        file.flush()
        assert tail.read() == b"rest of two\nstep:3 - a\n"
        assert tail.read() == b""
        file.write(b" - b\n")
        file.flush()
        assert tail.read() == b"step:4 - b\n"
    log.write_bytes(b"step:5 - new file\n")
    assert tail.read() == b"step:5 - new file\n"


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    tail = LogTail(log)
    with log.open("ab") as file:
        file.write(b"step:7 - ")
        for _ in range(3):
            file.write(b"x" * (KEPT_BYTES // 2))
            file.flush()
            assert tail.read() == b""
            assert len(tail._rest) <= KEPT_BYTES
        file.write(b"\n")
        file.flush()
        assert seen_in(tail.read()) == Seen((7,))


def test_a_long_step_line_that_two_looks_find_keeps_its_numbers(tmp_path: Path) -> None:
    metrics = {f"actor/metric_{number:04d}": number / 8 for number in range(1_000)}
    line = " - ".join(["step:7", *(f"{name}:{value}" for name, value in metrics.items())]).encode()
    log = tmp_path / "log"
    log.touch()
    tail = LogTail(log)
    with log.open("ab") as file:
        file.write(line[:20_001])
        file.flush()
        assert tail.read() == b""
        file.write(line[20_001:] + b"\n")
        file.flush()
        newest = seen_in(tail.read()).newest
    assert newest is not None and newest.metrics == metrics


def test_a_pipe_is_no_log() -> None:
    here, there = os.pipe()
    try:
        with pytest.raises(OSError, match="no regular file"):
            LogTail(Path(f"/proc/self/fd/{there}"))
    finally:
        os.close(here)
        os.close(there)


def test_where_steps_cannot_be_seen_it_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> LogTail:
        raise OSError("a pipe")

    assert Progress(None).hung() is None
    assert Progress(HangPlan(), fails).hung() is None
    out = capsys.readouterr().out
    assert "hang: not measured: this trainer's steps are not in its log" in out
    assert "hang: not measured: the driver's own log cannot be read: a pipe" in out


def test_progress_follows_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    log.touch()
    now = 0.0
    monkeypatch.setattr("submitter.gang.progress.time.monotonic", lambda: now)
    found = Progress(HangPlan(step_min=0.5, first_step_min=1), lambda: LogTail(log))

    def after(seconds: int) -> str | None:
        nonlocal now
        lines = []
        for _ in range(seconds):
            now += 1.0
            lines.append(found.hung())
        return next((line for line in lines if line), None)

    assert after(55) is None
    with log.open("a") as file:
        file.write("step:1 - a:1\n")
    assert after(30) is None
    assert str(after(2)).startswith("no new step for 31 s after step 1")
