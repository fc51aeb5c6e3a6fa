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
    launcher: Literal["ray", "torchrun"]
    torchrun: Torchrun | None = None
    """Set exactly when launcher is torchrun."""


@dataclass(frozen=True)
class RuntimeEnvSpec:
    working_dir: str | None = None
    excludes: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recovery:
    """What the supervisor may do when an attempt ends; `declared` is False when the job has no such section."""

    declared: bool = False
    max_attempts: int = 5
    max_hours: float | None = None
    first_step_min: int | None = None
    resume: bool = True
    on_reason: Mapping[str, str] = field(default_factory=dict)


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

    def place(self, key: str) -> Place:
        """Of `key`; where the file does not have it, of the section that it would be in."""
        near = key
        while near and near not in self.places:
            near = near.rpartition(".")[0]
        return Place(self.file, self.places[near].line if near else None, key)
