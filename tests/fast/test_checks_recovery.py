"""What a further attempt would find."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from submitter.checks import checkpoint_files
from submitter.job.model import Job, Recovery
from tests.support.builders import job, number, raw
from tests.support.checks import findings_of, not_checked

IDS = (*(f"NR36{digit}" for digit in range(1, 10)), "NR37")  # NR360 is of the data files
RETRIES = Recovery(declared=True, max_attempts=5)
SHARED = "/mnt/shared/run"
WORLD = 4
"""Ranks of the checkpoints made here; the job's world, too, unless said."""

SANE: dict[str, Any] = {
    "trainer.nnodes": number("2"),
    "trainer.n_gpus_per_node": number("2"),
    "trainer.default_local_dir": SHARED,
    "trainer.save_freq": number("10"),
    "trainer.total_training_steps": number("100"),
    "trainer.resume_mode": "auto",
    "algorithm.adv_estimator": "grpo",
    "actor_rollout_ref.actor.strategy": "fsdp2",
}
LINES = {key: line for line, key in enumerate(SANE, 1)}
KEEP = "trainer.max_actor_ckpt_to_keep"
CHECKPOINT = "actor_rollout_ref.actor.checkpoint"


def made(
    changes: dict[str, Any] | None = None,
    *,
    recovery: Recovery = RETRIES,
    stack: str = "cann-9.0.0",
    flags: dict[str, str] | None = None,
    nodes: int = 2,
) -> Job:
    groups = {"trainer": {**SANE, **(changes or {})}}
    return job(groups=groups, flags=flags, recovery=recovery, stack=stack, nodes=nodes)


def said(one: Job) -> list[tuple[str, str]]:
    return [(finding.id, finding.severity) for finding in findings_of(one, *IDS)]


def test_a_job_that_can_be_resumed_is_fine() -> None:
    assert said(made()) == []


@pytest.mark.parametrize(
    ("changes", "rule", "key"),
    [
        pytest.param({"trainer.save_freq": number("-1")}, "NR361", "trainer.save_freq", id="save_freq -1"),
        pytest.param({"trainer.save_freq": number("0")}, "NR361", "trainer.save_freq", id="save_freq 0"),
        pytest.param({"trainer.save_freq": number("100")}, "NR362", "trainer.save_freq", id="at the end only"),
        pytest.param({"trainer.save_freq": number("101")}, "NR362", "trainer.save_freq", id="never before the end"),
        pytest.param({"trainer.save_freq": number("99")}, None, "", id="once before the end"),
        pytest.param({"trainer.resume_mode": "disable"}, "NR363", "trainer.resume_mode", id="not resumed"),
    ],
)
def test_attempts_that_cannot_go_on(changes: dict[str, Any], rule: str | None, key: str) -> None:
    found = findings_of(made(changes), *IDS)
    assert [(one.id, one.severity, one.place.line) for one in found] == (
        [(rule, "warning", LINES[key])] if rule else []
    )
    for one in found:
        assert str(one.value) in one.message() and str(one.value) in one.message("zh")


@pytest.mark.parametrize(
    "recovery", [Recovery(), Recovery(declared=True, max_attempts=1), Recovery(declared=True, resume=False)]
)
def test_without_further_attempts_nothing_is_missing(recovery: Recovery) -> None:
    for changes in ({"trainer.save_freq": number("-1")}, {"trainer.resume_mode": "disable"}):
        assert said(made(changes, recovery=recovery)) == []


def test_verls_default_saves_nothing() -> None:
    assert said(job(recovery=RETRIES, stack="cann-9.0.0")) == [("NR361", "warning")]


@pytest.mark.parametrize(
    ("folder", "nodes", "expected"),
    [
        pytest.param("/local/ckpt", 2, [("NR365", "warning")], id="F042"),
        pytest.param("/dev/shm/ckpt", 2, [("NR365", "warning")], id="F043"),
        pytest.param("/tmp", 2, [("NR365", "warning")], id="F045"),
        pytest.param("/mnt/local_ssd0/ckpt", 2, [("NR365", "warning")], id="F048-place"),
        ("/tmp/ckpt", 1, []),
        ("/tmpfs/ckpt", 2, []),
        ("/data/localization/ckpt", 2, []),
        ("/root/ckpt", 2, [("NR365", "hint")]),
        ("~/ckpt", 2, [("NR365", "hint")]),
        ("checkpoints/run", 2, [("NR364", "warning")]),
        ("checkpoints/run", 1, [("NR364", "warning")]),
        ("hdfs://nn/run", 2, []),
    ],
)
def test_where_checkpoints_go(folder: str, nodes: int, expected: list[tuple[str, str]]) -> None:
    found = findings_of(made({"trainer.default_local_dir": folder}, nodes=nodes), *IDS)
    assert [(one.id, one.severity) for one in found] == expected
    assert all(one.place.line == LINES["trainer.default_local_dir"] for one in found)


def test_whether_a_path_is_shared_is_not_known_here() -> None:
    (told,) = not_checked(made(), "NR365")
    assert SHARED in told.message() and "nodes are not looked at" in told.message()
    assert not_checked(made(nodes=1), "NR365") == []


def test_the_default_folder_is_relative() -> None:
    plain = job(groups={"a": {"trainer.save_freq": number("5")}}, stack="cann-9.0.0")
    (finding,) = findings_of(plain, *IDS)
    assert (finding.id, finding.place.line) == ("NR364", 1) and "checkpoints/" in finding.message()


@pytest.mark.parametrize(
    ("save", "load", "expected"),
    [
        (["model", "optimizer", "extra"], None, []),
        (raw("['model']"), None, [("NR366", "warning")]),
        (["model", "hf_model"], None, [("NR366", "warning")]),
        (["model"], ["model"], [("NR366", "warning")]),
        (["model"], ["model", "optimizer"], [("NR366", "warning"), ("NR367", "error")]),
        (["model", "optimizer"], ["model", "extra"], [("NR367", "error")]),
        (["model", "optimizer", "extra"], ["hf_model"], []),
        ("model", None, [("NR366", "warning")]),
        (None, None, []),
        (["hf_model"], None, [("NR366", "warning")]),
        (["optimizer", "extra"], None, [("NR366", "warning")]),
        (raw("[]"), None, [("NR366", "warning")]),
    ],
)
def test_contents(save: object, load: object, expected: list[tuple[str, str]]) -> None:
    changes = {f"{CHECKPOINT}.save_contents": save}
    if load is not None:
        changes[f"{CHECKPOINT}.load_contents"] = load
    assert sorted(said(made(changes))) == expected


@pytest.mark.parametrize(
    ("save", "missing", "words"),
    [
        (["optimizer", "extra"], "model", "weights of the first model"),
        (["hf_model"], "model, optimizer", "weights of the first model"),
        (["model", "extra"], "optimizer", "empty Adam moments"),
    ],
)
def test_what_a_resume_begins_with(save: list[str], missing: str, words: str) -> None:
    (finding,) = findings_of(made({f"{CHECKPOINT}.save_contents": save}), "NR366")
    assert finding.limit == missing and missing in finding.message() and missing in finding.message("zh")
    assert words in finding.message() and "model,optimizer,extra" in finding.fix()


def test_contents_of_a_single_attempt_are_told_more_quietly() -> None:
    changes = {f"{CHECKPOINT}.save_contents": ["model"], f"{CHECKPOINT}.load_contents": ["optimizer"]}
    assert said(made(changes, recovery=Recovery())) == [("NR367", "warning"), ("NR366", "hint")]
    assert said(made({**changes, "trainer.save_freq": number("-1")}, recovery=Recovery())) == []


def test_async_save_is_megatrons() -> None:
    changes: dict[str, Any] = {f"{CHECKPOINT}.async_save": True}
    assert said(made(changes)) == [("NR368", "warning")]
    assert said(made({**changes, "actor_rollout_ref.actor.strategy": "megatron"})) == []


@pytest.mark.parametrize(
    ("path", "good"),
    [
        ("/ckpt/run/global_step_100", True),
        ("run/global_step_7", True),
        ("/ckpt/run/global_step_100/", False),
        ("/ckpt/run/global_step_100/actor", False),
        ("/ckpt/run", False),
        ("/ckpt/global_step_", False),
        (number("3"), False),
        (raw("${nowhere}"), True),
    ],
)
def test_resume_path(path: object, good: bool) -> None:
    changes = {"trainer.resume_mode": "resume_path", "trainer.resume_from_path": path}
    assert said(made(changes)) == ([] if good else [("NR369", "error")])
    assert said(made({"trainer.resume_from_path": path})) == []


def test_resume_path_without_one_and_other_modes() -> None:
    assert said(made({"trainer.resume_mode": "resume_path"})) == [("NR369", "error")]
    assert said(made({"trainer.resume_mode": "latest"})) == [("NR370", "error")]


def save(folder: Path, step: int = 10, world: int = WORLD, kinds: str = "model optim extra_state") -> Path:
    """A checkpoint as FSDP leaves it, and the file that names it."""
    actor = folder / f"global_step_{step}" / "actor"
    actor.mkdir(parents=True)
    for kind in kinds.split():
        for rank in range(world):
            (actor / f"{kind}_world_size_{world}_rank_{rank}.pt").write_text("x")
    (actor / "huggingface").mkdir()
    (actor.parent / "data.pt").write_text("x")
    (folder / "latest_checkpointed_iteration.txt").write_text(str(step))
    return actor


def resumes(folder: Path, **changes: Any) -> Job:
    return made({"trainer.default_local_dir": str(folder), **changes}, nodes=1)


def found_at(one: Job) -> list[tuple[str, str]]:
    """Without what is said of the folder of the tests itself."""
    return [row for row in said(one) if row[0] not in ("NR364", "NR365")]


def test_a_whole_checkpoint_is_fine(tmp_path: Path) -> None:
    save(tmp_path)
    assert found_at(resumes(tmp_path)) == []


def test_another_world_size(tmp_path: Path) -> None:
    save(tmp_path, world=8)
    (finding,) = findings_of(resumes(tmp_path), "NR37")
    assert (finding.id, finding.severity, finding.value, finding.limit) == ("NR371", "error", "8", "4")
    assert finding.place.line == LINES["trainer.default_local_dir"]
    assert found_at(resumes(tmp_path, **{"trainer.resume_mode": "disable"})) == [("NR363", "warning")]
    megatron = {"actor_rollout_ref.actor.strategy": "megatron"}
    assert found_at(resumes(tmp_path, **megatron)) == []
    path = {"trainer.resume_mode": "resume_path", "trainer.resume_from_path": str(tmp_path / "global_step_10")}
    assert found_at(resumes(Path("/mnt/none"), **path)) == [("NR371", "error")]


def _drop_ranks(actor: Path) -> None:
    for rank in (2, 3):
        (actor / f"model_world_size_4_rank_{rank}.pt").unlink()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        pytest.param(_drop_ranks, "rank_{2, 3}.pt (2 / 4)", id="F048"),
        pytest.param(lambda actor: actor.rename(actor.parent / "gone"), "actor", id="F049"),
        pytest.param(lambda actor: (actor / "optim_world_size_4_rank_1.pt").write_text(""), "0 B", id="F049-cut"),
        pytest.param(lambda actor: [one.unlink() for one in actor.glob("optim*")], "optim", id="no optimizer"),
    ],
)
def test_a_checkpoint_that_is_not_whole(tmp_path: Path, damage: Any, words: str) -> None:
    damage(save(tmp_path))
    (finding,) = findings_of(resumes(tmp_path), "NR37")
    assert (finding.id, finding.severity) == ("NR372", "error") and words in finding.message()


def test_what_is_not_loaded_may_be_missing(tmp_path: Path) -> None:
    save(tmp_path, kinds="model")
    only = {f"{CHECKPOINT}.save_contents": ["model", "optimizer"], f"{CHECKPOINT}.load_contents": ["model"]}
    assert found_at(resumes(tmp_path, **only)) == []


def test_the_state_of_the_data(tmp_path: Path) -> None:
    save(tmp_path)
    (tmp_path / "global_step_10" / "data.pt").unlink()
    assert found_at(resumes(tmp_path)) == [("NR373", "warning")]


def test_a_checkpoint_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("20")
    assert found_at(resumes(tmp_path)) == [("NR374", "warning")]
    path = {"trainer.resume_mode": "resume_path", "trainer.resume_from_path": str(tmp_path / "global_step_20")}
    assert found_at(resumes(tmp_path, **path)) == [("NR374", "error")]


def test_a_first_run_has_no_checkpoint(tmp_path: Path) -> None:
    assert found_at(resumes(tmp_path)) == found_at(resumes(tmp_path / "new")) == []


@pytest.mark.parametrize("kind", ["fifo", "folder", "text", "loop", "denied"])
def test_an_odd_tracker_neither_hangs_nor_raises(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = tmp_path / "latest_checkpointed_iteration.txt"
    if kind == "fifo":
        os.mkfifo(tracker)
    elif kind == "folder":
        tracker.mkdir()
    elif kind == "loop":
        tracker.symlink_to(tracker)
    else:
        tracker.write_text("12 $(x)" if kind == "text" else "12")
    if kind == "denied":

        def denied(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(checkpoint_files, "_look", denied)
    assert found_at(resumes(tmp_path)) == []


def test_megatrons_checkpoint(tmp_path: Path) -> None:
    actor = save(tmp_path, kinds="")
    megatron = {"actor_rollout_ref.actor.strategy": "megatron"}
    assert found_at(resumes(tmp_path, **megatron)) == []
    (actor / "huggingface").rmdir()
    assert found_at(resumes(tmp_path, **megatron)) == [("NR372", "error")]


@pytest.mark.parametrize(
    ("present", "lacks"),
    [
        pytest.param(".metadata metadata.json", "dist_ckpt/common.pt", id="F042-files"),
        pytest.param("", "dist_ckpt/.metadata", id="F043-files"),
        (".metadata metadata.json common.pt", None),
        (".metadata", None),
    ],
)
@pytest.mark.parametrize("inner", ["", "optimizer"])
def test_megatrons_metadata_are_on_the_saving_node(tmp_path: Path, present: str, lacks: str | None, inner: str) -> None:
    folder = save(tmp_path, kinds="") / "dist_ckpt" / inner
    folder.mkdir(parents=True)
    for name in ("__0_0.distcp", *present.split()):
        (folder / name).write_text("x")
    found = findings_of(resumes(tmp_path, **{"actor_rollout_ref.actor.strategy": "megatron"}), "NR37")
    assert [one.id for one in found] == (["NR372"] if lacks else [])
    if lacks:
        assert lacks.replace("dist_ckpt/", f"dist_ckpt/{inner}/" if inner else "dist_ckpt/") in found[0].message()


@pytest.mark.parametrize(("stack", "fails"), [("cann-9.0.0", False), ("cann-9.0.0,verl=0.9.1", True)])
def test_megatrons_older_layout(tmp_path: Path, stack: str, fails: bool) -> None:
    actor = save(tmp_path, kinds="")
    (actor / "huggingface" / "config.json").touch()
    changes = {"trainer.default_local_dir": str(tmp_path), "actor_rollout_ref.actor.strategy": "megatron"}
    one = made(changes, nodes=1, stack=stack)
    assert found_at(one) == ([("NR379", "error")] if fails else [])
    (actor / "model").mkdir()
    assert found_at(one) == []


def test_a_critic_is_resumed_too(tmp_path: Path) -> None:
    save(tmp_path)
    (finding,) = findings_of(resumes(tmp_path, **{"algorithm.adv_estimator": "gae"}), "NR37")
    assert finding.id == "NR372" and "critic" in finding.message()
    (tmp_path / "global_step_10" / "critic").mkdir()
    assert found_at(resumes(tmp_path, **{"algorithm.adv_estimator": "gae"})) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"trainer.max_actor_ckpt_to_keep": number("1")}, [("NR375", "warning")], id="F050"),
        ({"trainer.max_actor_ckpt_to_keep": number("2")}, []),
        ({"trainer.max_actor_ckpt_to_keep": None}, []),
        ({"+trainer.remove_previous_ckpt_in_save": True}, [("NR375", "warning")]),
    ],
)
def test_how_many_are_kept(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert said(made(changes)) == expected
    quiet = [(rule, "hint") for rule, _ in expected]
    assert said(made(changes, recovery=Recovery())) == quiet


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"VERL_FILE_LOGGER_PATH": "/shared/metrics.jsonl"}, ["NR376"]),
        ({"VERL_FILE_LOGGER_ROOT": "/shared"}, ["NR376"]),
        ({"VERL_FILE_LOGGER_PATH": "metrics.jsonl"}, ["NR377"]),
        ({}, ["NR377"]),
    ],
)
def test_the_file_logger(flags: dict[str, str], expected: list[str]) -> None:
    logger = {"trainer.logger": raw('["console","file"]')}
    assert [rule for rule, _ in said(made(logger, flags=flags))] == expected
    assert said(made({"trainer.logger": ["console"]}, flags=flags)) == []
    alone = [rule for rule in expected if rule == "NR377"]
    assert [rule for rule, _ in said(made(logger, flags=flags, recovery=Recovery()))] == alone


@pytest.mark.parametrize(
    ("stack", "changes", "fails"),
    [
        ("cann-8.5.0", {}, True),
        ("cann-9.0.0", {}, True),
        ("cann-9.0.0", {"trainer.resume_mode": "disable"}, False),
        ("cann-9.0.0,verl=0.9.1", {}, False),
        ("cann-9.0.0,verl=0.9.1", {"trainer.use_v1": False}, True),
    ],
)
def test_hdfs(stack: str, changes: dict[str, Any], fails: bool) -> None:
    one = made({"trainer.default_hdfs_dir": "hdfs://nn/ckpt", **changes}, stack=stack, recovery=Recovery())
    assert said(one) == ([("NR378", "error")] if fails else [])


@pytest.mark.parametrize(
    "value", [None, True, "many", number("1.5"), [], [None], {"a": "b"}, raw("[a,"), "\0", "~no/x"]
)
def test_values_of_another_type_give_no_exception(value: object) -> None:
    keys = [*SANE, "trainer.resume_from_path", "trainer.logger", "trainer.default_hdfs_dir", KEEP]
    keys += [f"{CHECKPOINT}.{name}" for name in ("save_contents", "load_contents", "async_save")]
    for key in keys:
        for mode in ("auto", "resume_path"):
            findings_of(made({"trainer.resume_mode": mode, key: value}), *IDS)
    findings_of(made(dict.fromkeys(keys, value)), *IDS)
