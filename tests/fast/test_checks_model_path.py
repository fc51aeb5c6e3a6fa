"""The model's folder: what is missing from it before any weight is read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from submitter.job.model import Job, Trainer
from tests.support.builders import job, raw
from tests.support.checks import findings_of, not_checked

IDS = ("NR353", "NR354", "NR355", "NR356", "NR357", "NR358", "NR359")
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def model(folder: Path, **config: Any) -> Path:
    """A whole model of two shards, small."""
    folder.mkdir()
    dump(folder / "config.json", {"model_type": "qwen3", "num_hidden_layers": 2, "num_attention_heads": 4, **config})
    dump(folder / "tokenizer_config.json", {"chat_template": TEMPLATE})
    dump(folder / "tokenizer.json", {})
    dump(folder / "model.safetensors.index.json", {"weight_map": {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[1]}})
    for name in SHARDS:
        (folder / name).write_bytes(b"x" * 2000)
    return folder


def dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value))


def model_job(path: object, **settings: Any) -> Job:
    values = {"actor_rollout_ref.model.path": path, **{key.replace("__", "."): one for key, one in settings.items()}}
    return job(groups={"model": values}, stack="cann-9.0.0")


def said(made: Job) -> list[tuple[str, str, int | None]]:
    return [(one.id, one.severity, one.place.line) for one in findings_of(made, *IDS)]


def test_a_whole_model_is_fine(tmp_path: Path) -> None:
    assert said(model_job(str(model(tmp_path / "m")))) == []
    assert not_checked(model_job(str(tmp_path / "m")), "NR353") == []


def _pointer(folder: Path) -> None:
    (folder / SHARDS[1]).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")


@pytest.mark.parametrize(
    ("damage", "rule", "words"),
    [
        (lambda folder: (folder / "config.json").unlink(), "NR353", "config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "NR353", "config.json"),
        (lambda folder: (folder / "config.json").write_text("[]"), "NR353", "config.json"),
        (lambda folder: (folder / SHARDS[0]).unlink(), "NR355", SHARDS[0]),
        (lambda folder: (folder / SHARDS[1]).write_bytes(b""), "NR355", SHARDS[1]),
        (_pointer, "NR355", "git-lfs"),
        (lambda folder: (folder / "model.safetensors.index.json").write_text("<html>"), "NR355", "index.json"),
        (lambda folder: [(folder / one).unlink() for one in (*SHARDS, "model.safetensors.index.json")], "NR355", "*."),
        (lambda folder: (folder / "tokenizer.json").unlink(), "NR356", "tokenizer.json"),
        (lambda folder: dump(folder / "tokenizer_config.json", {}), "NR357", "chat_template.jinja"),
        (lambda folder: (folder / "tokenizer_config.json").unlink(), "NR357", "chat template"),
    ],
)
def test_what_is_missing_is_told(tmp_path: Path, damage: Callable[[Path], object], rule: str, words: str) -> None:
    folder = model(tmp_path / "m")
    damage(folder)
    (finding,) = findings_of(model_job(str(folder)), *IDS)
    assert (finding.id, finding.severity, finding.place.line) == (rule, "error", 1)
    assert words in finding.message() and finding.message("zh") != finding.message()


def test_one_file_of_weights_needs_no_index(tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    for one in (*SHARDS, "model.safetensors.index.json"):
        (folder / one).unlink()
    (folder / "model.safetensors").write_bytes(b"x" * 2000)
    assert said(model_job(str(folder))) == []
    (folder / "model.safetensors").write_bytes(b"")
    assert said(model_job(str(folder))) == [("NR355", "error", 1)]


def test_megatrons_own_checkpoint_stands_in_for_weights(tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    (folder / SHARDS[0]).unlink()
    own = {"actor_rollout_ref__actor__megatron__use_dist_checkpointing": True, "model_engine": "megatron"}
    assert said(model_job(str(folder), **own)) == []


@pytest.mark.parametrize("name", ["chat_template.jinja", "chat_template.json"])
def test_a_template_may_be_a_file(tmp_path: Path, name: str) -> None:
    folder = model(tmp_path / "m")
    dump(folder / "tokenizer_config.json", {})
    (folder / name).write_text(TEMPLATE)
    assert said(model_job(str(folder))) == []


@pytest.mark.parametrize("key", ["custom_chat_template", "tokenizer_path"])
def test_a_template_may_come_from_elsewhere(tmp_path: Path, key: str) -> None:
    folder = model(tmp_path / "m")
    dump(folder / "tokenizer_config.json", {})
    assert said(model_job(str(folder), **{f"actor_rollout_ref__model__{key}": "/shared/tokenizer"})) == []


def test_a_tokenizer_of_its_own_may_bring_its_format(tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    dump(folder / "tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["t.T", None]}})
    assert said(model_job(str(folder))) == [("NR357", "warning", 1)]
    dump(folder / "config.json", {"model_type": "deepseek_v32", "num_hidden_layers": 1, "num_attention_heads": 1})
    assert said(model_job(str(folder))) == []


@pytest.mark.parametrize(
    ("kind", "trusted", "expected"),
    [
        ("kimi_k25", False, [("NR358", "error", 2)]),
        ("deepseek_v3", False, [("NR358", "warning", 2)]),
        ("kimi_k25", True, []),
        ("kimi_k25", "maybe", []),
    ],
)
def test_code_of_the_models_own(
    tmp_path: Path, kind: str, trusted: object, expected: list[tuple[str, str, int]]
) -> None:
    folder = model(tmp_path / "m", model_type=kind, auto_map={"AutoConfig": "c.C"})
    assert said(model_job(str(folder), actor_rollout_ref__model__trust_remote_code=trusted)) == expected


def test_code_of_the_models_own_is_not_trusted_by_default(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", model_type="chatglm", auto_map={"AutoConfig": "c.C"})
    assert said(model_job(str(folder))) == [("NR358", "error", 1)]
    assert said(model_job(str(model(tmp_path / "n", model_type="chatglm")))) == []


@pytest.mark.parametrize("path", ["/no/such/place/model", "Qwen/Qwen3-8B", "hdfs://nn/model", "~nobody-here/model"])
def test_a_model_elsewhere_is_not_looked_at_and_said_so(path: str) -> None:
    assert said(model_job(path)) == []
    (told,) = not_checked(model_job(path), "NR353")
    assert path in told.message() and path in told.message("zh")


def test_a_misspelt_folder(tmp_path: Path) -> None:
    model(tmp_path / "Qwen3-8B")
    assert said(model_job(str(tmp_path / "Qwen3-8b"))) == [("NR354", "warning", 1)]


@pytest.mark.parametrize("kind", ["file", "fifo"])
def test_a_model_that_is_no_folder(tmp_path: Path, kind: str) -> None:
    if kind == "file":
        (tmp_path / "m").touch()
    else:
        os.mkfifo(tmp_path / "m")
    assert said(model_job(str(tmp_path / "m"))) == [("NR353", "error", 1)]


def test_pipes_in_the_folder_are_not_opened(tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    for name in ("config.json", "tokenizer_config.json", "model.safetensors.index.json", SHARDS[0]):
        (folder / name).unlink()
        os.mkfifo(folder / name)
    assert [rule for rule, *_ in said(model_job(str(folder)))] == ["NR353", "NR355"]


@pytest.mark.parametrize(
    ("path", "relative"),
    [("./model", True), ("../m", True), ("a/b/c", True), ("org/name", False), ("/a/b/c", False), ("~/a/b/c", False)],
)
def test_relative_paths(path: str, relative: bool) -> None:
    assert said(model_job(path)) == ([("NR359", "warning", 1)] if relative else [])


@pytest.mark.parametrize("stack", ["cann-8.5.0", "cann-9.0.0", "cann-9.1.0", None])
@pytest.mark.parametrize("path", [None, "", raw("null"), raw(""), "~/models/deepseek-llm-7b-chat"])
def test_a_job_needs_a_model(path: Any, stack: str | None) -> None:
    made = job(groups={"model": {"actor_rollout_ref.model.path": path}}, stack=stack)
    (finding,) = findings_of(made, "NR340")
    assert (finding.severity, finding.place.line) == ("error", 1)
    assert str(finding.value) in finding.message() and str(finding.value) in finding.message("zh")


def test_the_default_model_is_no_model() -> None:
    (finding,) = findings_of(job(stack="cann-9.0.0"), "NR340")
    assert finding.value == "~/models/deepseek-llm-7b-chat"
    assert findings_of(job(extra=["--config-dir", "/my"]), "NR340") == []
    recipe = job(trainer=Trainer("recipe.dapo.main_dapo", "ray"), groups={"a": {"actor_rollout_ref.actor.x": "1"}})
    assert findings_of(recipe, "NR340") == []
    assert findings_of(model_job("/m"), "NR340") == findings_of(model_job(raw("${x}")), "NR340") == []


@pytest.mark.parametrize("value", [None, True, [], ["/a"], {"a": "b"}, raw("${x}"), "\0", "x" * 5000, ""])
def test_values_of_another_type_give_no_exception(value: object) -> None:
    made = model_job(value, actor_rollout_ref__model__trust_remote_code=value)
    assert said(made) == []
