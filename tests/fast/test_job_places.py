"""Every key of a job file has a line, and messages about it show that line."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime_env.stacks import stack_of
from submitter.errors import Place, UsageError
from tests.support.builders import FILE, job
from tests.support.checks import findings_of
from tests.support.job_files import load_text

TEXT = """\
name: lines
stack: {stack}
cluster:
  nodes: 2
  npus_per_node: 7
  labels:
    pool: a3
trainer:
  module: {module}
  launcher: ray
arguments:
  data:
    trainer.nnodes: 2
runtime_env:
  pip: []
  working_dir: {working_dir}
"""
GIVEN = {"stack": "cann-9.0.0", "module": "verl.trainer.main_ppo", "working_dir": "gone"}


def text(**changes: str) -> str:
    return TEXT.format(**{**GIVEN, **changes})


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("name", 1),
        ("stack", 2),
        ("cluster.nodes", 4),
        ("cluster.labels.pool", 7),
        ("cluster.labels.other", 6),
        ("cluster.place_wait_s", 3),
        ("trainer.module", 9),
        ("trainer.torchrun.nproc_per_node", 8),
        ("runtime_env.pip", 15),
        ("recovery.max_attempts", None),
        ("data.trainer.nnodes", None),
    ],
)
def test_a_key_has_its_line_or_that_of_its_section(key: str, line: int | None, tmp_path: Path) -> None:
    made = load_text(text(), tmp_path)
    assert made.place(key) == Place(made.file, line, key)


def test_a_job_made_by_hand_has_no_lines() -> None:
    assert job().place("cluster.nodes") == Place(FILE, None, "cluster.nodes")


@pytest.mark.parametrize(
    ("rule", "line", "changes"),
    [
        ("NR382", 10, {"module": "verl.trainer.sft_trainer"}),
        ("NR383", 9, {"module": "verl.trainer.main_generation"}),
        ("NR393", 5, {}),
        ("NR441", 16, {}),
    ],
)
def test_findings_about_sections_have_the_line(rule: str, line: int, changes: dict[str, str], tmp_path: Path) -> None:
    (finding,) = findings_of(load_text(text(**changes), tmp_path), rule)
    assert finding.place.line == line


def test_an_unknown_stack_has_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"yaml:2: there is no stack cann-9\.0"):
        stack_of(load_text(text(stack="cann-9.0"), tmp_path))
