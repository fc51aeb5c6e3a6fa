"""Flags that cannot be right for every worker of a job, or that belong to npurun itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from runtime_env.build import NOSET_FLAG, STOP_WAIT_FLAG, STOP_WAIT_S
from submitter.checks import verl_ray_init
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.gang.secret_like import shown
from submitter.job.model import Flag, Job

_RESERVED_PREFIX = "NPURUN_"

# The node-dependent ones of the environment variables that CANN, torch, Ray and verl's scripts read.
OWN_IP = frozenset({"HCCL_IF_IP", "VLLM_HOST_IP", "MASTER_ADDR"})
"""A node's own address. The launchers choose MASTER_ADDR; torchrun's is `trainer.torchrun.master_addr`."""

RANKS = frozenset(
    {"RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"}  # torch.distributed
    | {"RANK_ID", "RANK_SIZE", "DEVICE_ID", "ASCEND_DEVICE_ID"}  # CANN
    | {"RANK_TABLE_FILE", "RANKTABLE_FILE"}  # HCCL: a table of one fixed set of nodes
)
INTERFACES = frozenset({"HCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"})
START = frozenset({"PATH", "PYTHONHOME"})
"""Ray itself starts a worker's Python with these."""

_EXPANDED = re.compile(r"\$(\w+|\{[^}]*\})", re.ASCII)
"""As os.path.expandvars reads it: replaced where the node has such a variable."""
_ALWAYS_EXPANDED = re.compile(r"\$\{[A-Z0-9_]+\}")
"""Ray removes it where the node has none."""

CORE_RANGES = frozenset({"CPU_AFFINITY_CONF"})


def reserved_flag(case: Case) -> list[Finding]:
    """Source: the driver and its fence recognise an attempt's processes by these names."""
    job = case.job
    places = [(flag.name, flag.place) for flag in job.flags] + [(secret.name, secret.place) for secret in job.secrets]
    return [
        Finding("NR411", "error", place, values={"name": name})
        for name, place in places
        if name.startswith(_RESERVED_PREFIX)
    ]


def noset_off(case: Case) -> list[Finding]:
    """Source: ray/_private/accelerators/npu.py; verl sets ASCEND_RT_VISIBLE_DEVICES by local rank itself."""
    job = case.job
    return _findings("NR412", "error", (flag for flag in job.flags if flag.name == NOSET_FLAG and flag.value != "1"))


def stop_wait_short(case: Case) -> list[Finding]:
    """Source: ray/dashboard/modules/job/job_supervisor.py kills after this time; see STOP_WAIT_S."""
    job = case.job
    short = (flag for flag in job.flags if flag.name == STOP_WAIT_FLAG and not _long_enough(flag.value))
    return _findings("NR413", "error", short, limit=f"{STOP_WAIT_S} s")


def devices_for_all(case: Case) -> list[Finding]:
    """Source: CANN narrows every process to this list, whatever device its local rank asks for."""
    job = case.job
    whole = list(range(job.cluster.npus_per_node))  # published scripts name them all, which hides none
    named = (flag for flag in job.flags if flag.name == "ASCEND_RT_VISIBLE_DEVICES")
    return _findings("NR414", "error", (flag for flag in named if _devices(flag.value) != whole))


def worker_start(case: Case) -> list[Finding]:
    """Source: ray/_private/runtime_env/context.py; a value without Ray's Python leaves the job pending (900 s)."""
    job = case.job
    return _findings("NR415", "warning", _named(job, START))


def expanded(case: Case) -> list[Finding]:
    """Source: ray/_private/utils.py, update_envs: each worker fills in its node's own variables."""
    job = case.job
    return [
        finding
        for flag in job.flags
        if _EXPANDED.search(flag.value)
        for finding in _findings("NR416", "error" if _ALWAYS_EXPANDED.search(flag.value) else "warning", [flag])
    ]


def one_ip(case: Case) -> list[Finding]:
    """Source: HCCL and vLLM bind to this address; on every other node it is not theirs."""
    job = case.job
    severity: Severity = "error" if job.cluster.nodes > 1 else "warning"
    return _findings("NR421", severity, _named(job, OWN_IP))


def fixed_ranks(case: Case) -> list[Finding]:
    """Source: torch.distributed and HCCL read one rank per process from these; a job has one value for all."""
    job = case.job
    return _findings("NR422", "error", _named(job, RANKS))


def one_interface(case: Case) -> list[Finding]:
    """Source: the socket transports bind to the interface of that name; hosts often name theirs differently."""
    job = case.job
    chosen = _several_nodes(job, INTERFACES, lambda value: not value.startswith("^"))  # ^ excludes: fits any node
    return _findings("NR423", "warning", chosen)


def one_topology(case: Case) -> list[Finding]:
    """Source: torch_npu; explicit core ranges (`1,npu0:0-11`) describe one server, a bare mode fits all."""
    job = case.job
    return _findings("NR424", "warning", _several_nodes(job, CORE_RANGES, lambda value: ":" in value))


RULES = (
    *verl_ray_init.RULES,
    Rule("NR411", ("error",), reserved_flag, forcible=False),
    Rule("NR412", ("error",), noset_off),
    Rule("NR413", ("error",), stop_wait_short),
    Rule("NR414", ("error",), devices_for_all),
    Rule("NR415", ("warning",), worker_start),
    Rule("NR416", ("error", "warning"), expanded),
    Rule("NR421", ("error", "warning"), one_ip),
    Rule("NR422", ("error",), fixed_ranks),
    Rule("NR423", ("warning",), one_interface),
    Rule("NR424", ("warning",), one_topology),
)


def _named(job: Job, names: frozenset[str]) -> Iterable[Flag]:
    return (flag for flag in job.flags if flag.name in names)


def _several_nodes(job: Job, names: frozenset[str], matters: Callable[[str], bool]) -> Iterable[Flag]:
    return (flag for flag in _named(job, names) if job.cluster.nodes > 1 and matters(flag.value))


def _devices(text: str) -> list[int] | None:
    """In order, as `0,1,2`; None: written otherwise."""
    names = [name.strip() for name in text.split(",")]
    return [int(name) for name in names] if all(name.isascii() and name.isdigit() for name in names) else None


def _long_enough(text: str) -> bool:
    try:
        return int(text) >= STOP_WAIT_S
    except ValueError:
        return False


def _findings(rule: str, severity: Severity, flags: Iterable[Flag], limit: str | None = None) -> list[Finding]:
    return [
        Finding(rule, severity, flag.place, shown(flag.name, flag.value), limit, {"name": flag.name}) for flag in flags
    ]
