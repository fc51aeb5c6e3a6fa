"""The sizes of a model: from its folder, the Hugging Face cache or the table, and why not where neither helps."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.checks.examine import gather
from submitter.checks.model_files import JSON_LIMIT_BYTES, Unreadable, model_folder, read_json
from submitter.checks.model_shape import ModelShape, Unknown, from_config, from_table, model_of
from submitter.checks.settings import Settings
from submitter.job.model import Job
from submitter.texts import text
from tests.support.builders import job, raw
from tests.support.checks import findings_of, not_checked

QWEN3 = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 36,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 40960,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"},
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "n_routed_experts": 256,
    "kv_lora_rank": 512,
    "rope_scaling": {"type": "yarn", "factor": 40},
}
NESTED = {
    "model_type": "qwen3_5_moe",
    "num_hidden_layers": 2,
    "text_config": {"num_hidden_layers": 48, "num_attention_heads": 32, "num_experts": 256, "linear_num_key_heads": 16},
    "vision_config": {"num_attention_heads": 3},
}


def of_path(path: object, environ: Mapping[str, str] = {}, more: Mapping[str, str] = {}) -> ModelShape | Unknown:
    return model_of(Settings(asking(path, more), "0.8.0"), environ)


def asking(path: object, more: Mapping[str, str] = {}) -> Job:
    arguments = {"actor_rollout_ref.model.path": str(path), **more}
    return job(groups={"model": {key: raw(text) for key, text in arguments.items()}}, stack="cann-9.0.0")


def folder(parent: Path, config: object, name: str = "model") -> Path:
    made = parent / name
    made.mkdir(parents=True)
    (made / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return made


def test_a_folder(tmp_path: Path) -> None:
    shape = of_path(folder(tmp_path, QWEN3))
    assert isinstance(shape, ModelShape)
    assert (shape.source, shape.num_layers, shape.num_attention_heads, shape.num_key_value_heads) == (
        "config.json",
        36,
        32,
        8,
    )
    assert (shape.dense, shape.mla, shape.needs_remote_code, shape.tie_word_embeddings) == (True, False, False, False)
    assert "config.json" in text(shape.said.id, "en", **shape.said.values)


def test_other_spellings_and_parts() -> None:
    deepseek = from_config(DEEPSEEK, "x")
    assert (deepseek.num_experts, deepseek.mla, deepseek.needs_remote_code, deepseek.dense) == (256, True, True, False)
    assert deepseek.rope_scaling == {"type": "yarn", "factor": 40}
    nested = from_config(NESTED, "x")
    assert (nested.num_layers, nested.num_attention_heads, nested.num_experts) == (48, 32, 256)
    assert nested.linear_key_heads == 16
    thinker = from_config({"thinker_config": {"text_config": {"num_attention_heads": 20}}}, "x")
    assert thinker.num_attention_heads == 20
    assert from_config({"n_layer": 12, "n_embd": 768, "n_head": 12}, "x").hidden_size == 768
    assert from_config({"num_layers": 40, "num_local_experts": 8}, "x").num_experts == 8


def test_a_count_of_experts_that_is_left_out_is_no_dense_model() -> None:
    assert not from_config({"model_type": "qwen3_moe", "num_hidden_layers": 48}, "x").dense


def test_the_hugging_face_cache(tmp_path: Path) -> None:
    hub = tmp_path / "home" / "hub"
    model = hub / "models--mine--Some-8B"
    revision = "0123456789abcdef0123456789abcdef01234567"
    folder(model / "snapshots", QWEN3, revision)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(revision)
    for environ in ({"HF_HOME": str(tmp_path / "home")}, {"HF_HUB_CACHE": str(hub)}, {"XDG_CACHE_HOME": "/nowhere"}):
        found = of_path("mine/Some-8B", environ)
        assert isinstance(found, ModelShape) == ("XDG_CACHE_HOME" not in environ)
    for bad in ("../../etc", "", "x" * 1000, "é"):
        (model / "refs" / "main").write_text(bad)
        assert model_folder("mine/Some-8B", {"HF_HUB_CACHE": str(hub)}) is None


def test_the_jobs_own_flags_name_the_cache(tmp_path: Path) -> None:
    hub = tmp_path / "hub" / "models--mine--Some-8B"
    folder(hub / "snapshots", QWEN3, "0123456789")
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("0123456789\n")
    made = job(groups={"m": {"actor_rollout_ref.model.path": raw("mine/Some-8B")}}, flags={"HF_HOME": str(tmp_path)})
    assert gather(made).model is not None


def test_another_config_and_overrides_count(tmp_path: Path) -> None:
    other = folder(tmp_path, DEEPSEEK, "other")
    key = "actor_rollout_ref.model.hf_config_path"
    shape = of_path(folder(tmp_path, QWEN3), more={key: str(other)})
    assert isinstance(shape, ModelShape) and shape.num_layers == 61
    override = "+actor_rollout_ref.model.override_config"
    for more in (
        {f"{override}.num_hidden_layers": "4"},
        {f"{override}.model_config.num_hidden_layers": "4"},
        {override: "{num_hidden_layers: 4, attn_implementation: eager}"},
        {f"{override}.text_config.num_hidden_layers": "4"},
    ):
        shape = of_path("Qwen/Qwen3-8B", more=more)
        assert isinstance(shape, ModelShape) and (shape.num_layers, shape.num_attention_heads) == (4, 32)


@pytest.mark.parametrize(
    ("name", "row", "context"),
    [
        ("/root/verl/models/Qwen3.5-122B-A10B", "Qwen3.5-122B-A10B", 262144),
        ("Qwen/Qwen3-8B", "Qwen3-8B", 40960),
        ("Qwen/Qwen3-8B-Base/", "Qwen3-8B", 32768),
        ("Qwen3-30B-A3B-Instruct-2507", "Qwen3-30B-A3B", 262144),
        ("hdfs://x/qwen2.5_7b_instruct", "Qwen2.5-7B", 32768),
        ("Qwen/Qwen2___5-7B-Instruct", "Qwen2.5-7B", 32768),
        ("/c/hub/models--Qwen--Qwen3-4B/snapshots/0123", "Qwen3-4B", 40960),
        ("Qwen3-VL-8B-Instruct", "Qwen3-VL-8B", 262144),
        ("deepseek-ai/DeepSeek-R1-0528", "DeepSeek-V3", None),
        ("Meta-Llama-3.1-8B-Instruct", "Llama-3.1-8B", 131072),
    ],
)
def test_the_table(name: str, row: str, context: int | None) -> None:
    shape = from_table(name)
    assert shape is not None
    assert (shape.source, shape.path, shape.max_position_embeddings) == ("table", row, context)


@pytest.mark.parametrize(
    "name",
    ["Qwen3-80B", "Qwen2-57B", "Qwen257B", "Qwen3-8B-mine", "my-Qwen3-8B", "Instruct", "", "/", "Qwen3", "8B", "a\0b"],
)
def test_what_is_not_in_the_table_is_not_guessed(name: str) -> None:
    assert from_table(name) is None


def test_rows_of_the_table() -> None:
    rows = [json.loads(line) for line in _table().read_text().splitlines()]
    names = [name.lower() for row in rows for name in (row["model"], *row.get("also", ()))]
    assert len(names) == len(set(names)) and len(rows) >= 80
    for row in rows:
        assert row["evidence"]
        shape = from_table(row["model"])
        assert shape is not None and shape.num_attention_heads
        kv = shape.num_key_value_heads
        assert shape.mla or (kv and shape.num_attention_heads % kv == 0)
        assert shape.dense == (shape.num_experts is None)
        assert (shape.num_experts is None) == (shape.num_experts_per_tok is None)


BROKEN = [
    pytest.param("{", "valid JSON", id="json"),
    pytest.param("[1]", "valid JSON", id="list"),
    pytest.param("[" * 100_000, "valid JSON", id="deep"),
    pytest.param('{"a": ' + "9" * 5000 + "}", "valid JSON", id="long-number"),
    pytest.param('"\udc80"'.encode("utf-8", "surrogateescape"), "valid JSON", id="no-utf-8"),
    pytest.param("{}", "neither layers", id="no-sizes"),
    pytest.param('{"num_hidden_layers": "36", "num_attention_heads": -1}', "neither layers", id="no-numbers"),
    pytest.param(" " * (JSON_LIMIT_BYTES + 1), "larger than", id="large"),
]


@pytest.mark.parametrize(("content", "why"), BROKEN)
def test_a_broken_config_is_a_warning_and_not_checked(tmp_path: Path, content: str | bytes, why: str) -> None:
    path = folder(tmp_path, "", "Qwen3-8B")
    (path / "config.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    made = asking(path)
    (finding,), (unknown,) = findings_of(made, "NR241"), not_checked(made, "NR241")
    assert (finding.severity, finding.place.line) == ("warning", 1)
    assert why in finding.message() and why in unknown.message()


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    for name in ("pipe", "folder", "loop"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe" / "config.json")
    (tmp_path / "folder" / "config.json").mkdir()
    (tmp_path / "loop" / "config.json").symlink_to("config.json")
    for name in ("pipe", "folder", "loop"):
        found = of_path(tmp_path / name)
        assert isinstance(found, Unknown) and found.broken


def test_a_name_without_a_file_is_looked_up_in_the_table(tmp_path: Path) -> None:
    (tmp_path / "Qwen3-8B").mkdir()
    shape = of_path(tmp_path / "Qwen3-8B")
    assert isinstance(shape, ModelShape) and shape.source == "table"
    found = of_path(tmp_path / "mine")
    assert isinstance(found, Unknown) and not found.broken


def test_a_config_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = folder(tmp_path, QWEN3, "mine") / "config.json"
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(Unreadable) as error:
        read_json(path)
    assert error.value.absent
    assert "may not be read" in text(error.value.why, "en", **error.value.values)


@pytest.mark.parametrize("name", ["a\0b", "~nobody-at-all/x", "x" * 5000, "../..", "/dev/null", "org/name/more", " "])
def test_odd_names_are_no_exception(name: str) -> None:
    assert isinstance(of_path(f"'{name}'"), (ModelShape, Unknown))
    assert model_folder(name, {}) is None or Path(name).is_dir()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*QWEN3, *DEEPSEEK, "text_config", "thinker_config"]), inner, max_size=5)
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_config_is_a_shape_or_unreadable(value: object) -> None:
    if not isinstance(value, dict):
        return
    try:
        shape = from_config(value, "config.json")
    except Unreadable:
        return
    assert shape.num_layers is None or shape.num_layers > 0


def _table() -> Path:
    from submitter.checks import model_shape

    return Path(model_shape.__file__).with_name("model_shapes.jsonl")
