"""Whatever a hand does to a job file: findings, a clean pass or wrong usage, never another exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.mutations import BASES, mutated, outcome


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutations")


@pytest.mark.parametrize("lines", BASES, ids=["shipped", "small"])
def test_the_jobs_before_any_mistake_have_no_error(lines: list[str], folder: Path, trees: Path) -> None:
    report = outcome("\n".join(lines), folder, trees=trees)
    assert not isinstance(report, Exception) and report.errors == ()


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_mutated_job_is_told_or_passes(folder: Path, text: str) -> None:
    outcome(text, folder)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_mutated_job_is_told_or_passes_when_composed(folder: Path, trees: Path, text: str) -> None:
    outcome(text, folder, trees=trees)
