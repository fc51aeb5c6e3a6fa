"""How megatron-core lays a model's layers on pipeline stages, as its transformer_config.py checks it."""

from __future__ import annotations

from dataclasses import dataclass

from submitter.checks.parallel import Training
from submitter.checks.settings import Settings


@dataclass(frozen=True)
class Split:
    spelled: str
    """`(94 layers - first 4 - last 6) / 14 stages = 6`."""
    whole: bool
    virtual: str = ""
    """What virtual stages do not divide, spelled; empty when they do."""


def split(settings: Settings, layout: Training, layers: int) -> Split | None:
    """None: one stage, a layout of its own (pipeline_model_parallel_layout), or a value that cannot be told."""
    overrides = f"{layout.section}.override_transformer_config."
    if layout.pipeline == 1 or settings.is_set(f"{overrides}pipeline_model_parallel_layout"):
        return None
    ends = {name: f"{overrides}num_layers_in_{name}_pipeline_stage" for name in ("first", "last")}
    fixed = {name: settings.integer(key) for name, key in ends.items() if settings.value(key) is not None}
    if any(size is None or size < 1 for size in fixed.values()):
        return None
    if fixed:
        return _uneven(layout, layers, {name: size for name, size in fixed.items() if size})
    extra = [
        name for name in ("embedding", "loss") if settings.truth(f"{overrides}account_for_{name}_in_pipeline_split")
    ]
    return _even(layout, layers + len(extra), " + ".join([f"{layers}", *extra]))


def _even(layout: Training, layers: int, spelled: str) -> Split:
    stages = layout.pipeline
    if layers % stages:
        return Split(f"{spelled} layers / PP {stages} = {layers // stages}, remainder {layers % stages}", whole=False)
    per_stage = layers // stages
    return Split(f"{spelled} layers / PP {stages} = {per_stage}", True, _virtual(layout, [per_stage]))


def _uneven(layout: Training, layers: int, fixed: dict[str, int]) -> Split:
    middle, stages = layers - sum(fixed.values()), layout.pipeline - len(fixed)
    left = " - ".join([f"{layers} layers", *(f"{name} {size}" for name, size in fixed.items())])
    spelled = f"({left}) / {stages} stages"
    if middle < 0 or bool(middle) != bool(stages) or (stages and middle % stages):
        return Split(spelled, whole=False)
    sizes = [*fixed.values(), *([middle // stages] if stages else [])]
    return Split(spelled, True, _virtual(layout, sizes))


def _virtual(layout: Training, sizes: list[int]) -> str:
    virtual = layout.virtual_pipeline
    if virtual is None or virtual < 1:
        return ""
    broken = [size for size in sizes if size % virtual]
    if not broken:
        return ""
    whole, rest = divmod(broken[0], virtual)
    return f"{broken[0]} layers per stage / VPP {virtual} = {whole}, remainder {rest}"
