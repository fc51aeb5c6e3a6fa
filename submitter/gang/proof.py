"""Prove, by a task that holds an NPU on every node, that each flag of the job arrived there."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from . import secrets
from .ended import Ended, Stop
from .host_facts import NOSET, VISIBLE_DEVICES
from .members import Gang
from .node_worker import worker_facts
from .plan import Plan
from .record import NodeProof
from .reserve import bundles
from .say import WIDTH, clean, say, shorten, table

PROOF_WAIT_S = 300.0
"""Cold worker processes on a loaded host, and a pip environment that has to be built, take minutes."""

REPORT_EVERY_S = 15.0
CELL_WIDTH = 16
INDENT = len("[npurun]   ")


def prove(plan: Plan, gang: Gang, stop: Stop) -> list[NodeProof]:
    """One proof per node, told as a table. Raises Ended: flags_missing, secret_missing, node_unfit, stopped."""
    wanted = wanted_flags(plan)
    seen = _asked(plan, gang, list(wanted), stop)
    proofs = [
        NodeProof(
            attempt=gang.attempt,
            ip=member.ip,
            node_id=member.node_id,
            hostname=facts["hostname"],
            flags=answer["flags"],
            differs={name: value for name, value in wanted.items() if answer["flags"][name] != value},
            secrets=secret_states(plan.secrets, answer["secrets_missing"]),
            facts={**facts, "npu_ids": answer["npu_ids"], "visible_devices": answer["visible_devices"]},
        )
        for member, (answer, facts) in zip(gang.members, seen, strict=True)
    ]
    _tell(proofs)
    _judge(proofs, [answer["secrets_missing"] for answer, _ in seen])
    return proofs


def wanted_flags(plan: Plan) -> dict[str, str]:
    """The job's own flags by name, and last the one that npurun adds."""
    return {**dict(sorted(plan.flags.items())), NOSET: plan.flags.get(NOSET, "1")}


def secret_states(references: Mapping[str, object], missing: Sequence[str]) -> dict[str, str]:
    """What may be told of secrets: "resolved" or "missing". A line of `missing` begins with the secret's name."""
    lost = {line.split(" ", 1)[0] for line in missing}
    return {name: "missing" if name in lost else "resolved" for name in sorted(references)}


def differences(proof: NodeProof) -> list[str]:
    """One line per flag that did not arrive as wanted."""
    return [clean(f"{name} is {_quoted(proof.flags[name])}, {value!r} wanted") for name, value in proof.differs.items()]


def flag_table(proofs: Sequence[NodeProof], width: int = WIDTH - INDENT) -> list[str]:
    """Flags as rows, nodes as columns (numbered as in the node table), what was seen in the cells.

    Nodes that saw the same share a column when there are too many for `width`.
    """
    columns = {str(number): _column(proof) for number, proof in enumerate(proofs, 1)}
    head = ["flag seen by node", *_row_names(proofs[0])]
    if _width(head, columns) > width:
        columns = _grouped(columns)
    room = max(20, width - _width([""], columns))
    cells = zip(*([title, *column] for title, column in columns.items()), strict=True)
    return table([[shorten(name, room), *row] for name, row in zip(head, cells, strict=True)])


def node_table(proofs: Sequence[NodeProof]) -> list[str]:
    """Number, IP, host, NPUs that the task held, device files, CPUs, memory."""
    rows = [["node", "ip", "host", "NPU ids", "davinci", "CPUs", "memory free/GiB"]]
    for number, proof in enumerate(proofs, 1):
        facts = proof.facts
        memory = f"{_told(facts['memory_free_gib'])}/{_told(facts['memory_gib'])}"
        ids = ",".join(map(str, facts["npu_ids"])) or "-"
        numbers = [str(facts["devices"]), str(facts["cpus"]), memory]
        rows.append([str(number), proof.ip, shorten(proof.hostname, 20), shorten(ids, 8), *numbers])
    return table(rows)


def answers(asked: Mapping[Any, str], stop: Stop) -> dict[Any, Any]:
    """The values of all references, which are given with their node's IP. Raises Ended: node_unfit, stopped."""
    import ray

    got: dict[Any, Any] = {}
    began = told = time.monotonic()
    while waiting := [reference for reference in asked if reference not in got]:
        for reference in ray.wait(waiting, num_returns=len(waiting), timeout=0.5)[0]:
            got[reference] = _get(ray, reference, asked[reference])
        stop.check()
        now = time.monotonic()
        silent = sorted({asked[reference] for reference in asked if reference not in got})
        if silent and now - began > PROOF_WAIT_S:
            why = f"no answer within {PROOF_WAIT_S:.0f} s from {', '.join(silent)}"
            raise Ended("node_unfit", node=silent[0], evidence=(why,))
        if silent and now - told > REPORT_EVERY_S:
            told = now
            say(f"proof: {len(set(asked.values())) - len(silent)} nodes answered; waiting for {', '.join(silent)}")
    return got


def _seen(names: Sequence[str], references: secrets.References) -> dict[str, Any]:
    """Runs as a task in a reserved bundle."""
    import ray

    return {
        "flags": {name: os.environ.get(name) for name in names},
        "secrets_missing": secrets.missing(references, os.environ),
        "npu_ids": list(ray.get_runtime_context().get_accelerator_ids().get("NPU", [])),
        "visible_devices": os.environ.get(VISIBLE_DEVICES),
    }


def _asked(plan: Plan, gang: Gang, names: Sequence[str], stop: Stop) -> list[tuple[Any, Any]]:
    """(what the task saw, the host's facts) per node."""
    tasks = [_task(plan, group, names) for group in gang.groups]
    facts = worker_facts(gang.workers)
    ips = [member.ip for member in gang.members]
    got = answers(dict(zip([*tasks, *facts], [*ips, *ips], strict=True)), stop)
    return [(got[task], got[fact]) for task, fact in zip(tasks, facts, strict=True)]


def _task(plan: Plan, group: Any, names: Sequence[str]) -> Any:
    """Holds all NPUs of the node's first bundle: one for launcher ray, every NPU for torchrun."""
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=0)
    options = {"num_cpus": 1, "resources": {"NPU": bundles(plan)[0]["NPU"]}, "max_retries": 0}
    return ray.remote(_seen).options(**options, scheduling_strategy=strategy).remote(names, plan.secrets)


def _get(ray: Any, reference: Any, ip: str) -> Any:
    try:
        return ray.get(reference, timeout=1)
    except ray.exceptions.RayError as error:  # the worker did not start (runtime env), or it or its node died
        raise Ended("node_unfit", node=ip, evidence=(clean(error)[:2000],)) from error


def _tell(proofs: Sequence[NodeProof]) -> None:
    say(f"proof: what a task that held an NPU saw on each of {len(proofs)} nodes")
    for line in (*node_table(proofs), *flag_table(proofs)):
        say(f"  {line}")
    for proof in proofs:
        print(proof.line(), flush=True)


def _judge(proofs: Sequence[NodeProof], secrets_missing: Sequence[Sequence[str]]) -> None:
    wrong = [(proof.ip, line) for proof in proofs for line in differences(proof)]
    lost = [
        (proof.ip, f"secret missing: {clean(line)}")
        for proof, lines in zip(proofs, secrets_missing, strict=True)
        for line in lines
    ]
    for ip, line in (*wrong, *lost):
        say(f"node {ip}: {line}")
    if wrong or lost:
        reason = "flags_missing" if wrong else "secret_missing"
        raise Ended(reason, node=(wrong or lost)[0][0], evidence=tuple(f"{ip}: {line}" for ip, line in (*wrong, *lost)))


def _column(proof: NodeProof) -> tuple[str, ...]:
    flags = ("-" if seen is None else shorten(seen or '""', CELL_WIDTH) for seen in proof.flags.values())
    return (*flags, *proof.secrets.values())


def _row_names(proof: NodeProof) -> list[str]:
    return [*proof.flags, *(f"{name} (secret)" for name in proof.secrets)]


def _width(names: Sequence[str], columns: Mapping[str, Sequence[str]]) -> int:
    return max(map(len, names)) + sum(2 + max(map(len, (title, *cells))) for title, cells in columns.items())


def _grouped(columns: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    groups: dict[tuple[str, ...], list[int]] = {}
    for title, column in columns.items():
        groups.setdefault(column, []).append(int(title))
    return {_ranges(numbers): column for column, numbers in groups.items()}


def _ranges(numbers: Sequence[int]) -> str:
    """[1, 2, 3, 5] as "1-3,5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _quoted(seen: str | None) -> str:
    return "absent" if seen is None else repr(seen)


def _told(value: object) -> str:
    return "?" if value is None else str(value)
