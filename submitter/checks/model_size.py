"""How many parameters a model has, and how much of it lies on one NPU of the rollout. Pure arithmetic, from below."""

from __future__ import annotations

from dataclasses import dataclass

from submitter.checks.model_shape import ModelShape
from submitter.checks.parallel import Rollout, rollout
from submitter.checks.settings import Settings

_BYTES = 2
"""Of a number in bf16."""
_SURE = 0.95
"""Of a model with experts: its first few layers may be dense, which makes it smaller than the formula says."""


_EVERY_LAYER = frozenset({"qwen3_moe", "qwen3_vl_moe", "qwen3_5_moe", "qwen3_next", "mixtral", "glm4_moe"})
"""`model_type` of models whose layers (but for the first few) all have experts."""


@dataclass(frozen=True)
class Size:
    bytes: int
    """On one NPU."""
    spelled: str


@dataclass(frozen=True)
class _Parts:
    dense: int
    """Parameters of attention, embeddings and MLPs: cut by the tensor parallel size."""
    experts: int
    """Of routed experts: cut by the expert parallel size, too."""


def parameters(model: ModelShape) -> int | None:
    """None: a size that it takes is unknown."""
    parts = _parts(model)
    return None if parts is None else parts.dense + parts.experts


def rollout_bytes(settings: Settings, model: ModelShape) -> Size | None:
    """Of the weights, in bf16; None where a size is unknown."""
    parts, layout = _parts(model), rollout(settings)
    if parts is None or layout is None:
        return None
    cut = layout.tensor * layout.data if layout.expert > 1 else layout.tensor
    size = int((parts.dense / layout.tensor + parts.experts / cut) * _BYTES * (_SURE if parts.experts else 1))
    return Size(size, _spelled(parts, layout, cut, size))


def certainly_bf16(model: ModelShape) -> bool:
    """Published in 16 bits and with experts in every layer that the formula counts."""
    if model.dense:
        return True
    known = model.source == "table" or model.model_type in _EVERY_LAYER
    return known and not model.mla and "minimax" not in model.path.lower()


def _spelled(parts: _Parts, layout: Rollout, cut: int, size: int) -> str:
    if not parts.experts:
        return f"{parts.dense / 1e9:.1f} G / TP {layout.tensor} × {_BYTES} B = {size / (1 << 30):.1f} GiB"
    by = f"(TP {layout.tensor} × DP {layout.data})" if cut != layout.tensor else f"TP {cut}"
    terms = f"({parts.dense / 1e9:.1f} G / TP {layout.tensor} + {parts.experts / 1e9:.1f} G / {by})"
    return f"{terms} × {_BYTES} B × {_SURE} = {size / (1 << 30):.1f} GiB"


def _parts(model: ModelShape) -> _Parts | None:
    hidden, layers, heads = model.hidden_size, model.num_layers, model.num_attention_heads
    if hidden is None or layers is None or heads is None or model.vocab_size is None:
        return None
    feed_forward = _feed_forward(model, hidden)
    if feed_forward is None:
        return None
    head = model.head_dim or hidden // heads
    # MLA's projections are smaller than those of plain attention: counted as nothing, they are a few percent.
    attention = 0 if model.mla else hidden * head * 2 * (heads + (model.num_key_value_heads or heads))
    embeddings = model.vocab_size * hidden * (2 if model.tie_word_embeddings is False else 1)
    dense, experts = feed_forward
    return _Parts(layers * (attention + dense) + embeddings, layers * experts)


def _feed_forward(model: ModelShape, hidden: int) -> tuple[int, int] | None:
    """(dense, experts) of one layer: gate, up and down projection."""
    if model.num_experts is None:
        return (3 * hidden * model.intermediate_size, 0) if model.dense and model.intermediate_size else None
    if model.moe_intermediate_size is None:
        return None
    return 0, model.num_experts * 3 * hidden * model.moe_intermediate_size
