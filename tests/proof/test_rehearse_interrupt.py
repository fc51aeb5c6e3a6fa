"""A rehearsal that is interrupted leaves nothing, whenever that is; two beside each other do not meet."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from submitter.exit_codes import ExitCode
from tests.support.rehearsal import Rehearsal, rehearsal

pytestmark = pytest.mark.proof

START_BOUND_S = 120.0
TRAIN_BOUND_S = 300.0
END_BOUND_S = 40.0
FIRST_STEP = "step:1 - "

MOMENTS: dict[str, Callable[[Rehearsal], None]] = {
    "making the model": lambda run: run.wait_for("tiny model", bound_s=START_BOUND_S),
    "the first node is being started": lambda run: run.wait_keepers(1, bound_s=START_BOUND_S),
    "the other nodes are being started": lambda run: run.wait_keepers(2, bound_s=START_BOUND_S),
    "training": lambda run: run.wait_for(FIRST_STEP, bound_s=TRAIN_BOUND_S),
}


@pytest.mark.timeout(500)
@pytest.mark.parametrize("moment", list(MOMENTS))
def test_ctrl_c_leaves_nothing(tmp_path: Path, moment: str) -> None:
    with rehearsal(tmp_path, "--nodes", "2") as run:
        MOMENTS[moment](run)
        run.look()
        run.ctrl_c()
        assert run.wait(bound_s=END_BOUND_S) == ExitCode.INTERRUPTED, run.err[-3000:]
        assert "Traceback" not in run.err
        run.assert_nothing_left()


@pytest.mark.timeout(500)
def test_an_impatient_second_ctrl_c_leaves_nothing_either(tmp_path: Path) -> None:
    with rehearsal(tmp_path, "--nodes", "1") as run:
        run.wait_for("submitted as", bound_s=START_BOUND_S)
        run.ctrl_c()
        run.ctrl_c()
        run.wait(bound_s=END_BOUND_S)
        run.assert_nothing_left()


@pytest.mark.timeout(200)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_terminal_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with rehearsal(tmp_path, "--nodes", "1") as run:
        run.wait_keepers(1, bound_s=START_BOUND_S)
        run.process.send_signal(number)
        assert run.wait(bound_s=END_BOUND_S) == 128 + number
        run.assert_nothing_left()


@pytest.mark.timeout(500)
def test_kill_9_leaves_no_process(tmp_path: Path) -> None:
    with rehearsal(tmp_path, "--nodes", "2") as run:
        run.wait_for("placement", bound_s=TRAIN_BOUND_S)
        run.look()
        run.process.kill()
        run.assert_nothing_left(files=False)


@pytest.mark.timeout(600)
def test_a_second_rehearsal_beside_a_running_one(tmp_path: Path) -> None:
    with rehearsal(tmp_path / "first", "--nodes", "1") as first:
        first.wait_for("submitted as", bound_s=START_BOUND_S)
        with rehearsal(tmp_path / "second", "--nodes", "1") as second:
            assert second.wait(bound_s=TRAIN_BOUND_S) == 0, second.err[-3000:]
            second.assert_nothing_left()
        assert first.wait(bound_s=TRAIN_BOUND_S) == 0, first.err[-3000:]
        first.assert_nothing_left()
        assert dashboard(first) != dashboard(second)


def dashboard(run: Rehearsal) -> str:
    return next(line for line in run.err.splitlines() if "dashboard http" in line).rpartition(" ")[2]
