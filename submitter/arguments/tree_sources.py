"""verl's sources, as text → what the manifest of a config tree holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

FILE_LIMIT_BYTES = 4_000_000
"""verl's largest source file has 0.2 MB."""

_CONFIG = re.compile(r"verl/(?:trainer|experimental/\w+)/config/(?:[\w.-]+/)*[\w.-]+\.ya?ml", re.ASCII)
_GENERATED = "_generated_"
"""verl's own flattened copies: read by nobody."""
_CLASSES = re.compile(
    r"verl/(?:base_config|workers/config/\w+|trainer/config/\w+|utils/(?:profiler|skip)/config)\.py", re.ASCII
)
_MODULE = re.compile(r"verl/(?:trainer|experimental)/(?:\w+/)*\w+\.py", re.ASCII)
_HYDRA_MAIN = "hydra.main"

_EXPERIMENTS = {
    # 0.7.1's wheel has these configs without their modules; its scripts run from a source tree.
    "verl.experimental.fully_async_policy.fully_async_main": ("fully_async_policy", "fully_async_ppo_trainer"),
    "verl.experimental.one_step_off_policy.main_ppo": ("one_step_off_policy", "one_step_off_ppo_trainer"),
}


@dataclass(frozen=True)
class Config:
    folder: str
    """Inside the package: `verl/trainer/config`."""
    name: str

    @property
    def file(self) -> str:
        return f"{self.folder}/{self.name}.yaml"


class Package(Protocol):
    """verl's files by their path inside the package (`verl/trainer/main_ppo.py`)."""

    def names(self) -> Iterator[str]: ...

    def read(self, name: str) -> bytes: ...

    def made(self) -> Mapping[str, object] | None:
        """The manifest, where it was made before."""
        ...


def wanted_configs(package: Package) -> list[str]:
    return [name for name in package.names() if _CONFIG.fullmatch(name) and _GENERATED not in name and ".." not in name]


def manifest(package: Package) -> dict[str, object]:
    """`modules`: {module: [folder, config name]}; `classes`: {class: {field: annotation}}."""
    made = package.made()
    if made is not None:
        return {"modules": made["modules"], "classes": made["classes"]}
    names = list(package.names())
    configs = set(wanted_configs(package))
    modules = {module: [config.folder, config.name] for module, config in _modules(package, names, configs)}
    return {"modules": modules, "classes": _classes(package, names)}


def _modules(package: Package, names: list[str], configs: set[str]) -> Iterator[tuple[str, Config]]:
    for module, (folder, name) in _EXPERIMENTS.items():
        config = Config(f"verl/experimental/{folder}/config", name)
        if config.file in configs:
            yield module, config
    for name in names:
        if _MODULE.fullmatch(name) is None or _HYDRA_MAIN not in (source := _text(package, name)):
            continue
        config_of = _hydra_main(name, source)
        if config_of is not None and config_of.file in configs:
            yield name.removesuffix(".py").replace("/", "."), config_of


def _hydra_main(file: str, source: str) -> Config | None:
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == _HYDRA_MAIN:
            given = {one.arg: one.value.value for one in node.keywords if isinstance(one.value, ast.Constant)}
            path, name = given.get("config_path"), given.get("config_name")
            if isinstance(path, str) and isinstance(name, str):
                return Config(str(PurePosixPath(file).parent / path), name.removesuffix(".yaml"))
    return None


@dataclass(frozen=True)
class _Class:
    bases: tuple[str, ...]
    own: Mapping[str, str]


def _classes(package: Package, names: list[str]) -> dict[str, dict[str, str]]:
    found: dict[str, _Class] = {}
    for name in names:
        if _CLASSES.fullmatch(name):
            for node in _parsed(_text(package, name)).body:
                if isinstance(node, ast.ClassDef) and _is_dataclass(node):
                    found[node.name] = _Class(tuple(map(_last, node.bases)), _fields(node))
    return {name: fields for name in sorted(found) if (fields := _all_fields(found, name)) is not None}


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(one) for one in node.decorator_list)


def _fields(node: ast.ClassDef) -> dict[str, str]:
    return {
        one.target.id: ast.unparse(one.annotation)
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and "ClassVar" not in ast.unparse(one.annotation)
    }


def _all_fields(found: Mapping[str, _Class], name: str) -> dict[str, str] | None:
    """None: a base is not known here, so that the fields are not all known."""
    fields: dict[str, str] = {}
    for base in reversed(found[name].bases):
        inherited = _all_fields(found, base) if base in found else {} if base in _PLAIN else None
        if inherited is None:
            return None
        fields.update(inherited)
    return {**fields, **found[name].own}


_PLAIN = ("Mapping", "object", "ABC")


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _parsed(source: str) -> ast.Module:
    """Empty for what this Python cannot read."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _text(package: Package, name: str) -> str:
    return package.read(name)[:FILE_LIMIT_BYTES].decode("utf-8", "replace")
