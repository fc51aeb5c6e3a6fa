"""One host's side of the fence: what earlier attempts of the run left here is ended, and watched until it is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from . import processes
from .masking import beginning
from .probes import devices
from .probes.measure import Facts, Measured, NotMeasuredError
from .probes.verdict import Node
from .probes.wish import Wish
from .processes import PROC, Process

COMMAND_SHOWN = 120


class Remains:
    """Remembers what it has ended: a killed process that hangs in a driver has no environment to be known by."""

    def __init__(self, proc: Path = PROC, npus: Callable[[], Facts] = lambda: devices.npus(Wish())) -> None:
        """`npus` as the probe of that name; raises NotMeasuredError."""
        self._proc = proc
        self._npus = npus
        self._ended: dict[tuple[int, str], Process] = {}

    def end(self, run: str, number: int) -> dict[str, list[str]]:
        """SIGKILL to the processes of the run's attempts before `number`.

        `{"ended": those found for the first time, "left": all those ended that are still there}`, a line each.
        """
        found = processes.of_earlier(run, number, self._proc)
        new = [process for process in found if (process.pid, process.started) not in self._ended]
        for process in found:
            processes.end(process, self._proc)
        self._ended.update({(process.pid, process.started): process for process in new})
        return {"ended": [_line(process, process.state) for process in new], "left": list(self._left())}

    def on_devices(self) -> dict[str, list[str] | str | None]:
        """`{"held": devices that a process ended here still holds, a line each, "draining": those whose memory is in
        use without any process, "why": why either cannot be told}`."""
        if not self._ended:
            return {"held": [], "draining": [], "why": None}
        try:
            npus = self._npus()
        except NotMeasuredError as error:
            return {"held": [], "draining": [], "why": str(error)}
        if not devices.in_host_pids(self._proc):
            why = "npu-smi shows the host's pids, and this container has its own"
            return {"held": [], "draining": _draining(npus), "why": why}
        held = [_held(one) for one in npus["processes"] if self._is_ours(int(one["pid"]))]
        return {"held": held, "draining": _draining(npus), "why": None}

    def _left(self) -> Iterable[str]:
        for process in self._ended.values():
            if state := processes.state_of(process, self._proc):
                yield _line(process, state)

    def _is_ours(self, pid: int) -> bool:
        """Unless the pid is another process by now."""
        now = processes.started(pid, self._proc)
        return any(known == pid and now in (started, "") for known, started in self._ended)


def _line(process: Process, state: str) -> str:
    return f"pid {process.pid} ({state}) {beginning(process.command, COMMAND_SHOWN)}"


def _draining(npus: Facts) -> list[str]:
    node = Node("", "", 0, 0, {"npus": Measured(npus, None, 0.0)})
    taken = devices.memory_taken([node], Wish())
    return [f"{one.value} of NPU {one.values['npu']} are in use, and no process holds them" for one in taken]


def _held(one: Facts) -> str:
    chip = "" if one["chip"] is None else f".{one['chip']}"
    return f"pid {one['pid']} ({one['name'] or '?'}) holds NPU {one['card']}{chip}, {one['memory_mb'] or '?'} MB"
