"""Hydra's own loader on one config tree: no global state, no working directory, no verl and no plug-in needed.

Hydra is pinned to 1.3 (pyproject.toml): `ConfigLoaderImpl` and `create_defaults_list` are what its public `compose`
calls, and the tests hold the outcome against that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from submitter.arguments.tree_sources import Config
from submitter.arguments.trees import Tree

TRAINER_CONFIGS = "verl/trainer/config"
"""What the experimental configs find by `hydra.searchpath: pkg://verl.trainer.config`."""
_SCHEME = "npurun-tree"
_ONE_AT_A_TIME = Lock()
"""Hydra keeps the version that it imitates in a global."""


class Loader:
    """Composes one config of a tree; `repository` answers which groups there are."""

    def __init__(self, tree: Tree, config: Config, *, with_hydra: bool) -> None:
        """`with_hydra`: Hydra's own configuration too (`hydra.run.dir` …), which costs 60 ms."""
        from hydra._internal.config_loader_impl import ConfigLoaderImpl
        from hydra._internal.config_repository import CachingConfigRepository
        from hydra._internal.config_search_path_impl import ConfigSearchPathImpl

        _register()
        path = ConfigSearchPathImpl()
        if with_hydra:
            path.append("hydra", "pkg://hydra.conf")
        for folder in dict.fromkeys((config.folder, TRAINER_CONFIGS)):
            path.append("main", f"{_SCHEME}://{(tree.folder / folder).absolute()}")
        path.append("schema", "structured://")
        self.name = config.name
        self._with_hydra = with_hydra
        self._loader = ConfigLoaderImpl(path)
        self.repository = CachingConfigRepository(self._loader.repository)

    def compose(self, groups: Sequence[Any]) -> Any:
        """The config with these group choices (Hydra's parsed overrides), in struct mode; raises HydraException …"""
        from hydra._internal.defaults_list import create_defaults_list
        from omegaconf import OmegaConf

        chosen = create_defaults_list(
            repo=self.repository,
            config_name=self.name,
            overrides_list=list(groups),
            prepend_hydra=self._with_hydra,
            skip_missing=False,
        )
        config = self._loader._compose_config_from_defaults_list(defaults=chosen.defaults, repo=self.repository)
        OmegaConf.set_struct(config, True)
        return config


def apply(override: Any, config: Any) -> None:
    """As Hydra does it; raises what Hydra raises."""
    from hydra._internal.config_loader_impl import ConfigLoaderImpl

    ConfigLoaderImpl._apply_overrides_to_config([override], config)


@contextmanager
def hydra_1_3() -> Iterator[None]:
    """verl asks for `version_base=None`: today's behaviour. What was set before comes back; one thread at a time."""
    from hydra import version

    with _ONE_AT_A_TIME:
        base = version.VersionBase.instance()
        before = base.version_base
        version.setbase(None)
        try:
            yield
        finally:
            base.version_base = before


@cache
def _register() -> None:
    """Hydra's registry of config sources, without the scan for plug-ins that fills it otherwise."""
    from hydra._internal.core_plugins.importlib_resources_config_source import ImportlibResourcesConfigSource
    from hydra._internal.core_plugins.structured_config_source import StructuredConfigSource
    from hydra._internal.sources_registry import SourcesRegistry

    for source in (ImportlibResourcesConfigSource, StructuredConfigSource, _tree_source()):
        SourcesRegistry.instance().register(source)


def _tree_source() -> Any:
    from hydra._internal.core_plugins.file_config_source import FileConfigSource
    from hydra.plugins.config_source import ConfigResult, ConfigSource
    from omegaconf import OmegaConf

    class TreeConfigSource(FileConfigSource):  # type: ignore[misc]  # Hydra has no types
        """Files read with libyaml: OmegaConf's own loader takes half of a composition's time."""

        @staticmethod
        def scheme() -> str:
            return _SCHEME

        def load_config(self, config_path: str) -> ConfigResult:
            file = Path(self.path) / self._normalize_file_name(config_path)
            text = file.read_text(encoding="utf-8")
            return ConfigResult(
                config=OmegaConf.create(_yaml(text) or {}),
                path=f"{_SCHEME}://{self.path}",
                provider=self.provider,
                header=ConfigSource._get_header_dict(text[:512]),
            )

    return TreeConfigSource


def _yaml(text: str) -> Any:
    """As OmegaConf reads it (`1e-6` is a number), but for repeated keys, which verl's files have not."""
    import yaml
    from omegaconf._utils import get_yaml_loader

    if not hasattr(yaml, "CSafeLoader"):
        return yaml.load(text, Loader=get_yaml_loader())
    return yaml.load(text, Loader=_fast_loader())


@cache
def _fast_loader() -> Any:
    import yaml
    from omegaconf._utils import get_yaml_loader

    resolvers = get_yaml_loader().yaml_implicit_resolvers
    return type("TreeYamlLoader", (yaml.CSafeLoader,), {"yaml_implicit_resolvers": resolvers})
