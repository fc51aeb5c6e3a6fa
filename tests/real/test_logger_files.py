"""Verl's own file logger, attempt by attempt: no attempt writes over another one's file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from submitter.gang.attempt_safe import LOGGER_PATH, LOGGER_ROOT, attempt_safe, left_to_process
from submitter.gang.loggers import continued

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in (LOGGER_PATH, LOGGER_ROOT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log(step: int) -> None:
    from verl.utils.tracking import FileLogger

    logger = FileLogger("project", "experiment")
    logger.log({"loss": step}, step)
    logger.finish()


def steps(folder: Path) -> dict[str, int]:
    return {str(file.relative_to(folder)): json.loads(file.read_text())["step"] for file in folder.rglob("*.jsonl")}


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        (LOGGER_PATH, "m.jsonl", {"m.jsonl": 1, "m.a2.jsonl": 2, "m.a3.jsonl": 3}),
        (LOGGER_ROOT, "r", {f"{root}/project/experiment.jsonl": n for n, root in enumerate(("r", "r/a2", "r/a3"), 1)}),
    ],
)
def test_a_file_that_the_job_names(
    bare: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, written: dict[str, int]
) -> None:
    for attempt in (1, 2, 3):
        monkeypatch.setenv(name, attempt_safe({name: value}, attempt)[name])
        log(attempt)
    assert steps(bare) == written


def test_a_file_that_nobody_names(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for attempt in (1, 2):
        for name, value in left_to_process(os.environ, attempt).items():
            monkeypatch.setenv(name, value)
        log(attempt)
    assert steps(bare) == {"project/experiment.jsonl": 1, "a2/project/experiment.jsonl": 2}


def test_tensorboard_shows_one_curve_of_several_attempts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Steps 3 and 4 are trained again by the second attempt, and shown as both have logged them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from verl.utils.tracking import _TensorboardAdapter

    monkeypatch.delenv("TENSORBOARD_DIR", raising=False)
    for attempt, seen in (("r-a1", (1, 2, 3, 4)), ("r-a2", (3, 4, 5))):
        monkeypatch.chdir(_unpacked(tmp_path, attempt))
        for name, value in continued({"NPURUN_ATTEMPT": attempt}, "r", tmp_path).items():
            monkeypatch.setenv(name, value)
        logger = _TensorboardAdapter("project", "experiment")
        for step in seen:
            logger.log({"loss": step + 10 * int(attempt[-1])}, step)
        logger.finish()
    shown = EventAccumulator(str(tmp_path / "npurun/r/tensorboard"))
    shown.Reload()
    found = [(one.step, one.value) for one in shown.Scalars("loss")]
    assert found == [(1, 11), (2, 12), (3, 13), (4, 14), (3, 23), (4, 24), (5, 25)]


def _unpacked(folder: Path, attempt: str) -> Path:
    """Where Ray lets the attempt's trainer stand."""
    found = folder / attempt
    found.mkdir()
    return found
