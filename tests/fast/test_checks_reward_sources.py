"""Sources of answers that verl has no reward function for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from submitter.checks import data_files
from submitter.checks.finding import Finding
from submitter.job.model import Trainer
from tests.support.builders import job, number
from tests.support.checks import findings_of

STACKS = ["cann-8.5.0", "cann-9.0.0", "cann-9.1.0", "cann-9.1.0,verl=0.9.1"]


def write(path: Path, *sources: object) -> str:
    rows = [
        {"data_source": one, "prompt": [{"role": "user", "content": "1 + 1?"}], "reward_model": {"ground_truth": "2"}}
        for one in sources
    ]
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def found(path: str, stack: str | None = "cann-9.0.0", **settings: Any) -> list[Finding]:
    more = {name: settings.pop(name) for name in ("flags", "pip", "trainer") if name in settings}
    values: dict[str, Any] = {"data.train_files": path, "data.train_batch_size": number("1")}
    values |= {name.replace("__", "."): value for name, value in settings.items()}
    return findings_of(job(groups={"data": values}, stack=stack, **more), "NR338")


@pytest.mark.parametrize("stack", STACKS)
def test_a_source_that_verl_does_not_know(stack: str, tmp_path: Path) -> None:
    (finding,) = found(write(tmp_path / "t.parquet", "openai/gsm8k", "my/sums"), stack)
    assert (finding.severity, finding.place.line, finding.place.key) == ("error", 1, "data.train_files")
    assert "data_source my/sums," in finding.message() and "my/sums" in finding.message("zh")


@pytest.mark.parametrize("source", ["openai/gsm8k", "math_dapo", "aime2024", "hiyouga/geometry3k", None, 7])
def test_sources_that_it_knows_or_that_are_none(source: object, tmp_path: Path) -> None:
    assert found(write(tmp_path / "t.parquet", source)) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"reward__custom_reward_function__path": "/code/mine.py"},
        {"custom_reward_function__path": "/code/mine.py"},
        {"reward__reward_model__enable": True},
        {"reward__reward_manager__name": "remote"},
        {"reward__reward_manager__name": "mine"},
        {"data__custom_cls__path": "/code/mine.py"},
        {"trainer": Trainer("recipe.dapo.main_dapo", "ray")},
    ],
)
def test_who_scores_otherwise_needs_no_known_source(settings: dict[str, Any], tmp_path: Path) -> None:
    assert found(write(tmp_path / "t.parquet", "my/sums"), **settings) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"flags": {"VERL_USE_EXTERNAL_MODULES": "mine"}},
        {"pip": ["git+https://example.org/verl"]},
        {"actor_rollout_ref__rollout__agent__default_agent_loop": "mine"},
        {"stack": "cann-9.1.0,verl=0.11.0"},
    ],
)
def test_code_of_the_user_may_know_it(settings: dict[str, Any], tmp_path: Path) -> None:
    assert [one.severity for one in found(write(tmp_path / "t.parquet", "my/sums"), **settings)] == ["warning"]


def test_validation_files_count_where_the_job_validates(tmp_path: Path) -> None:
    train, val = write(tmp_path / "t.parquet", "math"), write(tmp_path / "v.parquet", "my/sums")
    assert [one.place.key for one in found(train, data__val_files=val)] == ["data.val_files"]
    never: dict[str, Any] = {"trainer__test_freq": number("-1"), "trainer__val_before_train": False}
    assert found(train, data__val_files=val, **never) == []


def test_only_the_first_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.parquet", *["math"] * 6, "my/sums")
    assert len(found(path)) == 1
    monkeypatch.setattr(data_files, "SOURCE_BATCH_ROWS", 3)
    monkeypatch.setattr(data_files, "SOURCE_BATCHES", 2)
    assert found(path) == []


def test_a_source_of_its_own_in_each_row_is_told_shortly(tmp_path: Path) -> None:
    (finding,) = found(write(tmp_path / "t.parquet", *(f"row {number}" for number in range(300))))
    assert "row 3 (+" in finding.message() and "row 5" not in finding.message()
