"""Names that vLLM and Megatron take below verl's free dicts; `engine_names.json` says from which sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("engine_names.json")


@cache
def vllm_options() -> Mapping[str, tuple[str, ...]]:
    """Option of vLLM's server, with underscores -> the versions that take it, oldest first."""
    return _versions("vllm")


@cache
def vllm_compilation() -> Mapping[str, tuple[str, ...]]:
    return _versions("vllm_compilation")


@cache
def transformer_names() -> frozenset[str]:
    """Of Megatron's TransformerConfig and of MindSpeed, any version."""
    return frozenset(_read()["transformer"])


@cache
def optimizer_names() -> frozenset[str]:
    return frozenset(_read()["optimizer"])


def _versions(table: str) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(versions.split()) for name, versions in _read()[table].items()}


@cache
def _read() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return table
