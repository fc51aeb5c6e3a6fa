"""Verl's own file logger, attempt by attempt: no attempt writes over another one's file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from submitter.gang.attempt_safe import LOGGER_PATH, LOGGER_ROOT, attempt_safe, left_to_process

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
