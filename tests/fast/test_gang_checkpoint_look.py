"""One node's look at checkpoints: what is whole is taken, whatever a killed run leaves is told with its name."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.checkpoint.headers import safetensors_problem, torch_problem
from submitter.gang.checkpoint.look import list_steps, look
from submitter.gang.checkpoint.megatron import shard_sizes
from submitter.gang.checkpoint.plan import CheckpointPlan
from submitter.gang.checkpoint.seen import Listing, Problem, Seen
from tests.support.checkpoints import INDEX, SHARD, WEIGHTS, cut, dist_tree, fsdp, megatron_new, megatron_old

WORLD = 4
FSDP = CheckpointPlan("/unused", "fsdp", WORLD)
MEGATRON = CheckpointPlan("/unused", "megatron", WORLD, dist_model=False, new_layout=True)
OLD = dataclasses.replace(MEGATRON, new_layout=False)


def seen(plan: CheckpointPlan, folder: Path, ranks: Sequence[int] = range(WORLD), late: bool = False) -> Seen:
    found = look(plan, folder, ranks, True, lambda: late)
    assert Seen.from_json(json.loads(json.dumps(dataclasses.asdict(found)))) == found
    return found


def told(plan: CheckpointPlan, folder: Path, ranks: Sequence[int] = range(WORLD)) -> list[tuple[str, str]]:
    return [(problem.why, problem.value) for problem in seen(plan, folder, ranks).problems]


def test_steps_are_listed_newest_first_as_numbers(tmp_path: Path) -> None:
    for name in ("global_step_9", "global_step_10", "global_step_2", "global_step_x", "global_step_", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "global_step_11").write_text("no folder")
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("9\n")
    assert list_steps(tmp_path) == Listing(True, (10, 9, 2), 9)
    assert list_steps(tmp_path / "absent") == Listing(False)
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("")
    assert list_steps(tmp_path).hint is None


def test_a_whole_checkpoint_has_no_problem(tmp_path: Path) -> None:
    assert seen(FSDP, fsdp(tmp_path, 4, WORLD)) == Seen(data=True)


def test_only_the_ranks_of_this_node_have_to_be_there(tmp_path: Path) -> None:
    folder = fsdp(tmp_path, 4, WORLD, ranks=(2, 3))
    assert told(FSDP, folder, (2, 3)) == []
    missing = [
        ("incomplete", f"actor/{kind}_world_size_4_rank_{{0, 1}}.pt") for kind in ("model", "optim", "extra_state")
    ]
    assert told(FSDP, folder, (0, 1)) == missing
    assert told(dataclasses.replace(FSDP, contents=("model",)), folder, (0, 1)) == missing[:1]


def test_shards_of_another_world_cannot_be_loaded(tmp_path: Path) -> None:
    folder = fsdp(tmp_path, 4, 8)
    assert {why for why, _ in told(FSDP, folder)} == {"world_size"}
    fsdp(tmp_path, 4, WORLD)  # both in one folder: that of this world counts
    assert told(FSDP, folder) == []


@pytest.mark.parametrize("size", [0, 1, 100, None])
def test_a_shard_that_was_cut_is_named(tmp_path: Path, size: int | None) -> None:
    folder = fsdp(tmp_path, 4, WORLD)
    cut(folder / "actor" / "optim_world_size_4_rank_3.pt", size)
    ((why, value),) = told(FSDP, folder)
    assert why == "unreadable"
    assert value.startswith("actor/optim_world_size_4_rank_3.pt: ")
    assert told(FSDP, folder, (0, 1, 2)) == []


def test_a_shard_of_the_right_size_full_of_zeros_is_named(tmp_path: Path) -> None:
    folder = fsdp(tmp_path, 4, WORLD)
    shard = folder / "actor" / "model_world_size_4_rank_0.pt"
    whole = shard.read_bytes()
    shard.write_bytes(bytes(len(whole) // 2) + whole[len(whole) // 2 :])
    assert [why for why, _ in told(FSDP, folder)] == ["unreadable"]


def test_files_that_there_was_no_time_to_open_are_counted(tmp_path: Path) -> None:
    folder = fsdp(tmp_path, 4, WORLD)
    assert seen(FSDP, folder, late=True) == Seen(unchecked=3 * WORLD, data=True)


def test_what_is_not_there(tmp_path: Path) -> None:
    folder = fsdp(tmp_path, 4, WORLD)
    assert told(FSDP, tmp_path / "global_step_5")[0][0] == "no_folder"
    assert told(dataclasses.replace(FSDP, critic=True), folder) == [("incomplete", "critic")]
    (folder / "data.pt").unlink()
    assert seen(FSDP, folder) == Seen(data=False)
    shutil.copy(SHARD, folder / "data.pt")
    cut(folder / "data.pt")
    assert seen(FSDP, folder).problems[0].value.startswith("data.pt: ")
    shutil.rmtree(folder / "actor")
    assert ("incomplete", "actor") in told(FSDP, folder)


def test_fine_tuning_has_no_folder_per_role(tmp_path: Path) -> None:
    folder = fsdp(tmp_path, 4, WORLD, role=".")
    (folder / "data.pt").rename(folder / "data_0.pt")
    assert seen(dataclasses.replace(FSDP, roles=False), folder) == Seen(data=True)


@pytest.mark.parametrize(
    ("plan", "make"),
    [(MEGATRON, lambda folder: megatron_new(folder, 4, WORLD)), (OLD, lambda folder: megatron_old(folder, 4))],
)
def test_a_whole_checkpoint_of_megatron(tmp_path: Path, plan: CheckpointPlan, make: Callable[[Path], Path]) -> None:
    folder = make(tmp_path)
    found = seen(plan, folder)
    assert (found.problems, found.data) == ((), True)
    assert told(dataclasses.replace(plan, new_layout=None), folder) == []
    other = dataclasses.replace(plan, new_layout=not plan.new_layout)
    assert [why for why, _ in told(other, folder)] == ["layout"]


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        ("ckpt_contents.json", ("incomplete", "actor/ckpt_contents.json")),
        ("optimizer/dist_ckpt/.metadata", ("incomplete", "actor/optimizer/dist_ckpt/.metadata")),
        ("optimizer/dist_ckpt/common.pt", ("incomplete", "actor/optimizer/dist_ckpt/common.pt")),
        ("optimizer/dist_ckpt/metadata.json", ("incomplete", "actor/optimizer/dist_ckpt/metadata.json")),
        ("extra/dist_ckpt/__0_0.distcp", ("incomplete", "actor/extra/dist_ckpt/__0_0.distcp")),
        ("extra", ("incomplete", "actor/extra/dist_ckpt")),
        (
            "model/huggingface/model-00002-of-00002.safetensors",
            ("incomplete", "actor/model/huggingface/model-00002-of-00002.safetensors"),
        ),
    ],
)
def test_what_a_checkpoint_of_megatron_lacks_is_named(tmp_path: Path, lost: str, expected: tuple[str, str]) -> None:
    folder = megatron_new(tmp_path, 4, WORLD)
    whole = seen(MEGATRON, folder).same
    path = folder / "actor" / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert told(MEGATRON, folder) == [expected]
    assert seen(MEGATRON, folder).same != whole


@pytest.mark.parametrize(
    "name",
    [
        "optimizer/dist_ckpt/__0_0.distcp",
        "optimizer/dist_ckpt/.metadata",
        "model/huggingface/model-00001-of-00002.safetensors",
        "model/huggingface/model.safetensors.index.json",
        "ckpt_contents.json",
    ],
)
def test_what_was_cut_in_a_checkpoint_of_megatron_is_named(tmp_path: Path, name: str) -> None:
    folder = megatron_new(tmp_path, 4, WORLD)
    cut(folder / "actor" / name)
    ((why, value),) = told(MEGATRON, folder)
    assert why == "unreadable"
    assert value.startswith(f"actor/{name}")


def test_a_checkpoint_of_megatron_from_another_world(tmp_path: Path) -> None:
    assert told(MEGATRON, megatron_new(tmp_path, 4, 8)) == [("world_size", "actor/8: 4 ranks wanted")]


def test_megatron_fsdp_has_everything_in_the_model(tmp_path: Path) -> None:
    folder = megatron_new(tmp_path, 4, WORLD)
    for name in ("optimizer", "extra"):
        shutil.rmtree(folder / "actor" / name)
    tree = dist_tree(folder / "actor" / "model" / "dist_ckpt")
    for label in ("common.pt", "metadata.json"):
        (tree / label).unlink()
    assert told(dataclasses.replace(MEGATRON, dist_model=True), folder) == []


def test_an_index_loads_no_class_and_reaches_no_other_folder(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    evil = f"cposix\nsystem\n(S'touch {marker}'\ntR.".encode()
    with pytest.raises(Exception):  # noqa: B017  whatever it is: it is no index
        shard_sizes(evil)
    assert not marker.exists()
    assert shard_sizes(INDEX.read_bytes()) == {"__0_0.distcp": 4671}


@given(st.integers(0, 1562))
def test_no_part_of_a_shard_passes_for_the_whole(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "shard.pt"
    path.write_bytes(SHARD.read_bytes()[:size])
    assert torch_problem(path) is not None


@given(st.integers(0, 87))
def test_no_part_of_safetensors_passes_for_the_whole(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "weights.safetensors"
    path.write_bytes(WEIGHTS.read_bytes()[:size])
    assert safetensors_problem(path) is not None


@given(st.binary(max_size=400))
def test_any_bytes_are_told_and_raise_nothing(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    assert torch_problem(path) is not None
    assert safetensors_problem(path) is not None or content


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_folder_without_leave_is_an_error(tmp_path: Path) -> None:
    folder = fsdp(tmp_path, 4, WORLD)
    folder.chmod(0)
    with pytest.raises(OSError):
        seen(FSDP, folder)


def test_problems_are_plain_data() -> None:
    assert Seen.from_json({"problems": [{"why": "incomplete", "value": "x"}]}).problems == (Problem("incomplete", "x"),)
