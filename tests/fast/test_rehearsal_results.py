"""A rehearsal passes only on what it finds: steps with rewards, and a checkpoint that is whole."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import NoReturn

import pytest

from submitter.errors import NotPlacedError, RunFailedError, UsageError
from submitter.job.load import load_job
from submitter.rehearsal.rehearse import rehearse, require_packages
from submitter.rehearsal.results import read_results

WORLD_SIZE = 2


def shard(folder: Path, rank: int) -> Path:
    path = folder / f"model_world_size_{WORLD_SIZE}_rank_{rank}.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/0", bytes(range(256)) * 40)
    return path


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """As a passed rehearsal leaves it."""
    lines = [{"step": step, "data": {"critic/rewards/mean": step / 10, "other": 1}} for step in range(1, 7)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    actor = tmp_path / "checkpoints" / "global_step_6" / "actor"
    actor.mkdir(parents=True)
    (actor / "fsdp_config.json").write_text("{}")
    for rank in range(WORLD_SIZE):
        shard(actor, rank)
    (tmp_path / "checkpoints" / "latest_checkpointed_iteration.txt").write_text("6")
    return tmp_path


def actor_folder(workdir: Path) -> Path:
    return workdir / "checkpoints" / "global_step_6" / "actor"


def test_a_passed_rehearsal_is_read(workdir: Path) -> None:
    results = read_results(workdir)
    assert (results.steps, results.first_reward, results.last_reward) == (6, 0.1, 0.6)
    assert (results.checkpoint_step, results.ranks) == (6, WORLD_SIZE)
    assert results.mib > 0


def test_a_missing_rank_is_named(workdir: Path) -> None:
    (actor_folder(workdir) / f"model_world_size_{WORLD_SIZE}_rank_1.pt").unlink()
    with pytest.raises(RunFailedError, match=r"not complete \(\[1\]\)"):
        read_results(workdir)


def test_a_torn_shard_is_named(workdir: Path) -> None:
    path = actor_folder(workdir) / f"model_world_size_{WORLD_SIZE}_rank_0.pt"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RunFailedError, match=r"rank_0\.pt"):
        read_results(workdir)


def test_a_shard_with_flipped_bytes_is_named(workdir: Path) -> None:
    path = actor_folder(workdir) / f"model_world_size_{WORLD_SIZE}_rank_0.pt"
    data = bytearray(path.read_bytes())
    data[200] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(RunFailedError, match=r"rank_0\.pt"):
        read_results(workdir)


def test_a_checkpoint_without_shards_is_none(workdir: Path) -> None:
    for path in actor_folder(workdir).glob("*.pt"):
        path.unlink()
    with pytest.raises(RunFailedError, match="global_step_6"):
        read_results(workdir)


@pytest.mark.parametrize("content", ["", "{}\n", '{"step": 1, "data": {"other": 1}}\n', "no json\n"])
def test_steps_that_were_not_recorded_are_no_success(workdir: Path, content: str) -> None:
    (workdir / "metrics.jsonl").write_text(content)
    with pytest.raises(RunFailedError, match="not recorded"):
        read_results(workdir)


def never(*_: object) -> NoReturn:
    raise AssertionError("nothing may be started")


def test_more_nodes_than_memory_allows_are_refused_before_anything_is_started(tmp_path: Path) -> None:
    job = load_job("qwen3_5_122b_a10b_32k", environ={"HOME": "/root"})
    with pytest.raises(NotPlacedError, match="5000 local Ray nodes need"):
        rehearse(job, nodes=5000, workdir=tmp_path, tell=lambda *_, **__: None, run_job=never)
    assert list(tmp_path.iterdir()) == []


def test_missing_packages_are_named_with_the_extra_that_brings_them() -> None:
    with pytest.raises(UsageError, match=r"needs verl, torch;.*npurun\[rehearsal\]"):
        require_packages(lambda name: None if name in ("verl", "torch") else object())
