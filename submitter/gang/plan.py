"""What the driver has to do, as data: written into the package as `plan.json`, read back in the cluster.

Standard library only: this file runs on the cluster's Python (3.10 to 3.12) and on the client.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .probes.wish import Wish

PACKAGE = "npurun_gang"
"""Name under which this folder travels: neither shadows a user's module nor is shadowed by one."""


@dataclass(frozen=True)
class TorchrunPlan:
    nproc_per_node: int
    master_addr: str | None
    """None: the first node's IP."""
    master_port: int | None
    """None: a free port of the first node."""


@dataclass(frozen=True)
class Plan:
    """One attempt's work.

    `command` is the whole argv for launcher ray (`python3 -m module …`), and for torchrun what follows its own
    options (`-m module …`).
    """

    launcher: Literal["ray", "torchrun"]
    command: tuple[str, ...]
    nodes: int
    npus_per_node: int
    labels: Mapping[str, str]
    flags: Mapping[str, str]
    """Each must be seen, value by value, by a task that holds NPUs on every node."""
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """{"WANDB_API_KEY": {"file": path on the node}} or {"env": variable of the node's own environment}."""
    quarantine: tuple[str, ...] = ()
    """IPs of nodes that must not be used."""
    place_wait_s: int = 600
    torchrun: TorchrunPlan | None = None
    wish: Wish = field(default_factory=Wish)
    """What the nodes are looked at for."""
    on_unfit: Literal["exclude", "fail"] = "exclude"
    """What to do when a node is unfit: take a spare one in its place, if there is one, or end."""
    task: Literal["train", "doctor"] = "train"
    """doctor: look at every node of the cluster, reserve nothing, start nothing."""

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), sort_keys=True, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        raw = json.loads(text)
        torchrun = raw.pop("torchrun")
        return cls(
            **{
                **raw,
                "command": tuple(raw["command"]),
                "quarantine": tuple(raw["quarantine"]),
                "torchrun": TorchrunPlan(**torchrun) if torchrun else None,
                "wish": Wish.from_json(raw["wish"]),
            }
        )
