"""A model's sizes: from its config.json where that can be read, else from the table of known shapes shipped here."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from submitter.checks.model_files import Unreadable, model_folder, read_json
from submitter.checks.parallel import divisors, shares
from submitter.checks.settings import Settings
from submitter.texts import Phrase

MODEL_PATH = "actor_rollout_ref.model.path"
CONFIG_PATH = "actor_rollout_ref.model.hf_config_path"
"""Where verl reads config.json instead, if set (workers/config/model.py)."""
OVERRIDE = "actor_rollout_ref.model.override_config"

_TABLE = Path(__file__).with_name("model_shapes.jsonl")

DENSE_TYPES = frozenset(
    {"llama", "mistral", "gemma2", "gemma3", "gemma3_text", "glm4", "mimo", "phi3", "qwen2", "qwen2_vl", "qwen2_5_vl"}
    | {"qwen3", "qwen3_vl", "qwen3_5", "qwen2_5_vl_text", "qwen3_vl_text", "qwen3_5_text"}
)
"""`model_type` of models that never have experts. A config.json leaves out what is its class's default, so the lack of
a count of experts says nothing of other types."""

# The names under which config.json files give a size; the first that is there counts.
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "num_layers": ("num_hidden_layers", "num_layers", "n_layer", "n_layers"),
    "hidden_size": ("hidden_size", "n_embd", "d_model"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads"),
    "num_key_value_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"),
    "head_dim": ("head_dim", "kv_channels"),
    "intermediate_size": ("intermediate_size", "ffn_hidden_size", "n_inner"),
    "moe_intermediate_size": ("moe_intermediate_size",),
    "num_experts": ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts"),
    "num_experts_per_tok": ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k"),
    "vocab_size": ("vocab_size", "padded_vocab_size"),
    "max_position_embeddings": ("max_position_embeddings", "n_positions", "seq_length"),
    "linear_key_heads": ("linear_num_key_heads",),
    "linear_value_heads": ("linear_num_value_heads",),
}
_LANGUAGE_PARTS = ("text_config", "llm_config", "language_config")
"""Where models that also see or hear keep the sizes of their language model."""

_SUFFIXES = frozenset({"instruct", "base", "chat", "thinking", "it", "hf", "bf16", "2507"})
"""Ends of a model's name that leave its shape as it is; its context length may differ (`max_positions` of a row)."""
_LARGEST = 10**9
"""No model has a size above it."""
_Kind = TypeVar("_Kind")
_SEPARATORS = re.compile(r"[-_.\s]+")


@dataclass(frozen=True)
class ModelShape:
    """None: unknown. Of a model with vision, the sizes of its language model."""

    source: Literal["config.json", "table"]
    path: str
    """The config.json that was read, or the name of the table's row."""
    num_layers: int | None = None
    hidden_size: int | None = None
    num_attention_heads: int | None = None
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    intermediate_size: int | None = None
    moe_intermediate_size: int | None = None
    num_experts: int | None = None
    """Routed ones in each layer that has experts; None for a dense model, too: see `dense`."""
    num_experts_per_tok: int | None = None
    vocab_size: int | None = None
    max_position_embeddings: int | None = None
    linear_key_heads: int | None = None
    """Of the linear attention layers of Qwen3-Next and Qwen3.5."""
    linear_value_heads: int | None = None
    mla: bool = False
    """Multi-head latent attention: its cache has one head, whatever num_key_value_heads says."""
    tie_word_embeddings: bool | None = None
    needs_remote_code: bool = False
    """config.json has an `auto_map`: classes come with the model."""
    rope_scaling: Mapping[str, object] | None = None
    """As config.json has it (`rope_parameters` of transformers 5, too)."""
    model_type: str | None = None
    dense: bool = False
    """Certainly without experts."""

    @property
    def said(self) -> Phrase:
        """Where these sizes come from, for a finding's values."""
        if self.source == "table":
            return Phrase("model.from_table", {"row": self.path})
        return Phrase("model.from_config", {"path": self.path})


@dataclass(frozen=True)
class Unknown:
    """Why there is no shape: a text id and its values."""

    why: str
    values: dict[str, object]
    broken: bool = False
    """The file is here, but not what it should be."""


def model_of(settings: Settings, environ: Mapping[str, str]) -> ModelShape | Unknown:
    """The shape of the model that verl trains. `environ` names the caches of this machine."""
    name = settings.text(CONFIG_PATH) or settings.text(MODEL_PATH)
    if not name:
        return Unknown("model.why.unnamed", {})
    found = _found(name, environ)
    changes = _sizes(_nested(settings.below(OVERRIDE)))
    return dataclasses.replace(found, **changes) if isinstance(found, ModelShape) else found


def from_config(config: Mapping[str, object], path: str) -> ModelShape:
    """`Unreadable` when it holds no sizes of a language model."""
    sizes = _sizes(config)
    if "num_layers" not in sizes and "num_attention_heads" not in sizes:
        raise Unreadable("model.why.no_sizes", path)
    parts = _parts(config)
    kind = _first(str, config.get("model_type"))
    return ModelShape(
        source="config.json",
        path=path,
        mla=any(_positive(part.get("kv_lora_rank")) for part in parts),
        tie_word_embeddings=_first(bool, config.get("tie_word_embeddings"), parts[0].get("tie_word_embeddings")),
        needs_remote_code=bool(config.get("auto_map")),
        rope_scaling=_first(dict, *(part.get(name) for part in parts for name in ("rope_scaling", "rope_parameters"))),
        model_type=kind,
        dense=kind in DENSE_TYPES and "num_experts" not in sizes,
        **sizes,
    )


def from_table(name: str) -> ModelShape | None:
    """The row of that model, whatever folder it lies in; None: not in the table, since sizes are never guessed."""
    words = _words(base_name(name))
    for end in range(len(words), 0, -1):
        row = _rows().get("-".join(words[:end]))
        if row is not None:
            return _of_row(row, "-".join(words[end:]))
        if words[end - 1] not in _SUFFIXES:
            return None
    return None


def head_sizes(model: ModelShape) -> list[int]:
    """The sizes by which heads can be cut: divisors of the heads that suit the key-value heads."""
    heads, kv = model.num_attention_heads, None if model.mla else model.num_key_value_heads
    sizes = divisors(heads or kv or 1)
    return [size for size in sizes if not kv or shares(kv, size)]


def base_name(name: str) -> str:
    """`/models/Qwen/Qwen3-8B/` → `Qwen3-8B`; also of the caches of Hugging Face and ModelScope (`Qwen2___5-7B`)."""
    parts = [part for part in name.replace("___", ".").split("/") if part]
    cached = [part.rpartition("--")[2] for part in parts if part.startswith("models--")]
    return (cached or parts or [""])[-1]


def _found(name: str, environ: Mapping[str, str]) -> ModelShape | Unknown:
    unread = Unknown("model.why.absent", {"path": name})
    folder = model_folder(name, environ)
    if folder is not None:
        file = folder / "config.json"
        try:
            return from_config(read_json(file), str(file))
        except Unreadable as error:
            unread = Unknown(error.why, error.values, broken=not error.absent)
            if unread.broken:
                return unread
    return from_table(name) or unread


def _of_row(row: Mapping[str, object], variant: str) -> ModelShape:
    """`max_positions` is by variant: the context length of a base model is often not that of its instruct model."""
    positions = row.get("max_positions")
    limit = positions.get(variant) if isinstance(positions, dict) else None
    fields = {field.name for field in dataclasses.fields(ModelShape)}
    sizes: dict[str, Any] = {name: value for name, value in row.items() if name in fields}
    return ModelShape(
        source="table",
        path=str(row["model"]),
        max_position_embeddings=limit,
        dense="num_experts" not in row,
        **sizes,
    )


@cache
def _rows() -> Mapping[str, Mapping[str, object]]:
    """By each of a row's names."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return {"-".join(_words(name)): row for row in rows for name in (row["model"], *row.get("also", ()))}


def _words(name: str) -> list[str]:
    """Separators count, or Qwen2.5-7B would be Qwen2-57B."""
    return [word for word in _SEPARATORS.split(name.lower()) if word]


def _parts(config: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The language model's part first, then the whole."""
    thinker = config.get("thinker_config")  # Qwen-Omni: one level further down
    outer = [thinker] if isinstance(thinker, dict) else []
    inner = [part.get(name) for part in (*outer, config) for name in _LANGUAGE_PARTS]
    return [*(part for part in inner if isinstance(part, dict)), config]


def _sizes(config: Mapping[str, object]) -> dict[str, Any]:
    parts = _parts(config)
    found = {field: _size(parts, names) for field, names in _SPELLINGS.items()}
    return {field: size for field, size in found.items() if size is not None}


def _size(parts: Iterable[Mapping[str, object]], names: tuple[str, ...]) -> int | None:
    return next((size for part in parts for name in names if (size := _positive(part.get(name)))), None)


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST else None


def _first(kind: type[_Kind], *values: object) -> _Kind | None:
    return next((value for value in values if isinstance(value, kind)), None)


def _nested(flat: Mapping[str, object]) -> dict[str, object]:
    """`{"model_config.a": 1}` → `{"a": 1}`, `{"text_config.a": 1}` → `{"text_config": {"a": 1}}`."""
    result: dict[str, object] = {}
    for key, value in flat.items():
        part, dot, name = key.removeprefix("model_config.").rpartition(".")
        if not dot:
            result[name] = value
        elif isinstance(inner := result.setdefault(part, {}), dict):
            inner[name] = value
    return result
