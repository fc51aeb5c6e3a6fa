"""One node's evidence when the trainer has failed or hangs: what only this host can tell, masked before it leaves."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import host_facts, oom, processes, stuck
from .bounded import Bounded
from .known import Known
from .masking import Masker
from .probes import devices
from .probes.wish import Wish
from .processes import Process
from .tails import Tail, tails

TAILS_S = 8.0
STUCK_S = 20.0
NPUS_S = 9.0
LINES_SHOWN = 400
_IDLE = "ray::IDLE"
"""Workers that Ray keeps for what may come."""

PLOG_FLAG, WORK_FLAG = "ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"


def failure(known: Known, jobs: Collection[str], own_job: str) -> dict[str, Any]:
    """`{"tails": [{"file", "lines"}], "why": why none are logs}`. `jobs`: hex ids of the attempt's Ray jobs."""
    mask = Masker(os.environ)
    known.note()
    wanted = {*jobs, *known.jobs()} - {own_job}
    found = Bounded(
        lambda: tails(_session_logs(), plog_folders(os.environ), wanted, known.pids(), known.since, mask), TAILS_S
    )
    told = [*(found.value or []), *_memory(known, mask)]
    return {"tails": [{"file": one.file, "lines": list(one.lines)} for one in told], "why": found.why}


def hang(trainers: Sequence[Process]) -> dict[str, Any]:
    """`{"lines": [...], "stopped": how many of them somebody has stopped}`. `trainers`: the trainer's processes."""
    mask = Masker(os.environ)
    here = [one for one in trainers if _is_here(one.pid) and not one.command.startswith(_IDLE)]
    stacks = Bounded(lambda: stuck.stuck(here), STUCK_S)
    lines = [*(stacks.value or [f"processes: {stacks.why}"]), *_npus()]
    return {"lines": [mask(line) for line in lines][:LINES_SHOWN], "stopped": len(stuck.stopped(here))}


def plog_folders(environ: Mapping[str, str]) -> list[Path]:
    """Where CANN logs its processes: `$ASCEND_PROCESS_LOG_PATH`, `$ASCEND_WORK_PATH/log`, else `~/ascend/log`."""
    named = environ.get(PLOG_FLAG) or (f"{environ[WORK_FLAG]}/log" if environ.get(WORK_FLAG) else "")
    return [Path(named)] if named else [Path.home() / "ascend" / "log"]


def _is_here(pid: int) -> bool:
    """Not another Ray node's on the same host."""
    return processes.raylet_of(pid) in (processes.raylet_of(os.getpid()), None)


def _memory(known: Known, mask: Masker) -> list[Tail]:
    kills = known.new_oom_kills()
    count = [f"oom_kill: {kills} processes of this container were killed for memory since it began"] if kills else []
    lines = tuple(map(mask, (*count, *oom.kernel_lines(known.since_boot))))
    return [Tail("kernel", lines)] if lines else []


def _npus() -> list[str]:
    if not host_facts.read()["devices"]:
        return []
    found = Bounded(lambda: devices.npus(Wish())["devices"], NPUS_S)
    if found.value is None:
        return [f"NPUs: {found.why}"]
    return [
        f"NPU {one['card']}.{one['chip']} {one['health']}: {one['hbm_used_mb']} of {one['hbm_total_mb']} MB"
        for one in found.value
    ]


def _session_logs() -> Path | None:
    """Ray's log folder on this node; None when this Ray does not tell it."""
    try:
        from ray._private.worker import _global_node

        return Path(_global_node.get_logs_dir_path())
    except (ImportError, AttributeError):
        return None
