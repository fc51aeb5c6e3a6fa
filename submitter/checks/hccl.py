"""HCCL's ports, time-outs and buffers, and what a job hands on of one machine's environment."""

from __future__ import annotations

import re
from itertools import pairwise

from runtime_env.flags import flags
from runtime_env.verl_defaults import version_key
from submitter.checks import runtime
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.gang.secret_like import shown
from submitter.job.model import Flag

BASE_PORT = "HCCL_IF_BASE_PORT"
HOST_RANGE = "HCCL_HOST_SOCKET_PORT_RANGE"
NPU_RANGE = "HCCL_NPU_SOCKET_PORT_RANGE"
CONNECT = "HCCL_CONNECT_TIMEOUT"
EXECUTE = "HCCL_EXEC_TIMEOUT"
BUFFER = "HCCL_BUFFSIZE"
GROUP_TIME_OUT = "actor_rollout_ref.nccl_timeout"

AUTO = "auto"
BASE_PORT_COUNT = 16
"""Ports from HCCL_IF_BASE_PORT on that HCCL takes."""
BASE_PORTS = (1024, 65_520)
HIGHEST_PORT = 65_535
EPHEMERAL = (32_768, 60_999)
"""Linux hands these out to whoever asks (net.ipv4.ip_local_port_range), unless they are reserved."""
CONNECT_S = (120, 7200)
SHORT_EXECUTE_S = 60
"""A first step with graph capture or a checkpoint's end keeps ranks apart for longer."""
LONG_EXECUTE_S = 24 * 3600
"""A hang that is noticed after a day has cost a day."""
LARGE_BUFFER_MB = 2048
"""Per communicator, and a Megatron job has a dozen of them on each NPU."""

_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")

Range = tuple[int, int]
"""First and last port."""


def port_form(case: Case) -> list[Finding]:
    """Source: CANN's documentation: ports of 1 to 65535, ranges `a-b`, commas between them, no overlap, or `auto`."""
    return [
        _finding("NR471", "error", flag, limit)
        for name, limit in ((HOST_RANGE, "1-65535"), (NPU_RANGE, "1-65535"), (BASE_PORT, "1024-65520"))
        for flag in _named(case, name)
        if _ranges(flag) is None
    ]


def ephemeral_ports(case: Case) -> list[Finding]:
    """Source: CANN's documentation of HCCL_IF_BASE_PORT: reserve the ports with net.ipv4.ip_local_reserved_ports."""
    limit = f"{EPHEMERAL[0]}-{EPHEMERAL[1]}"
    return [
        _finding("NR472", "warning", flag, limit)
        for name in (HOST_RANGE, BASE_PORT)
        for flag in _named(case, name)
        if any(_overlap(one, EPHEMERAL) for one in _ranges(flag) or [])
    ]


def shared_ports(case: Case) -> list[Finding]:
    """Source: CANN's documentation: ports must not be taken by another process; 16 ports follow HCCL_IF_BASE_PORT."""
    told = []
    for first, second in ((NPU_RANGE, HOST_RANGE), (BASE_PORT, NPU_RANGE)):
        for flag in _named(case, first):
            for other in _named(case, second):
                if any(_overlap(a, b) for a in _ranges(flag) or [] for b in _ranges(other) or []):
                    told.append(_finding("NR473", "warning", flag, other=f"{other.name}={other.value}"))
    return told


def few_ports(case: Case) -> list[Finding]:
    """Source: CANN's documentation: at least as many ports as HCCL processes on one NPU; verl has one per role."""
    wanted = {HOST_RANGE: case.job.cluster.npus_per_node, NPU_RANGE: PROCESSES_PER_NPU}
    return [
        _finding("NR474", "warning", flag, str(wanted[name]), count=count)
        for name in (HOST_RANGE, NPU_RANGE)
        for flag in _named(case, name)
        if (ranges := _ranges(flag)) and (count := sum(last - first + 1 for first, last in ranges)) < wanted[name]
    ]


def no_ports(case: Case) -> list[Finding]:
    """Source: verl/trainer/constants_ppo.py of 0.7.1 to 0.9.1 sets both to auto; other trainers on Ray do not."""
    trainer = case.job.trainer
    missing = [name for name in (HOST_RANGE, NPU_RANGE) if not _named(case, name)]
    verl = case.settings.ppo or trainer.module.split(".")[0] == "verl"
    if trainer.launcher != "ray" or verl or not missing:
        return []
    return [Finding("NR475", "hint", case.settings.place("env"), values={"names": ", ".join(missing)})]


def time_out_form(case: Case) -> list[Finding]:
    """Source: HCCL refuses what is outside the documented range when it initialises (EI0001)."""
    return [
        *(_finding("NR476", "error", flag, "120-7200") for flag in _named(case, CONNECT) if not _connects(flag.value)),
        *(_finding("NR476", "error", flag, ">= 0") for flag in _named(case, EXECUTE) if _seconds(flag.value) is None),
    ]


def odd_time_out(case: Case) -> list[Finding]:
    """Source: HCCL's documentation: 0 waits for ever, 1836 s by default; torch_npu ProcessGroupHCCL.cpp."""
    limit = f"{SHORT_EXECUTE_S}-{LONG_EXECUTE_S}"
    return [
        _finding("NR477", "warning", flag, limit)
        for flag in _named(case, EXECUTE)
        if (seconds := _seconds(flag.value)) is not None and not SHORT_EXECUTE_S <= seconds <= LONG_EXECUTE_S
    ]


def shorter_group_time_out(case: Case) -> list[Finding]:
    """Source: verl 0.7.1 hands nccl_timeout to init_process_group; torch_npu warns of it (ProcessGroupHCCL.cpp)."""
    group = case.settings.integer(GROUP_TIME_OUT)
    if group is None or group < 1 or not _reads_group_time_out(case):
        return []
    return [
        _finding("NR478", "hint", flag, f"{group}", key=GROUP_TIME_OUT)
        for flag in _named(case, EXECUTE)
        if (seconds := _seconds(flag.value)) is not None and seconds > group
    ]


def unread_group_time_out(case: Case) -> list[Finding]:
    """Source: verl 0.8.0 to main, engine_workers.py: process groups without a time-out; the key has no reader."""
    if not case.settings.is_set(GROUP_TIME_OUT) or _reads_group_time_out(case):
        return []
    place, value = case.settings.place(GROUP_TIME_OUT), case.settings.value(GROUP_TIME_OUT)
    return [Finding("NR486", "warning", place, str(value), f"verl {case.settings.release}", {"name": GROUP_TIME_OUT})]


def default_connect_time(case: Case) -> list[Finding]:
    """Source: vllm-project/afd-plugin issue 229 (EI0006): roles reach their first collective more than 120 s apart."""
    job = case.job
    if job.cluster.nodes == 1 or job.trainer.launcher != "ray" or _named(case, CONNECT):
        return []
    return [
        Finding("NR479", "hint", case.settings.place("env"), None, f"{CONNECT_S[0]} s", {"nodes": job.cluster.nodes})
    ]


def buffer_form(case: Case) -> list[Finding]:
    """Source: torch_npu OptionsManager.cpp: TORCH_CHECK(buf_size > 0), with strtol."""
    return [_finding("NR480", "error", flag, ">= 1") for flag in _named(case, BUFFER) if not _megabytes(flag.value)]


def large_buffer(case: Case) -> list[Finding]:
    """Source: CANN's documentation: each communicator takes twice this size of device memory."""
    return [
        _finding("NR481", "warning", flag, f"{LARGE_BUFFER_MB} MB", taken=2 * size)
        for flag in _named(case, BUFFER)
        if (size := _megabytes(flag.value)) > LARGE_BUFFER_MB
    ]


def library_paths(case: Case) -> list[Finding]:
    """Source: RLinf issue 876: a head's PYTHONPATH was handed to nodes of another kind; CANN's set_env.sh sets both."""
    return [_finding("NR482", "warning", flag) for flag in case.job.flags if flag.name in PATHS]


def shells_own(case: Case) -> list[Finding]:
    """Source: RLinf issue 876; these describe the shell, the user and the host that a job was submitted from."""
    return [_finding("NR483", "warning", flag) for flag in case.job.flags if flag.name in SHELL]


def differs_by_node(case: Case) -> list[Finding]:
    """Source: runtime_env/flags.json, node_dependent."""
    if case.job.cluster.nodes == 1:
        return []
    return [
        _finding("NR484", "warning", flag)
        for flag in case.job.flags
        if flag.name not in _TOLD_ELSEWHERE
        and (known := flags().get(flag.name)) is not None
        and known.node_dependent
        and known.at == "job"
    ]


def packages_at_start(case: Case) -> list[Finding]:
    """Source: ray issue 38312: pip fails on a node without a package index, and the job with it."""
    wanted = case.job.runtime_env.pip
    if not wanted:
        return []
    place = case.settings.place("runtime_env.pip")
    return [Finding("NR485", "warning", place, ", ".join(wanted), values={"count": len(wanted)})]


RULES = (
    Rule("NR471", ("error",), port_form),
    Rule("NR472", ("warning",), ephemeral_ports),
    Rule("NR473", ("warning",), shared_ports),
    Rule("NR474", ("warning",), few_ports),
    Rule("NR475", ("hint",), no_ports),
    Rule("NR476", ("error",), time_out_form),
    Rule("NR477", ("warning",), odd_time_out),
    Rule("NR478", ("hint",), shorter_group_time_out, ppo=True),
    Rule("NR479", ("hint",), default_connect_time),
    Rule("NR480", ("error",), buffer_form),
    Rule("NR481", ("warning",), large_buffer),
    Rule("NR482", ("warning",), library_paths),
    Rule("NR483", ("warning",), shells_own),
    Rule("NR484", ("warning",), differs_by_node),
    Rule("NR485", ("warning",), packages_at_start),
    Rule("NR486", ("warning",), unread_group_time_out, ppo=True),
)

PROCESSES_PER_NPU = 2
"""Training and generation, side by side on one NPU."""
PATHS = frozenset({"PYTHONPATH", "LD_LIBRARY_PATH"})
"""PATH is NR415."""
SHELL = frozenset(
    {"HOME", "USER", "LOGNAME", "SHELL", "SHLVL", "PWD", "OLDPWD", "HOSTNAME", "TERM", "MAIL", "_", "LS_COLORS"}
    | {"SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DISPLAY", "VIRTUAL_ENV"}
    | {"CONDA_PREFIX", "CONDA_DEFAULT_ENV", "KUBERNETES_SERVICE_HOST", "POD_IP", "NODE_NAME"}
)
_TOLD_ELSEWHERE = (
    PATHS | runtime.OWN_IP | runtime.RANKS | runtime.INTERFACES | runtime.CORE_RANGES | {"ASCEND_RT_VISIBLE_DEVICES"}
)


def _reads_group_time_out(case: Case) -> bool:
    """verl 0.8.0 left the workers that did."""
    return version_key(case.settings.release) < (0, 8)


def _named(case: Case, name: str) -> list[Flag]:
    return [flag for flag in case.job.flags if flag.name == name]


def _ranges(flag: Flag) -> list[Range] | None:
    """[] for `auto`; None for what HCCL cannot read."""
    text = flag.value.strip()
    if flag.name == BASE_PORT:
        first = int(text) if re.fullmatch(r"[0-9]{1,5}", text) else 0
        return [(first, first + BASE_PORT_COUNT - 1)] if BASE_PORTS[0] <= first <= BASE_PORTS[1] else None
    if text == AUTO:
        return []
    found = [_PORTS.fullmatch(part.strip()) for part in text.split(",")]
    ranges = sorted((int(one[1]), int(one[2] or one[1])) for one in found if one is not None)
    whole = len(ranges) == len(found) and all(1 <= first <= last <= HIGHEST_PORT for first, last in ranges)
    apart = all(before[1] < after[0] for before, after in pairwise(ranges))
    return ranges if whole and apart else None


def _overlap(first: Range, second: Range) -> bool:
    return first[0] <= second[1] and second[0] <= first[1]


def _connects(text: str) -> bool:
    found = re.fullmatch(r"[0-9]{1,9}", text.strip())
    return found is not None and CONNECT_S[0] <= int(found[0]) <= CONNECT_S[1]


def _seconds(text: str) -> float | None:
    found = re.fullmatch(r"[0-9]{1,12}(\.[0-9]+)?", text.strip())
    return float(found[0]) if found else None


def _megabytes(text: str) -> int:
    """0 for what is no positive whole number."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text.strip()) else 0


def _finding(rule: str, severity: Severity, flag: Flag, limit: str | None = None, **values: object) -> Finding:
    return Finding(rule, severity, flag.place, shown(flag.name, flag.value), limit, {"name": flag.name, **values})
