"""Nodes, NPUs and CPUs: what the trainer asks for against what the job reserves, and that against a live cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from submitter.checks import pools
from submitter.checks.case import Case, NotChecked
from submitter.checks.cluster_node import ClusterNode
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.errors import Place
from submitter.gang.placement import CPUS_PER_NPU, TRAINER_CPUS
from submitter.gang.selector import matches
from submitter.texts import Phrase

NPUS_OF_A_NODE = (1, 2, 4, 8, 16)
"""Atlas 800T A2 and its kin have 8, A3 servers 16 (two dies in each of 8 packages); half of them is common in tests."""
NODES_NAMED = 8


def pools_too_large(case: Case) -> list[Finding]:
    """Source: submitter/gang/share.py refuses a pool without room; verl itself would wait for ever."""
    asked, shape = _asked(case), _shape(case)
    if asked is None or pools.fit(asked, case.job.cluster.nodes, case.job.cluster.npus_per_node):
        return []
    keys = [key for pool in reversed(asked) for key in pool.keys]
    values = pools.spelled(asked)
    return [Finding("NR391", "error", case.settings.place(*keys), str(values["total"]), shape, dict(values))]


def nodes_idle(case: Case) -> list[Finding]:
    """Source: the gang holds all of the job's nodes from start to end; verl takes trainer.nnodes × n_gpus_per_node."""
    asked, shape = _asked(case), _shape(case)
    held = case.job.cluster.nodes * case.job.cluster.npus_per_node
    if asked is None or pools_too_large(case):
        return []
    values = dict(pools.spelled(asked))
    idle = held - sum(pool.total for pool in asked)
    if idle <= 0:
        return []
    place = case.settings.place(*(key for pool in asked for key in pool.keys))
    return [Finding("NR392", "warning", place, str(values["total"]), shape, {**values, "idle": idle})]


def odd_node(case: Case) -> list[Finding]:
    """Source: Ascend servers have 8 (A2) or 16 (A3) NPUs; HCCL's rings want a power of two of them."""
    npus = case.job.cluster.npus_per_node
    if npus in NPUS_OF_A_NODE:
        return []
    limit = ", ".join(map(str, NPUS_OF_A_NODE))
    return [Finding("NR393", "hint", _place(case, "npus_per_node"), str(npus), limit)]


def gpus_in_place_of_npus(case: Case) -> list[Finding]:
    """Source: ray-project/ray#55137, vllm-ascend#3114: `ray start --num-gpus` registers GPU, nothing then finds NPU."""
    gpus = [node for node in _alive(case) if node.gpus and not node.npus]
    if not gpus or len(_with_npus(case)) >= case.job.cluster.nodes:
        return []
    return [_live(case, "NR394", "npus_per_node", _ips(gpus), sum(node.gpus for node in gpus))]


def labels_absent(case: Case) -> list[Finding]:
    """Source: submitter/gang/placement.py takes only nodes that carry each of cluster.labels."""
    wanted = case.job.cluster.labels
    if not wanted or not _alive(case):
        return []
    found = len(_labelled(case))
    if found >= case.job.cluster.nodes or len(_alive(case)) < case.job.cluster.nodes:
        return []
    seen = sorted({f"{name}={node.labels[name]}" for node in _alive(case) for name in wanted if name in node.labels})
    text = ", ".join(f"{name}={value}" for name, value in sorted(wanted.items()))
    labels = {"labels": ", ".join(seen[:NODES_NAMED])}
    return [_live(case, "NR395", "labels", text, found, seen=Phrase("NR395.seen" if seen else "NR395.none", labels))]


def too_few_nodes(case: Case) -> list[Finding | NotChecked]:
    """Source: ray/_private/accelerators/npu.py counts a node's NPUs; a bundle is never split (ray#47792)."""
    if case.cluster is None:
        return [NotChecked("NR396", "NR396.unknown", {})]
    if gpus_in_place_of_npus(case) or labels_absent(case):
        return []
    enough = [node for node in _labelled(case) if node.npus >= case.job.cluster.npus_per_node]
    if len(enough) >= case.job.cluster.nodes:
        return []
    return [_live(case, "NR396", "nodes", str(case.job.cluster.nodes), len(enough), shape=_shown(case.cluster))]


def too_few_cpus(case: Case) -> list[Finding]:
    """Source: verl#6663: a bundle is {NPU: 1, CPU: 3}; without these CPUs its placement group waits for ever."""
    if case.cluster is None or too_few_nodes(case) or gpus_in_place_of_npus(case) or labels_absent(case):
        return []
    need, nodes = _cpus(case), case.job.cluster.nodes
    able = sorted((node for node in _labelled(case) if node.npus >= case.job.cluster.npus_per_node), key=_by_cpus)
    enough = [node for node in able if node.cpus >= need]
    spare = sum(node.cpus - need for node in enough[:nodes])
    wanted = TRAINER_CPUS if case.job.trainer.launcher == "ray" else 0
    if len(enough) >= nodes and spare >= wanted:
        return []
    values = {"need": need, "npus": case.job.cluster.npus_per_node, "each": CPUS_PER_NPU[case.job.trainer.launcher]}
    short = [node for node in able if node.cpus < need] or able[:nodes]
    return [
        _live(case, "NR397", "npus_per_node", _ips(short), len(enough), shape=_shown(short), spare=wanted, **values)
    ]


def several_types(case: Case) -> list[Finding]:
    """Source: submitter/gang/placement.py takes nodes of one accelerator type, as HCCL wants them."""
    npus, nodes = case.job.cluster.npus_per_node, case.job.cluster.nodes
    able = [node for node in _labelled(case) if node.npus >= npus and node.cpus >= _cpus(case)]
    kinds = Counter(node.accelerator_type or "-" for node in able)
    if len(kinds) < 2 or len(able) < nodes:
        return []
    most = max(kinds.values())
    severity: Severity = "error" if most < nodes else "hint"
    text = ", ".join(f"{kind} × {count}" for kind, count in sorted(kinds.items()))
    return [Finding("NR398", severity, _place(case, "labels"), text, str(nodes), {"most": most})]


RULES = (
    Rule("NR391", ("error",), pools_too_large, ppo=True),
    Rule("NR392", ("warning",), nodes_idle, ppo=True),
    Rule("NR393", ("hint",), odd_node),
    Rule("NR394", ("error",), gpus_in_place_of_npus),
    Rule("NR395", ("error",), labels_absent),
    Rule("NR396", ("error",), too_few_nodes),
    Rule("NR397", ("error",), too_few_cpus),
    Rule("NR398", ("error", "hint"), several_types),
)


def _asked(case: Case) -> list[pools.Pool] | None:
    return pools.pools(case.settings) if case.job.trainer.launcher == "ray" else None


def _shape(case: Case) -> str:
    cluster = case.job.cluster
    return f"{cluster.nodes} × {cluster.npus_per_node} = {cluster.nodes * cluster.npus_per_node}"


def _cpus(case: Case) -> int:
    """Of one node's bundles."""
    return case.job.cluster.npus_per_node * CPUS_PER_NPU[case.job.trainer.launcher]


def _alive(case: Case) -> list[ClusterNode]:
    return [node for node in case.cluster or () if node.alive]


def _with_npus(case: Case) -> list[ClusterNode]:
    return [node for node in _alive(case) if node.npus >= case.job.cluster.npus_per_node]


def _labelled(case: Case) -> list[ClusterNode]:
    wanted = case.job.cluster.labels
    return [
        node for node in _alive(case) if all(matches(value, node.labels.get(name)) for name, value in wanted.items())
    ]


def _by_cpus(node: ClusterNode) -> tuple[float, str]:
    return -node.cpus, node.ip


def _ips(nodes: Iterable[ClusterNode]) -> str:
    ips = [node.ip for node in nodes]
    return ", ".join(ips[:NODES_NAMED]) + (f" … ({len(ips)})" if len(ips) > NODES_NAMED else "")


def _shown(nodes: Iterable[ClusterNode]) -> str | Phrase:
    """`3 × 8 NPU, 64 CPU; 1 × 0 NPU, 16 CPU`."""
    shapes = Counter((node.npus, node.cpus) for node in nodes if node.alive)
    rows = sorted(shapes.items(), key=lambda row: (-row[0][0], -row[0][1]))
    shown = [f"{count} × {npus} NPU, {cpus:g} CPU" for (npus, cpus), count in rows[:NODES_NAMED]]
    return "; ".join(shown) if shown else Phrase("NR396.empty")


def _live(case: Case, rule: str, key: str, value: str, found: float, **values: object) -> Finding:
    cluster = case.job.cluster
    facts = {"nodes": cluster.nodes, "npus": cluster.npus_per_node, "found": found, **values}
    return Finding(rule, "error", _place(case, key), value, str(cluster.nodes), facts)


def _place(case: Case, key: str) -> Place:
    return case.job.place(f"cluster.{key}")
