"""The environment that `ray start` had: raylet and GCS read theirs there, and no job can change it later."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from .measure import Facts, NotMeasuredError, Probe
from .odd import odd_ones
from .verdict import Judge, Node, Verdict
from .wish import Wish

SET_ENV = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH")
"""What CANN's set_env.sh exports: without it libraries are not found in a worker, though they are in a login shell."""
LIBRARIES = "LD_LIBRARY_PATH"
ALIKE = (LIBRARIES, "PYTHONPATH", *SET_ENV)
"""Only these and `AT_START` leave the node: others may hold secrets."""
AT_START = frozenset(
    {"RAY_memory_usage_threshold", "RAY_memory_monitor_refresh_ms", "RAY_TMPDIR", "RAY_object_spilling_threshold"}
    | {"RAY_local_fs_capacity_threshold", "RAY_health_check_timeout_ms", "RAY_health_check_failure_threshold"}
    | {"RAY_health_check_period_ms", "RAY_worker_register_timeout_seconds", "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE"}
)
"""What `ray start` and a raylet read when they start (ray/common/ray_config_def.h, ray/_private/services.py)."""


def ray_start(
    _wish: Wish, proc: Path = Path("/proc"), pid: int | None = None, environ: Mapping[str, str] | None = None
) -> Facts:
    """From the raylet of this worker (its parent): CANN's variables, library paths, its own settings. `worker`: which
    of CANN's variables this worker has, whether from its raylet or from the job."""
    raylet = _raylet(proc, os.getpid() if pid is None else pid)
    try:
        entries = (proc / str(raylet) / "environ").read_bytes().split(b"\0")
    except OSError as error:
        raise NotMeasuredError(f"the raylet's environment cannot be read: {error.strerror}") from error
    at_start = dict(entry.decode(errors="replace").partition("=")[::2] for entry in entries if entry)
    own = os.environ if environ is None else environ
    return {
        "alike": {name: at_start.get(name) for name in ALIKE},
        "ray": {name: value for name, value in at_start.items() if name in AT_START},
        "worker": [name for name in SET_ENV if own.get(name)],
        "libraries": "ascend" in own.get(LIBRARIES, "").lower(),
    }


def no_set_env(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: `libatb.so: cannot open shared object file` in workers whose raylet was started without set_env.sh.

    A warning where the libraries are found all the same: an image may set no more than their path.
    """
    return [
        Verdict("NR561", node.ip, "warning" if facts["libraries"] else "error", ", ".join(SET_ENV), None)
        for node in nodes
        if node.facts("device_files").get("numbers") and (facts := node.facts("ray_start")) and not facts["worker"]
    ]


def other_start(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: nodes whose Ray was started from another shell find other libraries. Empty is as good as not set."""
    found = []
    for name in ALIKE:
        seen = {node.ip: facts["alike"][name] or "" for node in nodes if (facts := node.facts("ray_start"))}
        found += [
            Verdict("NR562", ip, "warning", *_apart(value, usual), {"name": name})
            for ip, value, usual in odd_ones(seen)
        ]
    return found


def too_late(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: RAY_* that the raylet reads at its start; a job's flag of that name comes too late."""
    return [
        Verdict("NR563", node.ip, "warning", facts["ray"].get(name, "-"), value, {"name": name})
        for node in nodes
        if (facts := node.facts("ray_start"))
        for name, value in sorted(wish.flags.items())
        if name in AT_START and facts["ray"].get(name) != value
    ]


PROBES = (Probe("ray_start", ray_start),)
JUDGES = (
    Judge("NR561", "ray_start", no_set_env),
    Judge("NR562", "ray_start", other_start),
    Judge("NR563", "ray_start", too_late),
)


def _apart(value: str, usual: str) -> tuple[str, str]:
    """What only the one has, and only the other: library paths are long, and often differ by one entry."""
    ours, theirs = value.split(":"), usual.split(":")
    more = [entry for entry in ours if entry not in theirs]
    less = [entry for entry in theirs if entry not in ours]
    if not more and not less:
        return value or "-", usual or "-"  # another order
    return ":".join(more) or "-", ":".join(less) or "-"


def _raylet(proc: Path, pid: int) -> int:
    """The nearest ancestor called raylet: a worker may be started through a shell."""
    while pid > 1:
        try:
            head, _, rest = (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")
        except OSError:
            break
        if head.partition("(")[2] == "raylet":
            return pid
        pid = int(rest.split()[1])
    raise NotMeasuredError("this worker has no raylet above it")
