"""What a process that holds NPUs finds there: whether torch_npu loads, how many devices it sees, and of which kind.

It runs in a task that holds what the gang has reserved, as the trainer's ranks will, and there in a process of its
own: loading torch_npu takes 10 s and more, and a sick driver hangs in it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence

from ..host_facts import NOSET, VISIBLE_DEVICES
from .child import python_child
from .measure import Facts, NotMeasuredError
from .odd import odd_ones
from .verdict import Judge, Node, Verdict
from .wish import Wish

NAME = "inside"
INSIDE_S = 60.0
KINDS = {range(200, 206): "_310P", range(220, 226): "A2", range(250, 256): "A3", range(260, 261): "A5"}
"""torch_npu.npu.get_soc_version() -> the name that vllm-ascend is built for (vllm_ascend/_build_info.py)."""
_MARK = "npurun-inside "

_LOOK = """
import importlib.util, json, os, re, signal, sys
signal.alarm(int(sys.argv[2]))  # a driver that hangs: whoever asked may be gone by then
facts = {"error": None, "count": None, "soc": None, "acl": None, "built_for": None}
spec = importlib.util.find_spec("vllm_ascend")  # does not import it
for folder in (spec.submodule_search_locations or ()) if spec else ():
    path = os.path.join(folder, "_build_info.py")
    if os.path.exists(path):
        found = re.search(r"__device_type__\\s*=\\s*['\\"](\\w+)", open(path).read())
        facts["built_for"] = found[1] if found else None
try:
    import torch, torch_npu
    facts["count"] = torch.npu.device_count()
    facts["soc"] = torch_npu.npu.get_soc_version()
except BaseException as error:
    facts["error"] = f"{type(error).__name__}: {error}"[:300]
try:
    import acl
    facts["acl"] = acl.get_soc_name()
except BaseException as error:
    facts["acl"] = f"{type(error).__name__}: {error}"[:300]
print(sys.argv[1] + json.dumps(facts), flush=True)
os._exit(0)  # the exit handlers of a sick driver hang
"""


def inside(limit_s: float = INSIDE_S) -> Facts:
    """`error` of importing torch_npu and asking it; else `count` of devices and `soc` as a number; `acl`: the chip's
    name; `built_for`: the kind that vllm-ascend was built for; `visible`: the devices that this process is kept to;
    `noset`: whether Ray leaves that as its raylet has it."""
    command = python_child(["-c", _LOOK, _MARK, str(max(1, int(limit_s)))])
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s + 1,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise NotMeasuredError(f"torch_npu did not load within {limit_s:.0f} s") from None
    told = [line.removeprefix(_MARK) for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if told:
        own = {"visible": os.environ.get(VISIBLE_DEVICES), "noset": os.environ.get(NOSET) == "1"}
        return {**json.loads(told[-1]), **own}
    if done.returncode < 0:
        raise NotMeasuredError(f"loading torch_npu ended by signal {-done.returncode} within {limit_s:.0f} s")
    lines = done.stderr.strip().splitlines()
    raise NotMeasuredError(f"loading torch_npu ended with {done.returncode}: {lines[-1][:200] if lines else ''}")


def not_loading(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: `import torch_npu` in a process that holds NPUs; each rank does the same."""
    return [
        Verdict("NR507", node.ip, "error", facts["error"], None)
        for node in nodes
        if (facts := node.facts(NAME)) and facts["error"]
    ]


def sees_too_few(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: torch.npu.device_count(): verl's ranks choose their device by local rank among these."""
    return [
        Verdict("NR508", node.ip, "error", str(facts["count"]), str(wanted))
        for node in nodes
        if (facts := node.facts(NAME)) and facts["count"] is not None
        for wanted in [_wanted(facts["visible"], wish)]
        if facts["count"] < wanted
    ]


def beyond_count(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: verl/single_controller/base/worker.py: with NOSET a rank opens the id that Ray gives it. That is one of
    the raylet's ASCEND_RT_VISIBLE_DEVICES (ray/_private/worker.py), while torch_npu counts these from 0."""
    return [
        Verdict("NR564", node.ip, "error", facts["visible"], str(facts["count"]), {"first": min(beyond)})
        for node in nodes
        if "verl" in wish.needs and (facts := node.facts(NAME)) and facts["count"] and facts["noset"]
        if len(facts["given"]) == 1 and facts["given"][0].strip() in _ids(facts["visible"])  # one NPU a bundle: verl's
        if (beyond := [int(one) for one in _ids(facts["visible"]) if one.isdecimal() and int(one) >= facts["count"]])
    ]


def other_kind(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: vllm_ascend/utils.py check_ascend_device_type asserts it; a node of another kind than the others may
    work, and HCCL between kinds is not supported."""
    kinds = {node.ip: kind_of(node.facts(NAME).get("soc")) for node in nodes}
    built = {node.ip: node.facts(NAME).get("built_for") for node in nodes}
    wrong = [
        Verdict("NR509", ip, "error" if "vllm_ascend" in wish.needs else "warning", kind, built[ip], _chip(nodes, ip))
        for ip, kind in kinds.items()
        if kind and built[ip] in KINDS.values() and kind != built[ip]
    ]
    named = {verdict.node for verdict in wrong}
    return wrong + [
        Verdict("NR509", ip, "warning", kind, usual, _chip(nodes, ip))
        for ip, kind, usual in odd_ones(kinds)
        if ip not in named
    ]


def kind_of(soc: int | None) -> str | None:
    """None: not known, or newer than this table."""
    return next((kind for numbers, kind in KINDS.items() if soc in numbers), None)


JUDGES = (
    Judge("NR507", NAME, not_loading),
    Judge("NR508", NAME, sees_too_few),
    Judge("NR509", NAME, other_kind),
    Judge("NR564", NAME, beyond_count),
)


def _wanted(visible: str | None, wish: Wish) -> int:
    """A process that is kept to some devices sees those alone."""
    wanted = wish.npus_per_node or 0
    return min(wanted, len(_ids(visible))) if visible is not None else wanted


def _ids(visible: str | None) -> list[str]:
    return [one.strip() for one in (visible or "").split(",") if one.strip()]


def _chip(nodes: Sequence[Node], ip: str) -> dict[str, object]:
    return {"chip": next(node.facts(NAME)["acl"] for node in nodes if node.ip == ip) or "?"}
