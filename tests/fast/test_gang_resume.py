"""The driver's phase `checkpoint`: what a later attempt's trainer is told, and when it may not start."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from submitter.gang.ask import LostError
from submitter.gang.checkpoint.plan import CheckpointPlan
from submitter.gang.checkpoint.resume import absolute, hydra_text, made_safe, resumed
from submitter.gang.ended import Ended, Stop
from submitter.gang.members import Gang, Member
from submitter.gang.node_worker import NodeWorker
from submitter.gang.plan import Plan, TorchrunPlan
from submitter.gang.record import parse_resume
from tests.support.checkpoints import cut, fsdp

IPS = ("10.0.0.9", "10.0.0.10")
"""verl sorts them as strings: rank 0 is on 10.0.0.10."""
COMMAND = ("python3", "-m", "verl.trainer.main_ppo", "trainer.save_freq=2")


class Nodes:
    """Real node workers of this process, one folder each; an index of `silent` never answers."""

    def __init__(self, folders: Mapping[str, Path], silent: Sequence[int] = ()) -> None:
        self._folders = folders
        self._workers = [NodeWorker("run-a2") for _ in IPS]
        self._silent = silent
        self.ranks: dict[int, list[int]] = {}

    def ask(self, index: int, method: str, *arguments: Any) -> Any:
        folder = str(self._folders[IPS[index]])
        if index in self._silent:
            return LostError("gone")
        if method == "checkpoints":
            return self._workers[index].checkpoints(folder)
        plan, step, ranks, first = arguments
        self.ranks[index] = list(ranks)
        return self._workers[index].checkpoint({**plan, "folder": folder}, step, ranks, first)

    def ready(self, references: Sequence[Any], timeout_s: float) -> Sequence[Any]:
        return references

    def value(self, reference: Any) -> Any:
        if isinstance(reference, LostError):
            raise reference
        return reference


class Indexed(Nodes):
    """References have to be hashable."""

    def ask(self, index: int, method: str, *arguments: Any) -> Any:
        answer = super().ask(index, method, *arguments)
        return answer if isinstance(answer, LostError) else (index, method, json.dumps(answer))

    def value(self, reference: Any) -> Any:
        return json.loads(super().value(reference)[2])


def plan(folder: str = "/ckpt", **changes: Any) -> Plan:
    checkpoint = CheckpointPlan(folder, "fsdp", 4)
    known = {field.name for field in dataclasses.fields(CheckpointPlan)}
    own = {name: value for name, value in changes.items() if name in known}
    more = {name: value for name, value in changes.items() if name not in known}
    return Plan("ray", COMMAND, 2, 2, {}, {}, checkpoint=dataclasses.replace(checkpoint, **own), **more)


def gang() -> Gang:
    return Gang("run-a2", tuple(Member(ip, ip, ip) for ip in IPS), (), 2, True)


def run(
    plan: Plan, nodes: Nodes, capsys: pytest.CaptureFixture[str], attempt: str = "run-a2", **environ: str
) -> tuple[list[str], dict[str, Any] | None, str]:
    """(what is added to the command, the resume record, what was printed)."""
    made = resumed(plan, attempt, gang(), nodes, Stop(), environ)
    out = capsys.readouterr().out
    records = [record for line in out.splitlines() if (record := parse_resume(line, attempt))]
    return list(made.command[len(plan.command) :]), records[0] if records else None, out


def shared(folder: Path) -> Indexed:
    return Indexed(dict.fromkeys(IPS, folder))


def test_the_newest_complete_one_is_passed_explicitly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fsdp(tmp_path, 2, 4)
    fsdp(tmp_path, 10, 4)
    nodes = shared(tmp_path)
    added, record, out = run(plan(), nodes, capsys, NPURUN_TRAINED="11")
    assert added == ["trainer.resume_mode=resume_path", "trainer.resume_from_path=/ckpt/global_step_10"]
    assert record is not None
    assert (record["step"], record["path"], record["why"], record["skipped"]) == (
        10,
        "/ckpt/global_step_10",
        "newest",
        [],
    )
    assert "going on from step 10" in out
    assert nodes.ranks == {0: [2, 3], 1: [0, 1]}


def test_a_half_written_one_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fsdp(tmp_path, 2, 4)
    cut(fsdp(tmp_path, 4, 4) / "actor" / "model_world_size_4_rank_0.pt")
    added, record, out = run(plan(), shared(tmp_path), capsys, NPURUN_TRAINED="5")
    assert added[1] == "trainer.resume_from_path=/ckpt/global_step_2"
    assert record is not None
    assert (record["why"], record["skipped"][0]["node"]) == ("older", "10.0.0.10")
    assert "warning: checkpoint: step 4 is left out: unreadable on 10.0.0.10: actor/model_world_size_4_rank_0.pt" in out


def test_each_node_may_have_its_own_ranks_and_no_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fsdp(tmp_path / "nine", 2, 4, ranks=(2, 3))
    fsdp(tmp_path / "ten", 2, 4, ranks=(0, 1))
    right = Indexed({"10.0.0.9": tmp_path / "nine", "10.0.0.10": tmp_path / "ten"})
    assert run(plan(), right, capsys)[0][1] == "trainer.resume_from_path=/ckpt/global_step_2"
    swapped = Indexed({"10.0.0.9": tmp_path / "ten", "10.0.0.10": tmp_path / "nine"})
    with pytest.raises(Ended, match="no_checkpoint"):
        run(plan(), swapped, capsys, NPURUN_TRAINED="2")


def test_torchrun_has_its_own_order_of_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fsdp(tmp_path, 2, 4, role=".")
    nodes = shared(tmp_path)
    run(plan(roles=False, torchrun=TorchrunPlan(2, None, None)), nodes, capsys)
    assert nodes.ranks == {0: [0, 1], 1: [2, 3]}


def test_nothing_to_go_on_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Ended) as ended:
        run(plan(), shared(tmp_path), capsys, NPURUN_TRAINED="7")
    assert ended.value.reason == "no_checkpoint"
    assert ended.value.evidence == ("step 7 was trained, and /ckpt has no complete checkpoint",)
    assert "recovery.from_start" in capsys.readouterr().out
    cut(fsdp(tmp_path, 4, 4) / "data.pt")
    with pytest.raises(Ended) as ended:
        run(plan(saves=False), shared(tmp_path), capsys, NPURUN_TRAINED="7")
    assert ended.value.evidence[0].endswith("; the job saves none (trainer.save_freq)")
    assert "global_step_4" in ended.value.evidence[1] and "unreadable" in ended.value.evidence[1]


@pytest.mark.parametrize(
    ("changes", "environ"), [({}, {"NPURUN_TRAINED": "0"}), ({}, {}), ({"from_start": True}, {"NPURUN_TRAINED": "7"})]
)
def test_starting_anew_where_it_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], environ: dict[str, str]
) -> None:
    added, record, _ = run(plan(**changes), shared(tmp_path), capsys, **environ)
    assert added == []
    assert record is not None and (record["step"], record["why"]) == (None, "none")
    cut(fsdp(tmp_path, 4, 4) / "data.pt")
    assert run(plan(**changes), shared(tmp_path), capsys, **environ)[0] == ["trainer.resume_mode=disable"]
    own = plan(mode="resume_path", **changes)
    assert run(own, shared(tmp_path), capsys, **environ)[0] == [], "as its own arguments say"


def test_a_job_that_does_not_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fsdp(tmp_path, 4, 4)
    added, record, _ = run(plan(resume=False), shared(tmp_path), capsys, NPURUN_TRAINED="7")
    assert added == ["trainer.resume_mode=disable"]
    assert record is not None and record["step"] is None


def test_the_first_attempt_looks_for_none_unless_it_is_asked_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fsdp(tmp_path, 4, 4)
    added, record, _ = run(plan(), shared(tmp_path), capsys, "run-a1")
    assert added == []
    assert record is not None and (record["step"], record["why"]) == (None, "first")
    assert run(plan(), shared(tmp_path), capsys, "run-a1", NPURUN_RESUME="1")[0][1].endswith("global_step_4")


def test_a_node_that_does_not_answer_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fsdp(tmp_path, 4, 4)
    with pytest.raises(Ended) as ended:
        run(plan(), Indexed(dict.fromkeys(IPS, tmp_path), silent=(1,)), capsys, NPURUN_TRAINED="4")
    assert "10.0.0.10" in ended.value.evidence[1] and "not_measured" in ended.value.evidence[1]
    assert "warning: checkpoint: 10.0.0.10: the folder is not measured: gone" in capsys.readouterr().out


def test_a_trainer_that_is_not_verl_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Plan("ray", ("python3", "-m", "mine"), 2, 2, {}, {})
    added, record, out = run(own, shared(tmp_path), capsys, NPURUN_TRAINED="7")
    assert (added, record) == ([], None)
    assert "not known to npurun" in out


def test_changes_come_last_and_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    changes = ["actor_rollout_ref.rollout.gpu_memory_utilization=0.6"]
    made = made_safe(plan(), {"NPURUN_CHANGES": json.dumps(changes)})
    assert made.command == (*COMMAND, *changes)
    assert changes[0] in capsys.readouterr().out
    assert made_safe(plan(), {}).command == COMMAND


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("checkpoints/x", "/home/me/npurun/run/checkpoints/x"),
        ("./a/./b", "/home/me/npurun/run/a/b"),
        ("../../etc", "/home/me/npurun/run/etc"),
        ("~/c", "/home/me/c"),
        ("~", "/home/me"),
    ],
)
def test_a_relative_folder_is_made_absolute(folder: str, expected: str) -> None:
    assert absolute(folder, "/home/me", "run") == expected


def test_a_relative_folder_is_the_same_for_every_attempt_of_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    made = made_safe(plan("checkpoints/x"), {"NPURUN_RUN": "run"})
    assert made.command[-1] == "trainer.default_local_dir=/home/me/npurun/run/checkpoints/x"
    assert made.checkpoint is not None and made.checkpoint.folder == "/home/me/npurun/run/checkpoints/x"
    assert "checkpoints go to /home/me/npurun/run/checkpoints/x on the nodes" in capsys.readouterr().out
    assert made_safe(plan("checkpoints/x", saves=False), {"NPURUN_RUN": "run"}).command == COMMAND


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)).map(lambda text: f"/{text}"))
def test_hydra_reads_every_path_back(path: str) -> None:
    (override,) = OverridesParser.create().parse_overrides([f"trainer.resume_from_path={hydra_text(path)}"])
    config = OmegaConf.create({"path": override.value()})
    assert config.path == path
