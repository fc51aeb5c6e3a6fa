"""The ledger's runs for Prometheus, in base units. What is not measured has no sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from submitter.ledger import Attempt, Ledger, StoredAlert
from submitter.metrics.names import CURVES, first_present
from submitter.metrics.phases import phases
from submitter.metrics.recent import Row
from submitter.watch.live import LiveRuns
from submitter.watch.parts import HEALTHY, node_views, supervisor_view
from submitter.watch.view import DeviceView, NodeView, RunRow

if TYPE_CHECKING:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

ENDED_SHOWN_MS = 24 * 3_600_000
"""A run that ended longer ago is not shown: Prometheus has it already."""
RUNS_SHOWN = 200
"""The newest; with 4 nodes of 16 NPUs each, 64,000 series."""
STALE_MS = 60_000
"""A sample of a node that is older is no measurement of now."""
MB = 1 << 20

Labels = tuple[str, ...]
Values = Iterator[tuple[Labels, float]]


@dataclass(frozen=True)
class _Run:
    """What is shown of one run."""

    row: RunRow
    metrics: Mapping[str, float]
    """Of its newest step; empty when it has none."""
    attempts: tuple[Attempt, ...]
    alerts: tuple[StoredAlert, ...]
    nodes: tuple[NodeView, ...]


@dataclass(frozen=True)
class _Family:
    name: str
    about: str
    labels: Labels
    values: Callable[[_Run], Values]
    is_counter: bool = False


class Exporter:
    """Keeps what it has read of the runs, so that each look costs what is new. Threads may share it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._runs = LiveRuns(ledger)

    def text(self, now_ms: int) -> bytes:
        """The exposition format 0.0.4."""
        from prometheus_client import generate_latest

        return generate_latest(_Families(self._collect(now_ms)))

    def _collect(self, now_ms: int) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        rows = self._runs.rows(now_ms)
        for name, about, labels, values in self._totals(rows, now_ms):
            yield _filled(GaugeMetricFamily(name, about, labels=labels), values)
        shown = [self._run(row, now_ms) for row in rows if _is_shown(row, now_ms)][:RUNS_SHOWN]
        for one in FAMILIES:
            kind: type[CounterMetricFamily | GaugeMetricFamily]
            kind = CounterMetricFamily if one.is_counter else GaugeMetricFamily
            yield _filled(kind(one.name, one.about, labels=("run", *one.labels)), _values(shown, one))

    def _totals(
        self, rows: Iterable[RunRow], now_ms: int
    ) -> Iterator[tuple[str, str, Labels, Iterable[tuple[Labels, float]]]]:
        states = Counter(row.state for row in rows)
        yield "npurun_runs", "Runs of the ledger, by state", ("state",), [((name,), n) for name, n in states.items()]
        holder = self._ledger.holder()
        up = supervisor_view(holder, now_ms) is not None
        yield "npurun_supervisor_up", "1: a supervisor cares for the runs", (), [((), float(up))]
        age_s = [((), max(0.0, (now_ms - holder.heartbeat_ms) / 1000))] if holder else []
        yield "npurun_supervisor_heartbeat_age_seconds", "Since the supervisor's last sign of life", (), age_s
        size = [((), float(self._ledger.path.stat().st_size))]
        yield "npurun_ledger_bytes", "Size of the ledger's file, without what is not merged into it yet", (), size

    def _run(self, row: RunRow, now_ms: int) -> _Run:
        newest = self._ledger.newest_steps([row.run]).get(row.run)
        fresh = [one for one in self._ledger.samples(row.run) if now_ms - one.at_ms <= STALE_MS]
        return _Run(
            row,
            newest.metrics if newest else {},
            tuple(self._ledger.attempts(row.run)),
            tuple(self._ledger.alerts(row.run, open_only=True)),
            node_views(fresh),
        )


class _Families:
    """As prometheus_client takes them from a registry."""

    def __init__(self, families: Iterator[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return self._families


def _filled(
    family: CounterMetricFamily | GaugeMetricFamily, values: Iterable[tuple[Labels, float]]
) -> CounterMetricFamily | GaugeMetricFamily:
    for label, value in values:
        family.add_metric(label, value)
    return family


def _values(runs: Sequence[_Run], family: _Family) -> Values:
    return (((run.row.run, *label), value) for run in runs for label, value in family.values(run))


def _is_shown(row: RunRow, now_ms: int) -> bool:
    return row.ended_ms is None or now_ms - row.ended_ms <= ENDED_SHOWN_MS


def _of_row(name: str) -> Callable[[_Run], Values]:
    def values(run: _Run) -> Values:
        value = getattr(run.row, name)
        if value is not None:
            yield (), value

    return values


def _curves(run: _Run) -> Values:
    for key, names in CURVES.items():
        name = first_present(run.metrics, names)
        if name is not None:
            yield (key,), run.metrics[name]


def _phases(run: _Run) -> Values:
    row = Row(run.row.step or 0, run.row.attempts, 0, run.metrics)
    for phase in phases([row]):
        yield (phase.id,), phase.seconds


def _alerts(run: _Run) -> Values:
    yield from Counter((one.id, one.severity) for one in run.alerts).items()


def _ended(run: _Run) -> Values:
    for reason, count in Counter(one.reason or "unknown" for one in run.attempts if one.state is not None).items():
        yield (reason,), count


def _of_node(name: str) -> Callable[[_Run], Values]:
    def values(run: _Run) -> Values:
        for node in run.nodes:
            if (value := getattr(node, name)) is not None:
                yield (node.node,), value * MB

    return values


def _of_device(value_of: Callable[[DeviceView], float | None]) -> Callable[[_Run], Values]:
    def values(run: _Run) -> Values:
        for node in run.nodes:
            for device in node.devices or ():
                value = value_of(device)
                if value is not None and math.isfinite(value):
                    yield (node.node, str(device.npu)), value

    return values


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _healthy(device: DeviceView) -> float | None:
    return None if device.health is None else float(device.health == HEALTHY)


_NPU = ("node", "npu")
FAMILIES = (
    _Family("npurun_step", "The last step that counts", (), _of_row("step")),
    _Family("npurun_total_steps", "Steps that the run will make", (), _of_row("total_steps")),
    _Family("npurun_steps_per_hour", "Pace, with everything between two steps", (), _of_row("steps_per_hour")),
    _Family("npurun_goodput_ratio", "Time in steps that count, of all time since the start", (), _of_row("goodput")),
    _Family("npurun_attempt", "Number of the newest attempt", (), _of_row("attempts")),
    _Family("npurun_metric", "A key metric of the newest step", ("metric",), _curves),
    _Family("npurun_phase_seconds", "What a part of the newest step took", ("phase",), _phases),
    _Family("npurun_alerts", "Alerts that are open", ("id", "severity"), _alerts),
    _Family("npurun_attempts_ended", "Attempts that have ended, by reason", ("reason",), _ended, is_counter=True),
    _Family("npurun_node_memory_used_bytes", "Host memory in use", ("node",), _of_node("memory_used_mb")),
    _Family(
        "npurun_node_memory_bytes", "Host memory, or the container's limit", ("node",), _of_node("memory_total_mb")
    ),
    _Family("npurun_npu_use_ratio", "Use of the AI cores", _NPU, _of_device(lambda one: _times(one.use_percent, 0.01))),
    _Family("npurun_npu_hbm_used_bytes", "HBM in use", _NPU, _of_device(lambda one: _times(one.hbm_used_mb, MB))),
    _Family("npurun_npu_hbm_bytes", "HBM", _NPU, _of_device(lambda one: _times(one.hbm_total_mb, MB))),
    _Family(
        "npurun_npu_power_watts",
        "Power of the card; its first chip tells it",
        _NPU,
        _of_device(lambda one: one.power_w),
    ),
    _Family("npurun_npu_temperature_celsius", "Temperature", _NPU, _of_device(lambda one: one.temp_c)),
    _Family("npurun_npu_healthy", "1: npu-smi says OK", _NPU, _of_device(_healthy)),
)
