"""Views of a run's attempts, nodes and supervisor, from the ledger's rows. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from submitter.gang.secret_like import redacted
from submitter.ledger import Attempt, Decided, Holder, Run, Sample, is_stale
from submitter.metrics.goodput import Goodput, Spent, Trained
from submitter.metrics.times import AttemptTimes
from submitter.supervise.run_state import attempt_state
from submitter.watch.view import AttemptView, DeviceView, NodeView, SupervisorView

HEALTHY = "OK"
USER = "user"


def trained(
    attempts: Sequence[Attempt],
    decided: Sequence[Decided],
    times: Mapping[int, AttemptTimes],
    void_s: Mapping[int, float],
) -> list[Trained]:
    """What goodput is worked out from, of all attempts in their order."""
    resumed_ms = {one.after_attempt: one.decided_ms for one in decided if one.decision.get("why") == "resumed"}
    found = []
    for number, one in enumerate(attempts):
        took = times.get(one.attempt, AttemptTimes())
        before = attempts[number - 1] if number else None
        void = void_s.get(one.attempt, 0.0)
        found.append(
            Trained(
                one.attempt,
                _begin_ms(one) / 1000,
                _seconds(_end_ms(one)),
                _seconds(took.first_ms),
                _seconds(took.last_ms),
                max(0.0, took.steps_s - void),
                void,
                _off_s(before, resumed_ms),
            )
        )
    return found


def attempt_views(
    attempts: Sequence[Attempt],
    decided: Sequence[Decided],
    void: Mapping[int, int],
    goodput: Goodput | None,
    nodes: Sequence[NodeView],
) -> tuple[AttemptView, ...]:
    """`void`: how many steps of each attempt were trained again. `nodes`: those that measure."""
    decisions = {one.after_attempt: one.decision for one in decided}
    spent = {one.attempt: one for one in goodput.attempts} if goodput else {}
    return tuple(
        _attempt_view(
            one,
            decisions.get(one.attempt),
            void.get(one.attempt, 0),
            tuple(node.node for node in nodes if node.attempt == one.attempt),
            spent.get(one.attempt),
        )
        for one in attempts
    )


def node_views(samples: Sequence[Sample]) -> tuple[NodeView, ...]:
    """Of the newest attempt that has measured, in the order of their addresses."""
    newest = max((one.attempt for one in samples), default=0)
    here = {one.node: one for one in samples if one.attempt == newest}
    return tuple(_node_view(here[node]) for node in sorted(here, key=_address))


def supervisor_view(holder: Holder | None, now_ms: int) -> SupervisorView | None:
    if holder is None or is_stale(holder, now_ms):
        return None
    return SupervisorView(holder.host, holder.pid, holder.heartbeat_ms)


def is_training(run: Run, newest: Attempt | None) -> bool:
    return run.state == "active" and newest is not None and newest.state is None


def _attempt_view(
    one: Attempt,
    decision: Mapping[str, Any] | None,
    void_steps: int,
    measuring: tuple[str, ...],
    spent: Spent | None,
) -> AttemptView:
    diagnosis, end = one.diagnosis or {}, one.end or {}
    return AttemptView(
        attempt=one.attempt,
        submission_id=one.submission_id,
        state=attempt_state(one),
        reason=one.reason,
        node=diagnosis.get("node"),
        evidence=tuple({**line, "text": redacted(str(line["text"]))} for line in diagnosis.get("evidence") or ()),
        ended_by=one.ended_by,
        first_step=one.first_step,
        last_step=one.last_step,
        resumed_from=one.resumed_from,
        void_steps=void_steps,
        nodes=tuple(end.get("nodes") or ()) or measuring or None,
        changes=tuple(redacted(change) for change in one.changes),
        decision=decision,
        posted_ms=one.posted_ms,
        started_ms=one.started_ms,
        ended_ms=one.ended_ms,
        spent=spent,
    )


def _node_view(one: Sample) -> NodeView:
    said = one.sample
    devices = None if said.get("devices") is None else _device_views(said["devices"])
    uses = [device.use_percent for device in devices or () if device.use_percent is not None]
    filled = [
        100 * device.hbm_used_mb / device.hbm_total_mb
        for device in devices or ()
        if device.hbm_used_mb is not None and device.hbm_total_mb
    ]
    return NodeView(
        node=one.node,
        host=said.get("host"),
        attempt=one.attempt,
        at_ms=one.at_ms,
        devices=devices,
        why=said.get("why"),
        use_percent=math.fsum(uses) / len(uses) if uses else None,
        hbm_percent=max(filled, default=None),
        unhealthy=tuple(device.npu for device in devices or () if device.health not in (None, HEALTHY)),
        memory_used_mb=said.get("memory_used_mb"),
        memory_total_mb=said.get("memory_total_mb"),
        cpu_percent=said.get("cpu_percent"),
        load=said.get("load"),
    )


def _device_views(said: Sequence[Mapping[str, Any]]) -> tuple[DeviceView, ...]:
    """Of those that have a number: about another one nothing can be said."""
    return tuple(_device_view(device) for device in said if device.get("npu") is not None)


def _device_view(said: Mapping[str, Any]) -> DeviceView:
    return DeviceView(
        npu=said["npu"],
        use_percent=said.get("use"),
        hbm_used_mb=said.get("hbm_used_mb"),
        hbm_total_mb=said.get("hbm_total_mb"),
        power_w=said.get("power_w"),
        temp_c=said.get("temp_c"),
        health=said.get("health"),
    )


def _address(node: str) -> tuple[list[int], str]:
    """10.0.0.9 before 10.0.0.10."""
    parts = node.split(".")
    return ([int(part) for part in parts] if all(part.isdecimal() for part in parts) else [], node)


def _begin_ms(one: Attempt) -> int:
    return one.posted_ms or one.intended_ms


def _end_ms(one: Attempt) -> int | None:
    """None: it has not ended. An end whose time nobody knows counts from when the attempt was last seen."""
    if one.state is None:
        return None
    return one.ended_ms or one.seen_ms or _begin_ms(one)


def _off_s(before: Attempt | None, resumed_ms: Mapping[int, int]) -> float:
    """Since an end that its user wanted, until it was resumed by hand: nobody lost that time."""
    if before is None or before.attempt not in resumed_ms or before.ended_by != USER:
        return 0.0
    return max(0.0, (resumed_ms[before.attempt] - (_end_ms(before) or 0)) / 1000)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
