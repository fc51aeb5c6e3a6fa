"""What the judgement says: ids and values only. Texts (`NR5xx`) are joined on the client, in the user's language."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal

from .measure import Measured
from .wish import Wish

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True)
class Node:
    """What is known of one node when it is judged."""

    ip: str
    hostname: str
    npus: float
    """Ray's NPU resource."""
    cpus: float
    measured: Mapping[str, Measured]
    """By probe; empty when the node did not answer in time."""
    silent: str | None = None
    """Why there is no answer at all."""
    busy: bool = False
    """Another job holds NPUs of it through Ray, all or some."""

    def most_npus(self) -> float:
        """As Ray counts them, or as the host shows them where Ray was told of fewer."""
        devices, files = self.facts("npus").get("devices", ()), self.facts("device_files").get("numbers", ())
        return max(self.npus, len(devices), len(files))

    def facts(self, probe: str) -> Mapping[str, Any]:
        """Empty when it was not measured."""
        one = self.measured.get(probe)
        return one.facts or {} if one else {}


@dataclass(frozen=True)
class Verdict:
    """`unfit`: the node cannot run the job and is left out when there is a spare one."""

    id: str
    """`NR5xx`."""
    node: str
    """Its IP; of a pair, the one that could not reach the other."""
    severity: Severity
    value: str | None = None
    limit: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def unfit(self) -> bool:
        return self.severity == "error"

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def line(self) -> str:
        """For the job's log, which knows no texts: `NR502 Critical (limit OK) npu=5`."""
        limit = f" (limit {self.limit})" if self.limit is not None else ""
        more = "".join(f" {name}={value}" for name, value in self.values.items())
        return f"{self.id} {self.value or ''}{limit}{more}"


@dataclass(frozen=True)
class Judge:
    """A pure rule over all nodes. `probe`: whose cell in the table its verdicts mark."""

    id: str
    probe: str
    judge: Callable[[Sequence[Node], Wish], Sequence[Verdict]]


Rule = Callable[[Sequence[Node], Wish], Sequence[Verdict]]


def of_job(rule: Rule) -> Rule:
    """`rule` without the nodes that the job can never be placed on (a head without NPUs, another kind of host)."""

    @wraps(rule)  # with its docstring: the table of checks takes the source from there
    def judge(nodes: Sequence[Node], wish: Wish) -> Sequence[Verdict]:
        return rule([node for node in nodes if node.most_npus() >= (wish.npus_per_node or 0)], wish)

    return judge
