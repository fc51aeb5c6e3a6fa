"""What the driver has to do, as data: written into the package as `plan.json`, read back in the cluster.

Standard library only: this file runs on the cluster's Python (3.10 to 3.12) and on the client.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .checkpoint.plan import CheckpointPlan
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
class HangPlan:
    """How long a trainer may be without a new step; all in minutes. What the job does not set has these defaults."""

    step_min: float = 10.0
    """At least; five times the median step counts where it is longer."""
    first_step_min: float = 120.0
    """Models are loaded and graphs compiled before it; the validation before training comes on top."""
    validation_min: float = 60.0
    """On top of a step that validates, or that saves a checkpoint."""
    test_freq: int = 0
    """Steps between two validations; 0: none."""
    save_freq: int = 0
    """Steps between two checkpoints; 0: none."""
    val_before_train: bool = False


@dataclass(frozen=True)
class Plan:
    """One attempt's work.

    `command` is the whole argv for launcher ray (`python3 -m module …`, `python3 script …`), and for torchrun what
    follows its own options (`-m module …`, `script …`).
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
    checkpoint: CheckpointPlan | None = None
    """None: the trainer saves nothing that npurun knows how to go on from."""
    hang: HangPlan | None = None
    """None: the trainer's steps cannot be seen."""
    task: Literal["train", "doctor"] = "train"
    """doctor: look at every node of the cluster, reserve nothing, start nothing."""

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), sort_keys=True, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        raw = json.loads(text)
        torchrun, checkpoint, hang = raw.pop("torchrun"), raw.pop("checkpoint", None), raw.pop("hang", None)
        return cls(
            **{
                **raw,
                "command": tuple(raw["command"]),
                "quarantine": tuple(raw["quarantine"]),
                "torchrun": TorchrunPlan(**torchrun) if torchrun else None,
                "wish": Wish.from_json(raw["wish"]),
                "checkpoint": CheckpointPlan.from_json(checkpoint) if checkpoint else None,
                "hang": HangPlan(**hang) if hang else None,
            }
        )
