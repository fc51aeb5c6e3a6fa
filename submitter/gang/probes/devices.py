"""The node's NPUs: how many, how well, and who uses them."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ..masking import beginning
from ..telemetry.tool import Ran, ToolMissingError, ToolSilentError
from ..telemetry.tool import run as run_tool
from .measure import Facts, NotMeasuredError, Probe
from .npu_smi import UnreadableError, parse
from .verdict import Judge, Node, Severity, Verdict
from .wish import Wish

NPU_SMI_S = 8.0
"""npu-smi asks each of 16 devices; 2 to 4 s are usual."""
HBM_FREE_MB = 6144
"""An idle device holds 2.9 to 3.4 GB for its firmware; more is somebody's."""
COMMAND_SHOWN = 120
SAID_SHOWN = 200
"""Characters of npu-smi's last line."""
_HANGS = (f"npu-smi did not answer within {NPU_SMI_S - 0.5:g} s", f"no result within {NPU_SMI_S:g} s")
"""The latter where a driver holds it so that not even SIGKILL ends it."""
_FAILS = "npu-smi failed"
_DCMI = re.compile(r"\bdcmi\b|\bret(?:urn)? (?:code )?is -\d+", re.IGNORECASE)
"""The driver's own errors, which some releases print and then exit with 0: `dcmi module initialize failed. ret is
-8005`."""

HOST_PIDS = "pid:[4026531836]"
"""The first pid namespace has this number on every Linux: npu-smi shows its pids, whatever container asks."""

_WELL = frozenset({"ok", "na", "n/a", "-", ""})
"""What is not measured is no verdict."""
_ODD = frozenset({"warning", "unknown"})
"""The device works, or nobody can tell."""


def npus(_wish: Wish, run: Callable[[], str] | None = None, proc: Path = Path("/proc")) -> Facts:
    """`npu-smi info`: devices, their health and memory, and the processes that hold them."""
    text = (run or _npu_smi)()
    try:
        table = parse(text)
    except UnreadableError as error:
        refusals = [line for line in text.splitlines() if _DCMI.search(line)]
        raise NotMeasuredError(_failed(0, refusals) if refusals else str(error)) from error
    here = in_host_pids(proc)
    holders = [{**process, **_process(int(process["pid"]), proc, here)} for process in table.as_json()["processes"]]
    return {"npu_smi": table.version, "devices": table.as_json()["devices"], "processes": holders}


def look(bound_s: float = NPU_SMI_S - 0.5) -> Ran:
    """What `npu-smi info` says. Raises NotMeasuredError: it is not there, hangs, or fails."""
    try:
        ran = run_tool(bound_s)
    except ToolMissingError:
        raise NotMeasuredError("no npu-smi on the PATH of this node's Ray") from None
    except ToolSilentError:
        raise NotMeasuredError(_HANGS[0]) from None
    if ran.code != 0:
        raise NotMeasuredError(_failed(ran.code, ran.text.strip().splitlines()))
    return ran


def in_host_pids(proc: Path = Path("/proc")) -> bool:
    """False in a container with pids of its own: there one that npu-smi shows is nobody's, or another process."""
    try:
        return str((proc / "self/ns/pid").readlink()) == HOST_PIDS
    except OSError:
        return False


def device_files(_wish: Wish, dev: Path = Path("/dev")) -> Facts:
    """`/dev/davinci<N>` and the manager's files, as a container has to be given them."""
    numbers = sorted(
        int(path.name.removeprefix("davinci"))
        for path in dev.glob("davinci[0-9]*")
        if path.name.removeprefix("davinci").isdigit()
    )
    managers = {name: (dev / name).exists() for name in ("davinci_manager", "devmm_svm", "hisi_hdc")}
    if not numbers and not any(managers.values()):
        raise NotMeasuredError("no /dev/davinci* here: not an Ascend host, or a container without its devices")
    unreadable = [number for number in numbers if not os.access(dev / f"davinci{number}", os.R_OK | os.W_OK)]
    return {"numbers": numbers, "managers": managers, "unreadable": unreadable}


def too_few(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: Ray's NPU resource is what verl counts; fewer devices than that, and a rank finds none. A node that
    has fewer of both than the job asks for is never used, and that is all there is to say."""
    found = []
    for node in nodes:
        devices = node.facts("npus").get("devices")
        wanted = max(int(node.npus), wish.npus_per_node or 0)
        if devices is not None and len(devices) < wanted:
            severity: Severity = "error" if len(devices) < int(node.npus) else "hint"
            found.append(Verdict("NR501", node.ip, severity, str(len(devices)), str(wanted)))
    return found


def not_registered(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: verl-project/verl reports: `ray start` on an NPU host with --num-gpus, or without an NPU resource. A
    host that is split on purpose offers enough for the job."""
    least = wish.npus_per_node or 1
    return [
        Verdict("NR502", node.ip, "error" if node.npus < least else "warning", str(int(node.npus)), str(len(devices)))
        for node in nodes
        if (devices := node.facts("npus").get("devices")) and node.npus < len(devices)
    ]


def not_well(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: npu-smi's Health: an alarmed or critical device fails within the run, often as an HCCL time-out."""
    return [
        Verdict(
            "NR503",
            node.ip,
            "warning" if device["health"].lower() in _ODD else "error",
            device["health"],
            "OK",
            _names(device),
        )
        for node in nodes
        for device in node.facts("npus").get("devices", ())
        if device["health"].lower() not in _WELL
    ]


def in_use(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: a process of another run holds the device: HCCL cannot start there (HCCP), memory is missing."""
    return [
        Verdict(
            "NR504",
            node.ip,
            _severity(node),
            str(process["pid"]),
            None,
            {
                "command": process["command"] or process["name"] or "?",
                "owner": process["owner"] or "?",
                "how": "probe.end_here" if process["owner"] else "probe.end_on_host",
                "npu": _label(process),
                "memory_mb": process["memory_mb"] if process["memory_mb"] is not None else "?",
            },
        )
        for node in nodes
        for process in node.facts("npus").get("processes", ())
        if not process["own"]
    ]


def memory_taken(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: HBM in use without a process that npu-smi shows: one in another container, or not yet given back."""
    return [
        Verdict("NR505", node.ip, _severity(node), f"{device['hbm_used_mb']} MB", f"{HBM_FREE_MB} MB", _names(device))
        for node in nodes
        for device in node.facts("npus").get("devices", ())
        if (device["hbm_used_mb"] or 0) > HBM_FREE_MB and not _held(device, node)
    ]


def files_missing(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: a container sees only the devices that it was started with (--device, or the Ascend runtime)."""
    found = []
    for node in nodes:
        facts = node.facts("device_files")
        if not facts:
            continue
        absent = sorted(f"/dev/{name}" for name, there in facts["managers"].items() if not there)
        if len(facts["numbers"]) < node.npus or absent or facts["unreadable"]:
            detail = {"absent": ", ".join(absent) or "-", "unreadable": len(facts["unreadable"])}
            found.append(Verdict("NR506", node.ip, "error", str(len(facts["numbers"])), str(int(node.npus)), detail))
    return found


def not_asked(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: npu-smi asks the driver (dcmi) as CANN does: where it hangs or gets an error, no rank opens a device. An
    error where another node shows that the tool works, and the job may be placed here."""
    works = any(node.facts("npus") for node in nodes)
    least = wish.npus_per_node or 1
    return [
        Verdict("NR510", node.ip, "error" if works and node.npus >= least else "warning", why, None)
        for node in nodes
        if (measured := node.measured.get("npus"))
        if (why := measured.why) and (why in _HANGS or why.startswith(_FAILS))
    ]


PROBES = (Probe("npus", npus, NPU_SMI_S), Probe("device_files", device_files))
JUDGES = (
    Judge("NR501", "npus", too_few),
    Judge("NR502", "npus", not_registered),
    Judge("NR503", "npus", not_well),
    Judge("NR504", "npus", in_use),
    Judge("NR505", "npus", memory_taken),
    Judge("NR506", "device_files", files_missing),
    Judge("NR510", "npus", not_asked),
)


def _severity(node: Node) -> Severity:
    """What another job holds through Ray is in order, and still good to know."""
    return "hint" if node.busy else "error"


def _npu_smi() -> str:
    return look().text


def _failed(code: int, said: Sequence[str]) -> str:
    return f"{_FAILS} ({code}): {said[-1].strip()[:SAID_SHOWN] if said else '-'}"


def _process(pid: int, proc: Path, here: bool) -> dict[str, object]:
    """Command, owner, and whether it is of the attempt that looks; not known where the pid is not one of `proc`'s."""
    folder = proc / str(pid)
    unknown: dict[str, object] = {"command": None, "owner": None, "own": False}
    if not here:
        return unknown
    try:
        words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        owner = _user(folder.stat().st_uid)
    except OSError:
        return unknown
    return {"command": beginning(words, COMMAND_SHOWN), "owner": owner, "own": _is_ours(folder)}


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _is_ours(folder: Path) -> bool:
    """Of the attempt that looks: its own proof task may hold a device."""
    attempt = os.environ.get("NPURUN_ATTEMPT")
    try:
        return attempt is not None and f"NPURUN_ATTEMPT={attempt}".encode() in (folder / "environ").read_bytes().split(
            b"\0"
        )
    except OSError:
        return False


def _names(device: Facts) -> dict[str, object]:
    return {"npu": _label(device), "name": device["name"]}


def _label(one: Facts) -> str:
    """`4.1`: card and chip, as npu-smi counts them."""
    return str(one["card"]) if one["chip"] is None else f"{one['card']}.{one['chip']}"


def _held(device: Facts, node: Node) -> bool:
    return any(
        process["card"] == device["card"] and process["chip"] in (None, device["chip"])
        for process in node.facts("npus").get("processes", ())
    )
