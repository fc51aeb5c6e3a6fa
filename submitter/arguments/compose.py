"""The trainer's arguments composed against a verl config tree: every argument that would not compose, each by itself.

Hydra stops at the first bad argument. Here the config is composed with the good group choices, then each value is
applied by Hydra's own code, in the order in which they are passed; one that fails is told and left out. So there are no
problems of the kinds `REFUSED` exactly when Hydra composes them all (a test holds it against the public API).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from submitter.arguments.tree_sources import Config
from submitter.arguments.trees import Tree

REFUSED = frozenset(
    {"grammar", "option", "between", "group", "unknown", "add", "exists", "absent", "unfit", "config_name", "sweep"}
)
"""Kinds that Hydra itself ends with."""
MEGATRON_CONFIG = "ppo_megatron_trainer"
"""0.7.1's way to Megatron, before `model_engine=megatron`."""


@dataclass(frozen=True)
class Problem:
    kind: str
    """One of `REFUSED`, or `new`, `refused_field`, `type`, `missing`, `interpolation`, `escaped`."""
    index: int | None
    """Of the argument; None: of none alone."""
    key: str
    """Without prefix."""
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Composition:
    release: str
    """Of the tree."""
    config: str | None
    """The Hydra config; None: not composed, for `reason`."""
    problems: tuple[Problem, ...] = ()
    reason: str = ""
    """Why it was not, or not wholly, composed: `no_stack`, `no_tree`, `damaged`, `module`, `config_folder`, `engine`,
    `group`."""


def compose(tree: Tree, module: str, words: Sequence[str]) -> Composition:
    """`words`: the trainer's arguments, options such as `--config-name=…` among them. Pure but for the tree's files."""
    options = Options.of(words)
    config, reason = _config(tree, module, options)
    if config is None:
        return Composition(tree.release, None, tuple(options.problems), reason)
    if not (tree.folder / config.file).is_file():
        choices = ", ".join(sorted(path.stem for path in (tree.folder / config.folder).glob("*.yaml")))
        problem = Problem("config_name", options.index, "--config-name", {"name": config.name, "choices": choices})
        return Composition(tree.release, None, (*options.problems, problem))
    from submitter.arguments.compose_run import Run  # imports Hydra: 0.15 s

    problems, reason = Run(tree, config, words).problems()
    return Composition(tree.release, config.name, (*options.problems, *problems), reason)


@dataclass
class Options:
    """Hydra's command line options; everything else is an override."""

    name: str | None = None
    path: str | None = None
    folder: str | None = None
    index: int | None = None
    """Of the argument that gives the config's name."""
    problems: list[Problem] = field(default_factory=list)

    @staticmethod
    def of(words: Sequence[str]) -> Options:
        options = Options()
        for index, key, value in option_words(words):
            if key in _VALUED:
                setattr(options, _VALUED[key], value)
                options.index = index if _VALUED[key] == "name" else options.index
            elif key not in _BARE:
                options.problems.append(Problem("option", index, key))
                continue
            if _is_between(index, words):
                options.problems.append(Problem("between", index, key))
        return options


_VALUED = {
    "--config-name": "name",
    "-cn": "name",
    "--config-path": "path",
    "-cp": "path",
    "--config-dir": "folder",
    "-cd": "folder",
}
_BARE = frozenset({"--hydra-help", "--resolve", "--run", "-r"})


def option_words(words: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """(index, option, value) of each word that is no override; a value may be the next word."""
    taken = -1
    for index, word in enumerate(words):
        if index == taken or not word.startswith("-"):
            continue
        key, equals, value = word.partition("=")
        if not equals and key in _VALUED and index + 1 < len(words):
            taken, value = index + 1, words[index + 1]
        yield index, key, value


def override_indexes(words: Sequence[str]) -> list[int]:
    """Which words are overrides."""
    options = {index: word for index, word, _ in option_words(words)}
    values = {index + 1 for index, key in options.items() if key in _VALUED and "=" not in words[index]}
    return [index for index in range(len(words)) if index not in options and index not in values]


def _is_between(index: int, words: Sequence[str]) -> bool:
    overrides = override_indexes(words)
    return bool(overrides) and overrides[0] < index < overrides[-1]


def _config(tree: Tree, module: str, options: Options) -> tuple[Config | None, str]:
    own = tree.modules.get(module)
    if own is None:
        return None, "module"
    if options.folder is not None:
        return None, "config_folder"
    folder = own.folder if options.path is None else _folder(tree, module, options.path)
    if folder is None:
        return None, "config_folder"
    name = own.name if options.name is None else options.name.removesuffix(".yaml")
    return Config(folder, name), ""


def _folder(tree: Tree, module: str, path: str) -> str | None:
    """`config` beside the trainer module, or an absolute path that ends in one of verl's; None: another's."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(module.replace(".", "/")), path))
    if not path.startswith("/"):
        return beside if beside.startswith("verl/") and (tree.folder / beside).is_dir() else None
    start = posixpath.normpath(path).rfind("/verl/")
    inside = posixpath.normpath(path)[start + 1 :]
    return inside if start >= 0 and inside.endswith("/config") and (tree.folder / inside).is_dir() else None
