"""What the sections of a report say, from the view of its run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from submitter.gang.secret_like import shown
from submitter.metrics.goodput import Goodput, Spent
from submitter.watch.report.words import Words
from submitter.watch.view import AttemptView, DeviceView, NodeView, RunView
from submitter.watch.words import alert_text

PARTS = ("useful_s", "between_s", "start_s", "again_s", "after_s", "waiting_s")
"""Of an attempt's time, and after them `idle_s` of the run."""
EVIDENCE_SHOWN = 5
"""Lines of an attempt."""
SECTIONS = ("arguments", "environment", "versions", "cluster")
"""Of the facts of an attempt, as `npurun diff` names them; nodes and outcome have places of their own here."""
FAILED = frozenset({"failed", "stopped", "unreachable"})


@dataclass(frozen=True)
class Tile:
    id: str
    """Of its name, a text."""
    value: str | None
    beside: str | None = None


@dataclass(frozen=True)
class Part:
    id: str
    seconds: float
    share: float


@dataclass(frozen=True)
class AlertRow:
    id: str
    severity: str
    node: str | None
    message: str
    fix: str
    steps: str
    since: str | None
    until: str | None
    """None: it holds."""


def tiles(view: RunView, words: Words) -> list[Tile]:
    good, eta = view.goodput, view.eta
    left = words.duration(eta.mid_s) if eta else None
    spread = f"{words.duration(eta.low_s)} – {words.duration(eta.high_s)}" if eta else None
    found = [
        Tile("web.reward", words.number(view.reward), view.reward_name),
        Tile("web.goodput", words.percent(good.share) if good else None),
        Tile("web.step_time", words.duration(view.step_s)),
        Tile("web.per_hour", words.number(view.steps_per_hour)),
        Tile("web.tokens", words.number(view.tokens_per_npu_s)),
        Tile("report.wall", words.duration(good.wall_s) if good else None, words.time(view.created_ms)),
        Tile("web.attempts", str(len(view.attempts))),
    ]
    return [*found, Tile("web.eta", left, spread)] if eta else found


def spent(good: Goodput | None) -> list[Part]:
    """Where the run's wall time went; parts that took none are left out."""
    if good is None or good.wall_s <= 0:
        return []
    seconds = {name: sum(getattr(one, name) for one in good.attempts) for name in PARTS} | {"idle_s": good.idle_s}
    return [Part(name, took, took / good.wall_s) for name, took in seconds.items() if took > 0]


def attempts(view: RunView, words: Words, facts: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`facts`: of each, its differences to the one before. `before`: the share of the wall time that had passed."""
    wall_s = view.goodput.wall_s if view.goodput else 0.0
    shares = [_shares(one.spent, wall_s) for one in view.attempts]
    before = accumulate((sum(part.share for part in parts) for parts in shares), initial=0.0)
    return [
        {**_attempt(one, words, facts.get(one.attempt, {})), "spent": parts, "before": begin}
        for one, parts, begin in zip(view.attempts, shares, before, strict=False)
    ]


def nodes(view: RunView, words: Words) -> list[dict[str, Any]]:
    return [_node(one, words) for one in view.nodes]


def alerts(view: RunView, words: Words) -> list[AlertRow]:
    """Those that hold come first."""
    rows = []
    for one in sorted(view.alerts, key=lambda alert: alert.until_ms is not None):
        told = alert_text(one, words.language)
        steps = _steps(one.first_step, one.last_step) or ""
        since, until = words.time(one.since_ms), words.time(one.until_ms)
        rows.append(AlertRow(one.id, one.severity, one.node, told.message, told.fix, steps, since, until))
    return rows


def _attempt(one: AttemptView, words: Words, facts: Mapping[str, Any]) -> dict[str, Any]:
    lasted_s = one.spent.wall_s - one.spent.waiting_s if one.spent else None
    return {
        "number": one.attempt,
        "state": one.state,
        "reason": one.reason,
        "means": words.known(f"reason.{one.reason}") if one.reason and one.state in FAILED else None,
        "steps": _steps(one.first_step, one.last_step),
        "resumed_from": one.resumed_from,
        "void_steps": one.void_steps,
        "begun": words.time(one.posted_ms),
        "ended": words.time(one.ended_ms),
        "lasted": words.duration(lasted_s),
        "nodes": one.nodes or (),
        "blamed": one.node,
        "evidence": [_proof(line) for line in one.evidence[:EVIDENCE_SHOWN]],
        "decision": _decision(one.decision, words),
        "differences": [_difference(found) for found in facts.get("differences", ()) if found["section"] in SECTIONS],
    }


def _steps(first: int | None, last: int | None) -> str | None:
    if last is None:
        return None
    return str(last) if first is None or first == last else f"{first} – {last}"


def _proof(line: Mapping[str, Any]) -> dict[str, str]:
    return {"where": f"{line.get('file', '')}:{line.get('line', '')}", "text": str(line.get("text", ""))}


def _decision(decision: Mapping[str, Any] | None, words: Words) -> str | None:
    if decision is None:
        return None
    why = str(decision.get("why"))
    return words.known(f"decide.{why}", **decision.get("values", {})) or why


def _difference(found: Mapping[str, Any]) -> dict[str, Any]:
    values = {side: _masked(found["key"], found[side]) for side in ("left", "right")}
    return {"key": found["key"], **values}


def _masked(key: str, value: str | None) -> str | None:
    return None if value is None else shown(key, value)


def _shares(spent: Spent | None, wall_s: float) -> list[Part]:
    """Of the run's wall time, in the order of the fields: about that in which they passed."""
    if spent is None or wall_s <= 0:
        return []
    seconds = {name: took for name, took in asdict(spent).items() if name in PARTS and took > 0}
    return [Part(name, took, took / wall_s) for name, took in seconds.items()]


def _node(one: NodeView, words: Words) -> dict[str, Any]:
    devices = one.devices or ()
    return {
        "node": one.node,
        "host": one.host,
        "attempt": one.attempt,
        "at": words.time(one.at_ms),
        "devices": len(devices) if one.devices is not None else None,
        "why": one.why,
        "use": None if one.use_percent is None else f"{one.use_percent:.0f} %",
        "hbm": None if one.hbm_percent is None else f"{one.hbm_percent:.0f} %",
        "power": _most(devices, "power_w", "W"),
        "temperature": _most(devices, "temp_c", "°C"),
        "unhealthy": one.unhealthy,
        "memory": _of(words.gib(one.memory_used_mb), words.gib(one.memory_total_mb), "GiB"),
        "cpu": None if one.cpu_percent is None else f"{one.cpu_percent:.0f} %",
        "load": words.number(one.load),
    }


def _most(devices: Sequence[DeviceView], name: str, unit: str) -> str | None:
    found = max((value for one in devices if (value := getattr(one, name)) is not None), default=None)
    return None if found is None else f"{found:.0f} {unit}"


def _of(used: str | None, total: str | None, unit: str) -> str | None:
    if used is None:
        return None
    return f"{used} {unit}" if total is None else f"{used} / {total} {unit}"
