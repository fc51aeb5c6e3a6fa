"""How megatron-core lays a model's layers on pipeline stages, as its transformer_config.py checks it."""

from __future__ import annotations

from dataclasses import dataclass

from submitter.checks.parallel import ACTOR, REF, Training, quotient
from submitter.checks.settings import Settings

_OWN_LAYOUTS = (
    "pipeline_model_parallel_layout",  # megatron-core
    "num_layer_list",  # MindSpeed
    "noop_layers",  # MindSpeed: empty layers fill the stages
)
_LAYERS = "num_layers"
_ENDS = ("embedding", "loss")
"""What can count as one layer more."""


@dataclass(frozen=True)
class Split:
    spelled: str
    """`(num_layers 94 - first 4 - last 6) / 14 = 6`."""
    whole: bool
    virtual: str = ""
    """What virtual stages do not divide, spelled; empty when they do."""


def split(settings: Settings, layout: Training, layers: int) -> Split | None:
    """None: one stage, a layout of its own, or a value that cannot be told."""
    if layout.pipeline == 1 or any(settings.is_set(override(settings, layout, name)) for name in _OWN_LAYOUTS):
        return None
    ends = {name: override(settings, layout, f"num_layers_in_{name}_pipeline_stage") for name in ("first", "last")}
    fixed = {name: settings.integer(key) for name, key in ends.items() if settings.value(key) is not None}
    if any(size is None or size < 1 for size in fixed.values()):
        return None
    if fixed:
        return _uneven(layout, layers, {name: size for name, size in fixed.items() if size})
    ends_counted = {name: override(settings, layout, f"account_for_{name}_in_pipeline_split") for name in _ENDS}
    extra = [name for name, key in ends_counted.items() if settings.truth(key)]
    return _even(layout, layers + len(extra), " + ".join([f"{layers}", *extra]))


def override(settings: Settings, layout: Training, name: str) -> str:
    """The key of an override; the reference model has the actor's where it sets none (config/ref/megatron_ref.yaml)."""
    own = f"{layout.section}.override_transformer_config.{name}"
    return own if settings.is_set(own) else own.replace(f"{REF}.", f"{ACTOR}.", 1)


def _even(layout: Training, layers: int, spelled: str) -> Split:
    stages = layout.pipeline
    if layers % stages:
        return Split(f"{_LAYERS} {spelled} / PP {stages} = {quotient(layers, stages)}", whole=False)
    per_stage = layers // stages
    return Split(f"{_LAYERS} {spelled} / PP {stages} = {per_stage}", True, _virtual(layout, [per_stage]))


def _uneven(layout: Training, layers: int, fixed: dict[str, int]) -> Split:
    middle, stages = layers - sum(fixed.values()), layout.pipeline - len(fixed)
    left = " - ".join([f"{_LAYERS} {layers}", *(f"{name} {size}" for name, size in fixed.items())])
    spelled = f"({left}) / {stages}"
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
    return f"{_LAYERS} {broken[0]} / VPP {virtual} = {quotient(broken[0], virtual)}"
