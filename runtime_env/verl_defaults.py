"""What verl's configuration holds before a job changes it, for each verl release that was read.

`verl/<release>.json` is composed from that release's own config tree (`tests/make_verl_defaults.py` writes it, a test
compares): flat keys, values unresolved (`${oc.select:data.max_prompt_length,512}`). Rules need these defaults also
where no tree is at hand; which keys exist in which release is told from them too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "verl"
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)", re.ASCII)

DEFAULT_CONFIG = "ppo_trainer"
DEFAULT_ENGINE = ""
"""The one that a config names itself."""


@dataclass(frozen=True)
class Defaults:
    release: str
    config: str
    """The Hydra config: `ppo_trainer`, `fully_async_ppo_trainer` …"""
    engine: str
    """The choice of `model_engine`; empty for the config's own."""
    values: Mapping[str, object]


@cache
def releases() -> tuple[str, ...]:
    """The verl releases that were read, oldest first."""
    return tuple(sorted((path.stem for path in _FOLDER.glob("*.json")), key=version_key))


def version_key(release: str) -> tuple[int, ...]:
    """`v0.20.2rc1` → (0, 20, 2): compares as versions do, without what follows the numbers.

    () for what does not begin with a number: a branch, a commit.
    """
    found = _NUMBERS.match(release)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def nearest_release(wanted: str | None) -> str:
    """The newest release that was read and is not newer than `wanted`; the newest of all for None."""
    known = releases()
    if wanted is None:
        return known[-1]
    older = [release for release in known if version_key(release) <= version_key(wanted)]
    return older[-1] if older else known[0]


def configs(release: str) -> Mapping[str, tuple[str, ...]]:
    """Config name -> the engines that it can be composed with; `""` stands for its own."""
    found: dict[str, list[str]] = {}
    for name in _read(release):
        config, _, engine = name.partition("+")
        found.setdefault(config, []).append(engine)
    return {config: tuple(engines) for config, engines in found.items()}


@cache
def defaults(release: str, config: str, engine: str) -> Defaults:
    """KeyError: the release has no such config, or not that engine."""
    table = _read(release)
    values: Mapping[str, object] = {}
    for name in dict.fromkeys((f"{DEFAULT_CONFIG}+", f"{DEFAULT_CONFIG}+{engine}", f"{config}+{engine}")):
        change = table[name]
        gone = set(change["gone"])
        values = {**{key: value for key, value in values.items() if key not in gone}, **change["set"]}
    return Defaults(release, config, engine, values)


def keys(release: str) -> frozenset[str]:
    """Every key of every config of a release."""
    return frozenset(key for change in _read(release).values() for key in change["set"])


@cache
def _read(release: str) -> dict[str, dict[str, dict[str, object]]]:
    """`{"<config>+<engine>": {"set": {key: value}, "gone": [key]}}`.

    Each is what changes against `ppo_trainer+<engine>`, that against `ppo_trainer+`.
    """
    table: dict[str, dict[str, dict[str, object]]] = json.loads(
        (_FOLDER / f"{release}.json").read_text(encoding="utf-8")
    )
    return table
