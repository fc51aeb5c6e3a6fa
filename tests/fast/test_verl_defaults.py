"""verl's defaults as they ship, and what Settings makes of them, against composition on verl's own trees."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runtime_env import verl_defaults
from runtime_env.verl_defaults import DEFAULT_CONFIG, defaults, nearest_release, version_key
from submitter.arguments.assemble import arguments
from submitter.arguments.hydra_tree import Loader, apply, hydra_1_3
from submitter.arguments.trees import DEFAULT_RELEASES, find_tree
from submitter.checks.settings import PPO_MODULES, Settings
from submitter.job.load import load_job
from submitter.job.model import Job
from tests.make_verl_defaults import flat_leaves
from tests.support.builders import job
from tests.support.job_files import HOME

PPO = "verl.trainer.main_ppo"
ASYNC = "verl.experimental.fully_async_policy.fully_async_main"
RELEASE = "0.8.0"


def overrides(words: list[str]) -> list[Any]:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parsed: list[Any] = OverridesParser.create().parse_overrides(words)
    return parsed


@cache
def base(trees: Path, release: str, module: str, engine: str) -> Any:
    tree = find_tree(trees, release)
    assert tree is not None
    with hydra_1_3():
        loader = Loader(tree, tree.modules[module], with_hydra=False)
        return loader.compose(overrides([f"model_engine={engine}"] if engine else []))


def composed(trees: Path, made: Job) -> Any:
    words = arguments(made)
    engine = next((word.partition("=")[2] for word in words if word.startswith("model_engine=")), "")
    config = copy.deepcopy(base(trees, RELEASE, made.trainer.module, engine))
    for override in overrides([word for word in words if not word.startswith("model_engine=")]):
        apply(override, config)
    return config


def agree(trees: Path, made: Job) -> None:
    """Every value that Hydra's config has, resolved, is the one that rules see."""
    read = Settings(made, RELEASE)
    for key, node in leaves(composed(trees, made), ""):
        if key.startswith("hydra.") or node._is_missing():
            continue
        try:
            value = node._dereference_node() if node._is_interpolation() else node
        except OmegaConfBaseException:
            continue
        if value._is_missing():
            continue
        plain = OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value._value()
        assert read.value(key) == plain, key
        assert read.has(key), key


def leaves(node: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Of dicts, as far as Settings has keys: a list is one value."""
    if not OmegaConf.is_dict(node) or node._is_none() or node._is_interpolation() or not len(node):
        yield prefix, node
        return
    for name in list(node.keys()):
        yield from leaves(node._get_node(name), f"{prefix}.{name}" if prefix else str(name))


@pytest.mark.parametrize("release", DEFAULT_RELEASES)
@pytest.mark.parametrize("engine", ["", "megatron"])
def test_defaults_are_those_of_the_tree(trees: Path, release: str, engine: str) -> None:
    if engine and engine not in verl_defaults.configs(release)[DEFAULT_CONFIG]:
        assert release == "0.7.1"
        return
    config = base(trees, release, PPO, engine)
    flat = dict(flat_leaves("", OmegaConf.to_container(config, resolve=False)))
    assert flat == dict(defaults(release, DEFAULT_CONFIG, engine).values)


def test_modules_compose_what_settings_take_for_granted(trees: Path) -> None:
    for release in DEFAULT_RELEASES:
        tree = find_tree(trees, release)
        assert tree is not None
        assert {module: tree.modules[module].name for module in PPO_MODULES} == dict(PPO_MODULES)


def test_settings_of_the_shipped_job_are_hydras(trees: Path) -> None:
    agree(trees, load_job("qwen3_5_122b_a10b_32k", environ=HOME))


VALUES = ("null", "True", "3", "1e-6", "0.5", "text", "'a b'", "[1,2]", "[]", "[a,[b]]", "${data.max_prompt_length}")
KEYS = sorted(
    key
    for key, value in defaults(RELEASE, DEFAULT_CONFIG, "").values.items()
    if not isinstance(value, (dict, list)) and "_target_" not in key and key != "model_engine"
)
GIVEN = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=8)


@settings(max_examples=10)
@given(values=GIVEN, engine=st.sampled_from(["", "megatron"]))
def test_settings_are_what_hydra_composes(trees: Path, values: dict[str, str], engine: str) -> None:
    known = defaults(RELEASE, DEFAULT_CONFIG, engine).values
    words = [f"model_engine={engine}"] if engine else []
    agree(trees, job(extra=[*words, *(f"{key}={text}" for key, text in values.items() if key in known)]))


@pytest.mark.parametrize(
    ("text", "read"),
    [("0.20.2rc1", (0, 20, 2)), ("2.9.0.post2", (2, 9, 0)), ("v0.18.0", (0, 18, 0)), ("core_r0.16.0", ()), ("", ())],
)
def test_versions_compare_as_numbers(text: str, read: tuple[int, ...]) -> None:
    assert version_key(text) == read


def test_a_release_candidate_counts_as_its_release() -> None:
    assert nearest_release("0.9.0rc1") == "0.9.0"
    assert nearest_release("0.8.0.dev0") == "0.8.0"
