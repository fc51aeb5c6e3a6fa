"""One composition: group choices first, then each value by itself. Imports Hydra."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from submitter.arguments.compose import MEGATRON_CONFIG, Problem, override_indexes
from submitter.arguments.config_classes import Spot, child_of, spot
from submitter.arguments.hydra_tree import Loader, apply, hydra_1_3
from submitter.arguments.nearest_key import NearestKeys
from submitter.arguments.simple_override import simple_override
from submitter.arguments.tree_sources import Config
from submitter.arguments.trees import Tree
from submitter.arguments.value_types import misfit
from submitter.job.nearest import nearest

_SEARCH_PATH = "hydra.searchpath"
_OWN_SEARCH_PATH = "pkg://verl.trainer.config"
_ENGINE_GROUP = "model_engine"
_ENVIRONMENT = "Environment variable"
"""OmegaConf's words for `${oc.env:X}` without X."""
_MOVED = {"ray_init": "ray_kwargs.ray_init"}
"""Sections of the oldest releases, before those whose keys are known here."""
_DAMAGED = (OSError, YAMLError)
_CAUGHT = (
    HydraException,
    OmegaConfBaseException,
    TypeError,
    ValueError,
    KeyError,
    AttributeError,
    AssertionError,
    RecursionError,
)
"""Hydra lets some of OmegaConf's and Python's own through: they end the trainer as well."""

Indexed = tuple[int, Override]


class Run:
    def __init__(self, tree: Tree, config: Config, words: Sequence[str]) -> None:
        self._tree = tree
        self._config = config
        self._words = words
        self._found: list[Problem] = []
        self._refused_below: list[str] = []

    def problems(self) -> tuple[list[Problem], str]:
        """In the order of the arguments; and why the rest was not looked at, as in `Composition.reason`."""
        with hydra_1_3():
            reason = self._run()
        order = len(self._words)
        return sorted(self._found, key=lambda one: order if one.index is None else one.index), reason

    def _run(self) -> str:
        overrides = list(self._parsed())
        if any(one.get_key_element() == _SEARCH_PATH and not _is_own(one.value()) for _, one in overrides):
            return "config_folder"
        loader = self._loader(overrides)
        groups = [one for one in overrides if _is_group(loader, one[1])]
        values = [one for one in overrides if one not in groups]
        config = self._composed(loader, groups)
        if config is None and self._lost_engine():
            if not self._has_megatron_config():
                return "engine"
            self._config = Config(self._config.folder, MEGATRON_CONFIG)
            config = self._composed(self._loader(overrides), [])
        if config is None:
            return "group" if any(one.kind == "group" for one in self._found) else "damaged"
        self._nearest = NearestKeys(config)
        for index, override in values:
            self._apply(index, override, config)
        self._look_at_whole(config, values)
        return ""

    def _loader(self, overrides: Sequence[Indexed]) -> Loader:
        with_hydra = any(one.is_hydra_override() and one.get_key_element() != _SEARCH_PATH for _, one in overrides)
        return Loader(self._tree, self._config, with_hydra=with_hydra)

    def _parsed(self) -> Iterator[Indexed]:
        parser = OverridesParser.create()
        for index in override_indexes(self._words):
            word = self._words[index]
            try:
                override: Override = simple_override(word) or parser.parse_override(word)
                override.value()
            except _CAUGHT as error:
                self._add("grammar", index, word.partition("=")[0], reason=_line(error))
                continue
            if override.is_sweep_override():
                self._add("sweep", index, override.key_or_group, text=word.partition("=")[2])
                continue
            yield index, override

    def _composed(self, loader: Loader, groups: Sequence[Indexed]) -> Any:
        """None: some choices do not compose; each of those is a problem now."""
        with suppress(*_CAUGHT, *_DAMAGED):
            return loader.compose([override for _, override in groups])
        good: list[Override] = []
        for index, override in groups:
            try:
                loader.compose([*good, override])
                good.append(override)
            except _CAUGHT as error:  # before OSError, which Hydra's "missing config" is as well
                self._add_group(loader, index, override, error)
            except _DAMAGED:
                return None
        return None

    def _add_group(self, loader: Loader, index: int, override: Override, error: Exception) -> None:
        choices = loader.repository.get_group_options(override.key_or_group)
        self._add(
            "group",
            index,
            override.get_key_element().lstrip("+~"),
            choice=str(override.value()),
            choices=", ".join(choices),
            reason=_line(error),
        )

    def _lost_engine(self) -> bool:
        return any(one.kind == "group" and one.key == _ENGINE_GROUP for one in self._found)

    def _has_megatron_config(self) -> bool:
        lost = next(one for one in self._found if one.kind == "group" and one.key == _ENGINE_GROUP)
        file = self._tree.folder / self._config.folder / f"{MEGATRON_CONFIG}.yaml"
        return lost.values["choice"] == "megatron" and file.is_file()

    def _apply(self, index: int, override: Override, config: Any) -> None:
        key = override.key_or_group
        before = spot(self._tree, config, key)
        try:
            unfit = None if before.rest or override.is_delete() else misfit(key, before, override.value())
            apply(override, config)
        except _CAUGHT as error:
            self._add_refused(index, override, before, config, error)
            return
        if before.rest and before.fields is not None and before.rest[0] not in before.fields:
            self._add_field(index, key, before)
        elif unfit is not None:
            self._add("type", index, key, **unfit)
        elif before.rest and before.fields is None and not before.free:
            self._add_new(index, key, before)
        if override.value() is not None and r"\${" in (override.input_line or ""):
            self._add("escaped", index, key, text=str(override.value()))

    def _add_refused(self, index: int, override: Override, before: Spot, config: Any, error: Exception) -> None:
        key = override.key_or_group
        if override.package is not None or "/" in key:
            self._add("group", index, key, choice=str(override.value()), choices="", reason=_line(error))
        elif override.is_delete():
            self._add("absent", index, key, nearest=self._nearest.of(key), reason=_line(error))
        elif override.is_add() and not before.rest:
            self._add("exists", index, key)
        elif not override.is_add() and not override.is_force_add() and before.rest:
            kind = "add" if before.annotation is not None or before.free else "unknown"
            self._add(kind, index, key, parent=before.parent, nearest=self._nearest.of(key))
        else:
            self._add("unfit", index, key, reason=_line(error))

    def _add_field(self, index: int, key: str, before: Spot) -> None:
        target = str(child_of(before.node, "_target_")._value()).rpartition(".")[2]
        name = f"{before.parent}.{before.rest[0]}" if before.parent else before.rest[0]
        if name in self._refused_below:
            return
        self._refused_below.append(name)
        near = nearest(before.rest[0], [field for field in before.fields or {} if not field.startswith("_")])
        self._add("refused_field", index, key, field=before.rest[0], target=target, nearest=near)

    def _add_new(self, index: int, key: str, before: Spot) -> None:
        """A key of a section without a class takes any name, so that a mistyped one does nothing at all."""
        moved = _MOVED.get(before.rest[0]) if not before.parent else None
        meant = moved or self._nearest.misspelt(before.parent, before.rest[0])
        if meant is not None:
            self._add("new", index, key, nearest=".".join((meant, *before.rest[1:])))

    def _look_at_whole(self, config: Any, values: Sequence[Indexed]) -> None:
        given = {one.key_or_group: index for index, one in values}
        refers = any("${" in word or word.startswith("~") for word in self._words)
        for key, node in _leaves(config, ""):
            if key.partition(".")[0] == "hydra":
                continue
            if node._is_missing():
                self._add("missing", _index_of(given, key), key)
            elif refers and node._is_interpolation() and (reason := _unresolved(node)):
                self._add("interpolation", _index_of(given, key), key, text=str(node._value()), reason=reason)

    def _add(self, kind: str, index: int | None, key: str, **values: str) -> None:
        self._found.append(Problem(kind, index, key, values))


def _is_group(loader: Loader, override: Override) -> bool:
    if "." in override.key_or_group:  # no folder of verl's has such a name; asking takes 0.2 ms
        return False
    return not isinstance(override.value(), dict) and loader.repository.group_exists(override.key_or_group)


def _is_own(searchpath: Any) -> bool:
    return list(searchpath or ()) == [_OWN_SEARCH_PATH]


def _index_of(given: Mapping[str, int], key: str) -> int | None:
    """Of the argument that set the key, or the dict or list around it."""
    while key not in given and "." in key:
        key = key.rpartition(".")[0]
    return given.get(key)


def _unresolved(node: Any) -> str | None:
    """Why a value's reference leads nowhere; None: it does not, or the cluster's environment decides."""
    try:
        node._dereference_node()
    except OmegaConfBaseException as error:
        return None if _ENVIRONMENT in str(error) else _line(error)
    return None


def _leaves(node: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if not OmegaConf.is_config(node) or node._is_interpolation() or node._is_none() or node._is_missing():
        yield prefix, node
        return
    names = range(len(node)) if OmegaConf.is_list(node) else list(node.keys())
    for name in names:
        yield from _leaves(node._get_node(name), f"{prefix}.{name}" if prefix else str(name))


def _line(error: BaseException) -> str:
    """The error's first words; Hydra's own says what OmegaConf found."""
    cause = error.__cause__ if error.__cause__ is not None and not str(error).strip() else error
    return str(cause).strip().partition("\n")[0] or type(error).__name__
