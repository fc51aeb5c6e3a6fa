"""What a job wants of its nodes, as data: part of the plan that travels into the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Wish:
    """An empty field is not asked for: `npurun doctor` without a job looks at the nodes alone."""

    npus_per_node: int | None = None
    cpus_per_node: int | None = None
    """CPUs that the trainer's bundles take on each node."""
    stack: Mapping[str, str] = field(default_factory=dict)
    """Component (as in runtime_env/stacks.yaml: `cann`, `torch_npu` …) -> version as published."""
    needs: tuple[str, ...] = ()
    """Components, as in `stack`, that the job's processes import on every node."""
    model: str | None = None
    """Folder of the model, absolute."""
    weights: bool = True
    """False: they come from elsewhere (a distributed checkpoint), config and tokenizer are enough."""
    data_files: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """Columns that every data file has to have."""
    write_dirs: tuple[str, ...] = ()
    """Folders that the trainer writes checkpoints to, absolute; made by it when they do not exist."""
    log_dirs: tuple[str, ...] = ()
    """Folders for logs and samples, absolute: a job can do without them."""
    shared_dirs: tuple[str, ...] = ()
    """Those of `write_dirs` that have to be one folder on all nodes."""
    checkpoint_ratio: float | None = None
    """Bytes of one checkpoint for each byte of the model's files; None: none is saved."""
    modules: tuple[str, ...] = ()
    """Python files or dotted modules that the trainer imports from the user; relative ones are the working_dir's."""
    ports: tuple[int, ...] = ()
    """TCP ports that have to be free on every node (a rendezvous that the job fixes)."""
    hccl_base_port: int | None = None
    """HCCL takes one port per device from here on; None: it finds free ones itself."""
    flags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Wish:
        lists = ("needs", "data_files", "columns", "write_dirs", "log_dirs", "shared_dirs", "modules", "ports")
        return cls(**{**raw, **{name: tuple(raw[name]) for name in lists}})
