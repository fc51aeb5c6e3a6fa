"""What verl will read: the job's arguments over the defaults of its verl release, key by key.

Needs neither Hydra nor a config tree, so rules see the same values with and without composition; a test holds these
values against Hydra's own composition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

from runtime_env.verl_defaults import DEFAULT_CONFIG, DEFAULT_ENGINE, configs, defaults, nearest_release
from submitter.arguments.compose import MEGATRON_CONFIG, Options
from submitter.checks.hydra_value import UNREADABLE, plain, read
from submitter.checks.spelled import spelled
from submitter.errors import Place
from submitter.job.model import Job, RawText, Value

PPO_MODULES: Mapping[str, str] = {
    # hydra.main's config_name in each module, verl 0.7.1 to 0.9.1.
    "verl.trainer.main_ppo": "ppo_trainer",
    "verl.trainer.main_generation_server": "ppo_trainer",
    "verl.experimental.fully_async_policy.fully_async_main": "fully_async_ppo_trainer",
    "verl.experimental.one_step_off_policy.main_ppo": "one_step_off_ppo_trainer",
}
"""Trainers that read verl's PPO configuration, with the config that each composes."""

_PPO_ROOT = "actor_rollout_ref."
_DEEPEST_REFERENCE = 8
"""verl's defaults refer to each other at most three deep; a cycle ends here."""
_MISSING = "???"
"""OmegaConf's mark of a value that must be given."""
_MEGATRON = "megatron"
_STRATEGY = ".strategy"
"""Of an engine that the release lacks there is none: no layout can be told from another engine's."""
_OTHER_TRAINERS = re.compile(r"verl\.trainer\.\w*sft\w*")
"""verl's own, with a configuration of their own: keys of PPO's in such a job are a mistake that composition tells."""
_SELECT = re.compile(r"\$\{oc\.select:([^,{}]+)(?:,(.*))?\}", re.DOTALL)
_REFERENCE = re.compile(r"\$\{(\.*[A-Za-z_][\w.]*)\}")


@dataclass(frozen=True)
class _Given:
    value: object
    place: Place


class Settings:
    """Values are Python's own (`None` for null and for what does not exist); keys are dotted, without prefix."""

    def __init__(self, job: Job, release: str | None) -> None:
        """`release`: the job's verl; None: unknown, the newest counts."""
        self._file, self._places = job.file, job.places
        self._given = dict(_given(job))
        self.release = nearest_release(release)
        self.config = _config_name(job)
        self.ppo = job.trainer.module in PPO_MODULES or (
            _OTHER_TRAINERS.fullmatch(job.trainer.module) is None
            and any(key.startswith(_PPO_ROOT) for key in self._given)
        )
        """The trainer reads verl's PPO configuration."""
        self._engine = _engine(self._given)

    @cached_property
    def _defaults(self) -> Mapping[str, object]:
        """Of a config that this release lacks: of its own, since composition tells of the other."""
        if not self.ppo:
            return {}
        known = configs(self.release)
        config = self.config if self.config in known else DEFAULT_CONFIG
        if self._engine in known[config]:
            return defaults(self.release, config, self._engine).values
        if self._engine == _MEGATRON and config == DEFAULT_CONFIG and MEGATRON_CONFIG in known:
            return defaults(self.release, MEGATRON_CONFIG, DEFAULT_ENGINE).values
        values = defaults(self.release, config, DEFAULT_ENGINE).values
        return {key: value for key, value in values.items() if not key.endswith(_STRATEGY)}

    def value(self, key: str) -> object:
        """None: null, or no such key, or nothing that can be known here."""
        return self._value(key, 0)

    def has(self, key: str) -> bool:
        """The key exists: by default or by the job."""
        return key in self._given or key in self._defaults

    def is_set(self, key: str) -> bool:
        """The job itself sets it."""
        return key in self._given

    def lacks(self, key: str) -> bool:
        """It is there without a value: null, or `???`; False where that cannot be told."""
        return self.has(key) and self._unresolved(key) in (None, _MISSING)

    def has_section(self, prefix: str) -> bool:
        """By verl's own defaults: a job that sets keys of a section does not make it."""
        return any(name.startswith(f"{prefix}.") for name in self._defaults)

    def place(self, *keys: str) -> Place:
        """Where the first of `keys` that the job sets is set; else the job file, with the first key."""
        for key in keys:
            if key in self._given:
                return self._given[key].place
        return self._places.get(keys[0]) or Place(file=self._file, key=keys[0])

    def integer(self, key: str) -> int | None:
        value = self.value(key)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def positive(self, key: str) -> int | None:
        """A whole number of at least one; None for anything else."""
        value = self.integer(key)
        return value if value is not None and value > 0 else None

    def number(self, key: str) -> float | None:
        value = self.value(key)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def truth(self, key: str) -> bool | None:
        """True or False; None for anything else, as `0` or "yes"."""
        value = self.value(key)
        return value if isinstance(value, bool) else None

    def text(self, key: str) -> str | None:
        value = self.value(key)
        return value if isinstance(value, str) else None

    def items(self, key: str) -> list[object]:
        """A list's items; one value that is no list counts as a list of it; null and absent as none."""
        value = self.value(key)
        if value is None:
            return []
        return value if isinstance(value, list) else [value]

    def below(self, prefix: str) -> dict[str, object]:
        """Every value below `prefix.`, by the rest of its key; also below a dict that `prefix` refers to."""
        start = f"{prefix}."
        names = dict.fromkeys([*self._defaults, *self._given])
        own = {name[len(start) :]: self.value(name) for name in names if name.startswith(start)}
        referred = self.value(prefix) if _is_reference(self._defaults.get(prefix)) else None
        if not isinstance(referred, dict):
            return own
        return {**{name: given.value for name, given in _leaves("", referred, self.place(prefix)) if name}, **own}

    def given(self) -> Mapping[str, Place]:
        """What the job sets, and where."""
        return {key: given.place for key, given in self._given.items()}

    def _value(self, key: str, depth: int) -> object:
        value = self._unresolved(key)
        if value is UNREADABLE or value == _MISSING or depth > _DEEPEST_REFERENCE:
            return None
        if value == {}:
            return _nested(self.below(key))
        return self._resolved(value, key, depth) if _is_reference(value) else value

    def _unresolved(self, key: str) -> object:
        """The value as it is written, references and `???` too; None where the key does not exist."""
        value = self._given[key].value if key in self._given else self._defaults.get(key)
        return read(value.text) if isinstance(value, RawText) else value

    def _resolved(self, value: str, key: str, depth: int) -> object:
        select = _SELECT.fullmatch(value)
        if select:
            wanted = _absolute(select[1].strip(), key)
            if self.has(wanted) and self._unresolved(wanted) != _MISSING:
                return self._value(wanted, depth + 1)
            if group := self.below(wanted):
                return _nested(group)
            rest = (select[2] or "null").strip()
            return self._resolved(rest, key, depth + 1) if "${" in rest else plain(read(rest))
        whole = _REFERENCE.fullmatch(value)
        if whole:
            return self._value(_absolute(whole[1], key), depth + 1)
        text = _REFERENCE.sub(lambda match: str(self._value(_absolute(match[1], key), depth + 1)), value)
        return None if "${" in text else text


def _is_reference(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and "${" in value


def _nested(flat: Mapping[str, object]) -> dict[str, object]:
    """`{"a.b": 1}` → `{"a": {"b": 1}}`; of `a` and `a.b`, the dict counts."""
    found: dict[str, object] = {}
    for key, value in flat.items():
        *parents, last = key.split(".")
        inner = found
        for parent in parents:
            below = inner.get(parent)
            inner[parent] = inner = below if isinstance(below, dict) else {}
        inner.setdefault(last, value)
    return found


def _absolute(reference: str, key: str) -> str:
    """`.x` is beside `key`, `..x` one level further up, as OmegaConf reads it."""
    name = reference.lstrip(".")
    dots = len(reference) - len(name)
    return name if not dots else ".".join([*key.split(".")[:-dots], name])


def _config_name(job: Job) -> str:
    named = Options.of([argument.word for argument in spelled(job)]).name
    return (named or PPO_MODULES.get(job.trainer.module, DEFAULT_CONFIG)).removesuffix(".yaml")


def _engine(given: Mapping[str, _Given]) -> str:
    """Hydra resolves the choice of a group before there are values to refer to: a reference is none."""
    if "model_engine" not in given:
        return DEFAULT_ENGINE
    name = given["model_engine"].value
    name = read(name.text) if isinstance(name, RawText) else name
    return name if isinstance(name, str) and "${" not in name else DEFAULT_ENGINE


def _given(job: Job) -> Iterator[tuple[str, _Given]]:
    """The values that the arguments set, each leaf by its own key; of several the last one counts (dict)."""
    for group in job.groups:
        for argument in group.arguments:
            if argument.word is not None:
                yield from _of_word(argument.word, argument.place)
            elif not argument.key.startswith("~"):
                yield from _leaves(argument.key.lstrip("+"), _read(argument.value), argument.place)
    for word in job.extra_arguments:
        yield from _of_word(word, Place(key=f"-- {word.partition('=')[0]}"))


def _of_word(word: str, place: Place) -> Iterator[tuple[str, _Given]]:
    key, equals, text = word.partition("=")
    if equals and not key.startswith(("~", "-")):
        yield from _leaves(key.lstrip("+"), _written(text), place)


def _read(value: Value) -> object:
    return _written(value.text) if isinstance(value, RawText) else plain(value)


def _written(text: str) -> object:
    """Structures that are no dict are read when a rule asks: Hydra's parser takes 0.2 s to import."""
    return read(text) if text.lstrip().startswith("{") else RawText(text)


def _leaves(key: str, value: object, place: Place) -> Iterator[tuple[str, _Given]]:
    if not isinstance(value, dict) or not value:
        yield key, _Given(value, place)
        return
    for name, inner in value.items():
        yield from _leaves(f"{key}.{name}" if key else str(name), inner, place)
