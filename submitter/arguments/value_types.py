"""Whether a value can be what a key holds: by verl's annotation, else by the type of verl's default.

Nothing in verl or Hydra looks at these types. So only what cannot work is told, and what surely means something else.
"""

from __future__ import annotations

import re
from typing import Any

from submitter.arguments.config_classes import Spot, types

_ALSO_TEXT = {
    # verl/trainer/sft_trainer.py, verl/trainer/ppo/rollout_corr_helper.py: numbers by default, but texts are read too.
    "trainer.save_freq": re.compile("after_each_epoch"),
    "trainer.test_freq": re.compile("after_each_epoch"),
    "algorithm.rollout_correction.rollout_is_threshold": re.compile(r"[\d.]+(_[\d.]+)*"),
    "algorithm.rollout_correction.rollout_rs_threshold": re.compile(r".*"),
}
_OF_NULL = {
    # null by default and a count where it is set, in verl's code.
    "data.val_batch_size": "Optional[int]",
    "data.gen_batch_size": "Optional[int]",
    "trainer.total_training_steps": "Optional[int]",
    "trainer.max_actor_ckpt_to_keep": "Optional[int]",
    "trainer.max_critic_ckpt_to_keep": "Optional[int]",
}
_COUNT = re.compile(r"(batch_size\w*|length|nnodes|n_gpus_per_node|epochs|steps|freq|\.num_\w+)$")
"""Whole by their meaning; of other numbers only verl's annotation says so."""
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
_TRUE, _FALSE = frozenset({"yes", "on", "y", "true", "1"}), frozenset({"no", "off", "n", "false", "0"})


def misfit(key: str, spot: Spot, value: Any) -> dict[str, str] | None:
    """`expected`, `value`, `how`: `fails` (cannot work), `fraction`, `truthy` (counts as true) or `odd`; None: fits."""
    text = getattr(value, "text", value)
    if text is None or (isinstance(text, str) and ("${" in text or text == "???")):
        return None
    if isinstance(text, str) and key in _ALSO_TEXT and _ALSO_TEXT[key].fullmatch(text):
        return None
    wanted = types(spot.annotation) or types(_OF_NULL.get(key)) or _of_default(spot.node)
    how = _judge(wanted, text)
    if how == "fraction" and not types(spot.annotation) and not _COUNT.search(key):
        how = "odd"
    return how and {"expected": " | ".join(sorted(wanted - {"null"})), "value": str(text), "how": how}


def _judge(wanted: frozenset[str], value: Any) -> Any:
    kinds = wanted - {"null"}
    if not kinds or _kind(value) in kinds:
        return None
    if kinds == {"dict"}:
        return "fails"
    if kinds <= {"int", "float"}:
        return _as_number(kinds, value)
    if kinds == {"bool"}:
        return _as_truth(value)
    if kinds == {"str"}:
        return "fails" if isinstance(value, dict) else None
    return None


def _as_number(kinds: frozenset[str], value: Any) -> str | None:
    if isinstance(value, bool):
        return "odd"
    if isinstance(value, int):
        return None
    if isinstance(value, float):
        return None if "float" in kinds else "odd" if value.is_integer() else "fraction"
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return "odd"
    return "fails"


def _as_truth(value: Any) -> str | None:
    if isinstance(value, (int, float)):
        return None if value in (0, 1) else "odd"
    if isinstance(value, str):
        return "truthy" if value.lower() in _FALSE else None if value.lower() in _TRUE else "odd"
    return "odd"


def _kind(value: Any) -> str:
    kinds = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "dict"}
    return kinds.get(type(value), "")


def _of_default(node: Any) -> frozenset[str]:
    """Empty: null, missing, a reference, or a list (verl takes one value for many of its lists)."""
    from omegaconf import DictConfig, ListConfig

    if isinstance(node, ListConfig) or node._is_none() or node._is_missing() or node._is_interpolation():
        return frozenset()
    if isinstance(node, DictConfig):
        return frozenset({"dict"})
    kind = _kind(node._value())
    return frozenset({kind}) if kind in ("int", "float", "bool") else frozenset()
