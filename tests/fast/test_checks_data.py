"""Data files: what is read of them, and what verl would fail on."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from submitter.checks import data_files
from submitter.checks.finding import Finding
from submitter.job.model import Job, RuntimeEnvSpec
from tests.support.builders import job, number, raw
from tests.support.checks import findings_of, not_checked

IDS = ("NR341", "NR342", "NR343", "NR344", "NR345", "NR346", "NR347", "NR348", "NR349", "NR350", "NR351", "NR352")
CHAT = [{"role": "user", "content": "1 + 1?"}]
ROW: dict[str, Any] = {"data_source": "sums", "prompt": CHAT, "reward_model": {"style": "rule", "ground_truth": "2"}}
RAW_GSM8K = {"question": "1 + 1?", "answer": "#### 2"}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    parquet.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in ROW.items() if name not in names}


def data_job(train: object, val: object = None, stack: str = "cann-9.0.0", **settings: Any) -> Job:
    values: dict[str, Any] = {"data.train_files": train, "data.train_batch_size": number("2")}
    if val is not None:
        values["data.val_files"] = val
    values |= {name.replace("__", "."): value for name, value in settings.items()}
    return job(groups={"data": values}, stack=stack)


def said(made: Job) -> list[tuple[str, str]]:
    return [(one.id, one.severity) for one in findings_of(made, *IDS)]


def one(made: Job, rule: str) -> Finding:
    (finding,) = findings_of(made, *IDS)
    assert finding.id == rule
    return finding


def test_files_in_verls_form_are_fine(tmp_path: Path) -> None:
    train, val = (str(write(tmp_path / f"{name}.parquet", ROW, ROW)) for name in ("train", "val"))
    assert said(data_job(train, val)) == []
    assert said(data_job([train, train], raw(f"['{val}']"))) == []
    assert not_checked(data_job(train, val), "NR342") == []


@pytest.mark.parametrize(("name", "ok"), [("t.parquet", True), ("t.json", True), ("t.jsonl", True), ("t.csv", False)])
def test_the_end_of_the_name_decides_the_reader(name: str, ok: bool) -> None:
    found = findings_of(data_job(f"/nowhere/at/all/{name}"), *IDS)
    assert [(finding.id, finding.severity, finding.place.line) for finding in found] == (
        [] if ok else [("NR341", "error", 1)]
    )


def test_a_dataset_class_of_the_user_reads_what_it_likes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n")
    own: dict[str, Any] = {"data__custom_cls__path": "/code/mine.py"}
    assert said(data_job(str(tmp_path / "t.csv"), **own)) == []
    assert said(data_job(str(write(tmp_path / "t.parquet", RAW_GSM8K)), **own)) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(b"", "0 bytes", id="empty"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git-lfs", id="pointer"),
        pytest.param(b"PAR1 cut off", "PAR1", id="cut"),
        pytest.param(b"PAR1" + b"\x00" * 64 + b"PAR1", "", id="no footer"),
        pytest.param(b"<html>404</html>", "PAR1", id="html"),
    ],
)
def test_a_damaged_parquet_file_is_told(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "t.parquet").write_bytes(content)
    finding = one(data_job(str(tmp_path / "t.parquet")), "NR342")
    assert finding.severity == "error" and why in finding.message() and "\n" not in finding.message("zh")


@pytest.mark.parametrize("content", [b"", b"not json\n", b"[1, 2]", b"[" * 100_000])
def test_a_damaged_json_file_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.json").write_bytes(content)
    assert said(data_job(str(tmp_path / "t.json"))) == [("NR342", "error")]


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "loop"])
def test_what_is_no_file_neither_hangs_nor_raises(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.parquet"
    make: dict[str, Callable[[], None]] = {
        "fifo": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "device": lambda: path.symlink_to("/dev/zero"),
        "loop": lambda: path.symlink_to(path),
    }
    make[kind]()
    ((rule, severity),) = said(data_job(str(path)))
    assert (rule, severity) == ("NR342", "warning" if kind == "loop" else "error")


def test_a_file_that_may_not_be_read_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(data_files, "_parquet", denied)
    finding = one(data_job(str(write(tmp_path / "t.parquet", ROW))), "NR342")
    assert finding.severity == "warning" and "Permission denied" in finding.message()


@pytest.mark.parametrize("path", ["/no/such/folder/t.parquet", "hdfs://nn/t.parquet", "s3://b/t.parquet", "~no/t.json"])
def test_what_is_not_here_is_said_once(path: str) -> None:
    made = data_job([path] * 5, path)
    assert said(made) == []
    (told,) = not_checked(made, "NR342")
    assert path in told.message() and "(+3)" in told.message() and "nodes are not looked at" in told.message()


def test_without_pyarrow_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: object) -> None:
        raise data_files._NoReaderError

    monkeypatch.setattr(data_files, "_parquet", absent)
    made = data_job(str(write(tmp_path / "t.parquet", RAW_GSM8K)))
    assert said(made) == []
    (told,) = not_checked(made, "NR342")
    assert "npurun[data]" in told.message() and "npurun[data]" in told.message("zh")


def test_a_name_that_is_not_in_its_folder(tmp_path: Path) -> None:
    finding = one(data_job(str(tmp_path / "trian.parquet")), "NR343")
    assert (finding.severity, finding.place.line) == ("warning", 1)


def test_no_rows(tmp_path: Path) -> None:
    full = write(tmp_path / "full.parquet", ROW, ROW)
    empty = tmp_path / "empty.parquet"
    parquet.write_table(pa.Table.from_pylist([ROW]).slice(0, 0), empty)
    assert said(data_job(str(full), str(empty))) == [("NR344", "error")]
    assert said(data_job([str(full), str(empty)])) == [("NR344", "warning")]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"data__train_batch_size": number("3")}, []),
        ({"data__train_batch_size": number("4")}, ["NR345"]),
        ({"data__train_batch_size": number("4"), "+data__gen_batch_size": number("3")}, []),
        ({"data__train_batch_size": number("3"), "data__train_max_samples": number("2")}, ["NR345"]),
        ({"data__train_batch_size": "many"}, []),
    ],
)
def test_fewer_rows_than_a_batch(tmp_path: Path, settings: dict[str, Any], rule: list[str]) -> None:
    train = str(write(tmp_path / "t.parquet", ROW, ROW, ROW))
    found = findings_of(data_job(train, **settings), *IDS)
    assert [finding.id for finding in found] == rule
    for finding in found:
        assert finding.severity == "error" and "Train dataloader is empty!" in finding.message()


@pytest.mark.parametrize(("mode", "rules"), [("sync", ["NR345"]), ("colocate_async", []), ("separate_async", [])])
def test_the_v1_trainer_fetches_one_by_one_when_asynchronous(tmp_path: Path, mode: str, rules: list[str]) -> None:
    train = str(write(tmp_path / "t.parquet", ROW))
    made = data_job(train, stack="cann-9.0.0,verl=0.9.1", trainer__v1__trainer_mode=mode)
    assert [finding.id for finding in findings_of(made, *IDS)] == rules


@pytest.mark.parametrize(
    ("row", "settings", "rules"),
    [
        pytest.param(RAW_GSM8K, {"data__prompt_key": "question"}, ["NR347", "NR348"], id="F205"),
        pytest.param(RAW_GSM8K, {}, ["NR346", "NR348"], id="F205-default-key"),
        pytest.param({**ROW, "prompt": "1 + 1?"}, {}, ["NR347"], id="text prompt"),
        pytest.param({**ROW, "prompt": ["1 + 1?"]}, {}, ["NR347"], id="list of texts"),
        pytest.param(without("data_source"), {}, ["NR348"], id="no data_source"),
        pytest.param({**ROW, "reward_model": {"style": "rule"}}, {}, ["NR348"], id="no ground_truth"),
        pytest.param({**ROW, "reward_model": "{}"}, {}, ["NR348"], id="reward_model as text"),
        pytest.param({**without("prompt"), "chat": CHAT}, {"data__prompt_key": "chat"}, [], id="other prompt_key"),
        pytest.param({**without("prompt"), "chat": CHAT}, {}, ["NR346"], id="other column"),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "jsonl", "json"])
def test_columns(tmp_path: Path, row: dict[str, Any], settings: dict[str, Any], rules: list[str], ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        write(path, row, row)
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in (row, row)))
    else:
        path.write_text(json.dumps([row, row], indent=1))
    found = findings_of(data_job(str(path), **settings), *IDS)
    assert [(finding.id, finding.severity, finding.place.line) for finding in found] == [
        (rule, "error", 1) for rule in rules
    ]
    if row is RAW_GSM8K:
        assert "GSM8K" in found[-1].message() and "GSM8K" in found[-1].message("zh")


@pytest.mark.parametrize(
    ("settings", "rules"),
    [
        pytest.param({}, ["NR346"], id="F207"),  # verl validates before it trains unless told not to
        ({"trainer__val_before_train": False}, []),
        ({"trainer__val_before_train": False, "trainer__test_freq": number("5")}, ["NR346"]),
        ({"trainer__val_before_train": False, "data__filter_overlong_prompts": True}, ["NR346"]),
    ],
)
def test_validation_files_are_looked_at_too(tmp_path: Path, settings: dict[str, Any], rules: list[str]) -> None:
    train = str(write(tmp_path / "train.parquet", ROW, ROW))
    val = str(write(tmp_path / "val.parquet", without("prompt")))
    found = findings_of(data_job(train, val, **settings), *IDS)
    assert [(finding.id, finding.value, finding.place.line) for finding in found] == [(rule, val, 3) for rule in rules]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"reward__custom_reward_function__path": "/code/reward.py"}, [("NR348", "error")]),
        ({"reward__reward_manager__source": "importlib"}, []),
        ({"reward__reward_manager__name": "mine"}, []),
        ({"reward__reward_manager__name": "dapo"}, [("NR348", "error")]),
        ({"reward__reward_model__enable": True}, []),
        (
            {"reward__reward_model__enable": True, "reward__custom_reward_function__path": "/r.py"},
            [("NR348", "error")],
        ),
        ({"actor_rollout_ref__rollout__agent__default_agent_loop": "mine"}, [("NR348", "warning")]),
        ({"data__reward_fn_key": "source"}, [("NR348", "error"), ("NR350", "warning")]),
        ({"data__reward_fn_key": "data_source"}, [("NR348", "error")]),
    ],
)
def test_who_needs_the_reward_columns(
    tmp_path: Path, settings: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    row = {"prompt": CHAT, "source": "sums"}
    assert said(data_job(str(write(tmp_path / "t.parquet", row, row)), **settings)) == expected


def test_a_relative_path_is_looked_for_in_the_working_dir(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", ROW, ROW)
    inside = data_job("t.parquet")
    with_folder = job(groups={"data": {"data.train_files": "t.parquet", "data.train_batch_size": number("2")}})
    assert said(inside) == [("NR349", "warning")]
    here = dataclasses.replace(with_folder, runtime_env=RuntimeEnvSpec(str(tmp_path)))
    assert said(here) == []
    (tmp_path / "t.parquet").unlink()
    assert said(here) == [("NR349", "error")]


def test_patterns_of_one_folder_are_followed(tmp_path: Path) -> None:
    write(tmp_path / "a1.parquet", ROW, ROW)
    write(tmp_path / "a2.parquet", RAW_GSM8K)
    found = findings_of(data_job(str(tmp_path / "a*.parquet")), "NR346")
    assert [finding.value for finding in found] == [str(tmp_path / "a2.parquet")]
    assert len(not_checked(data_job(str(tmp_path / "**" / "*.parquet")), "NR342")) == 1
    assert len(not_checked(data_job(str(tmp_path / "b*.parquet")), "NR342")) == 1


def test_images(tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.parquet", {**ROW, "image": ["a.png"]}, {**ROW, "image": ["b.png"]}))
    assert said(data_job(path)) == [("NR351", "warning")]
    assert said(data_job(path, data__image_key="image")) == []
    text_only = str(write(tmp_path / "u.parquet", ROW, ROW))
    assert said(data_job(text_only)) == []
    assert said(data_job(text_only, data__image_key="pictures")) == [("NR351", "warning")]


def test_tools_without_an_agent(tmp_path: Path) -> None:
    path = str(write(tmp_path / "t.parquet", ROW, ROW))
    multi: dict[str, Any] = {"actor_rollout_ref__rollout__multi_turn__enable": True}
    assert said(data_job(path, **multi)) == [("NR352", "warning")]
    assert said(data_job(path, **multi, actor_rollout_ref__rollout__agent__default_agent_loop="tool_agent")) == []
    named = str(write(tmp_path / "u.parquet", {**ROW, "agent_name": "tool_agent"}, {**ROW, "agent_name": "tool_agent"}))
    assert said(data_job(named, **multi)) == []


@pytest.mark.parametrize(
    "value", [None, True, number("3"), [], [None, 1], {"a": "b"}, raw("[a,"), raw("${x}"), "\0.json"]
)
def test_values_of_another_type_give_no_exception(value: object) -> None:
    made = data_job(value, value, data__prompt_key=value, data__train_batch_size=value, trainer__test_freq=value)
    assert all(finding.id == "NR342" for finding in findings_of(made, *IDS))


def test_only_heads_of_json_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "JSON_HEAD_BYTES", 300)
    rows = [json.dumps({**ROW, "note": "x" * 40}) for _ in range(50)]
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    assert said(data_job(str(tmp_path / "t.jsonl"), data__train_batch_size=number("50"))) == []
    assert said(data_job(str(tmp_path / "t.jsonl"), data__train_batch_size=number("51"))) == [("NR345", "error")]
    monkeypatch.setattr(data_files, "JSON_COUNTED_BYTES", 100)
    assert said(data_job(str(tmp_path / "t.jsonl"), data__train_batch_size=number("51"))) == []
    (tmp_path / "long.json").write_text(json.dumps([{"note": "x" * 400}]))
    assert said(data_job(str(tmp_path / "long.json"))) == []


@pytest.mark.parametrize("key", ["data.train_files", "data.val_files"])
@pytest.mark.parametrize("stack", ["cann-8.5.0", "cann-9.0.0", "cann-9.1.0", "cann-9.1.0,verl=0.9.1"])
@pytest.mark.parametrize("nothing", [None, raw("null"), raw("[]"), [], "", [""]])
def test_no_files_at_all(key: str, stack: str, nothing: Any) -> None:
    (finding,) = [
        one for one in findings_of(job(groups={"data": {key: nothing}}, stack=stack), "NR360") if one.place.line
    ]
    assert (finding.severity, finding.place.line, finding.place.key) == ("error", 1, key)
    assert str(finding.value) in finding.message() and str(finding.value) in finding.message("zh")


@pytest.mark.parametrize("value", ["/data/t.parquet", raw("[/data/t.parquet]"), raw("${data.val_files}"), raw("[")])
def test_files_that_are_named_or_cannot_be_told(value: Any) -> None:
    files = {"data.train_files": value, "data.val_files": "/data/v.parquet"}
    assert findings_of(job(groups={"data": files}, stack="cann-9.0.0"), "NR360") == []


@pytest.mark.parametrize("stack", ["cann-8.5.0", "cann-9.0.0", "cann-9.1.0", None])
def test_files_that_the_job_does_not_name(stack: str | None) -> None:
    found = findings_of(job(groups={"data": {"data.train_files": "/data/t.parquet"}}, stack=stack), "NR360")
    assert [(one.severity, one.place.key, one.value) for one in found] == [
        ("warning", "data.val_files", "~/data/rlhf/gsm8k/test.parquet")
    ]
    assert "~/data/rlhf" in found[0].message("zh")
    assert len(findings_of(job(stack=stack), "NR360")) == 2
    assert findings_of(job(stack=stack, extra=["--config-path=/my"]), "NR360") == []


def test_files_of_a_dataset_class_of_the_user_may_be_none() -> None:
    own = {"data.train_files": None, "data.custom_cls.path": "/code/mine.py"}
    assert findings_of(job(groups={"data": own}, stack="cann-9.0.0"), "NR360") == []
