"""What a job is after loading: plain frozen data, every variable resolved, every value with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Union

from submitter.errors import Place


@dataclass(frozen=True)
class RawText:
    """Passed on character for character: `{$text: …}`, or a variable's value from the environment or `--set`."""

    text: str


@dataclass(frozen=True)
class Number:
    """A number in the spelling of the file: `1e-6` stays `1e-6` (PyYAML reads it as a string)."""

    spelling: str


Value = Union[None, bool, Number, str, RawText, "list[Value]", "dict[str, Value]"]


@dataclass(frozen=True)
class Argument:
    """One trainer argument. `key` carries Hydra's prefix (`+`, `++`, `~`)."""

    key: str
    value: Value
    place: Place
    word: str | None = None
    """From a list of words: passed on as it is, where it stands. Key and value are then what stands before and after
    its first `=`; without one, the word itself and None."""

    @staticmethod
    def of_word(word: str, place: Place) -> Argument:
        key, equals, text = word.partition("=")
        return Argument(key, RawText(text) if equals else None, place, word)


@dataclass(frozen=True)
class Group:
    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Flag:
    """An environment variable that has to reach every worker."""

    name: str
    value: str
    place: Place


@dataclass(frozen=True)
class Secret:
    """A reference, never a value: `target` is a path on the nodes, or a variable of the node's own environment."""

    name: str
    source: Literal["file", "env"]
    target: str
    place: Place


@dataclass(frozen=True)
class Variable:
    """Of `variables`, `constants` or `imported.decided`."""

    name: str
    text: str
    origin: Literal["file", "environment", "set"]
    place: Place


@dataclass(frozen=True)
class Cluster:
    nodes: int
    npus_per_node: int
    labels: Mapping[str, str] = field(default_factory=dict)
    """Ray labels that each node must carry, value by value."""
    on_unfit: Literal["exclude", "fail"] = "exclude"
    place_wait_s: int = 600
    """How long the gang may wait for its nodes."""


@dataclass(frozen=True)
class Torchrun:
    """Static rendezvous; None: chosen in the cluster (the first node's IP and a free port there)."""

    nproc_per_node: int
    master_addr: str | None = None
    master_port: int | None = None


@dataclass(frozen=True)
class Trainer:
    module: str
    """Empty when it is a script."""
    launcher: Literal["ray", "torchrun"]
    torchrun: Torchrun | None = None
    """Set exactly when launcher is torchrun."""
    script: str | None = None
    """A Python file, absolute on the nodes or relative to the working_dir."""

    @property
    def target(self) -> str:
        return self.script or self.module


@dataclass(frozen=True)
class RuntimeEnvSpec:
    working_dir: str | None = None
    excludes: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()


Retry = Literal["now", "backoff", "exclude_node", "after_change", "never"]
"""What a job may say of a reason; the reasons' own table knows "unknown" too."""


@dataclass(frozen=True)
class OnReason:
    """What the job says of one reason, or of a family of them."""

    retry: Retry | None = None
    """None: as the reason's own."""
    limit: int | None = None
    """Retries in the whole run, None: no bound of its own."""
    change: tuple[str, ...] = ()
    """Arguments (`key=value`) that the trainer gets from the first such end on, in all later attempts."""


@dataclass(frozen=True)
class Recovery:
    """What the supervisor may do when an attempt ends; `declared` is False when the job has no such section."""

    declared: bool = False
    max_attempts: int = 5
    max_hours: float | None = None
    """Wall time since the first attempt began."""
    first_step_min: int | None = None
    """Minutes from the trainer's start to its first step; None: the gang's own bound."""
    hang_min: float | None = None
    """Minutes without a new step, at the least; None: the gang's own bound."""
    resume: bool = True
    """Go on from the newest complete checkpoint."""
    from_start: bool = False
    """Steps that are trained may be trained again from step 0, where there is no checkpoint."""
    on_reason: Mapping[str, OnReason] = field(default_factory=dict)
    """By a reason's id or a family's name."""


@dataclass(frozen=True)
class Job:
    name: str
    summary: str
    stack: str | None
    file: str
    """As shown to people: the path given, or `<name>.yaml` for a shipped job."""
    cluster: Cluster
    variables: Mapping[str, Variable]
    flags: tuple[Flag, ...]
    trainer: Trainer
    groups: tuple[Group, ...]
    extra_arguments: tuple[str, ...] = ()
    """What stood after `--`: appended last, passed on as is."""
    recovery: Recovery = Recovery()
    runtime_env: RuntimeEnvSpec = RuntimeEnvSpec()
    secrets: tuple[Secret, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)
    """Where each key of the sections stands, dotted (`cluster.nodes`); flags, arguments and the like have their own."""

    def flag(self, name: str) -> Flag | None:
        """Names are unique: a file that gives one twice is refused."""
        return next((flag for flag in self.flags if flag.name == name), None)

    def place(self, key: str) -> Place:
        """Of `key`; where the file does not have it, of the section that it would be in."""
        near = key
        while near and near not in self.places:
            near = near.rpartition(".")[0]
        return Place(self.file, self.places[near].line if near else None, key)
