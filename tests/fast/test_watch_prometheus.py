"""What Prometheus gets: the ledger's numbers in base units, and nothing for what is not measured."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from submitter.ledger import Ledger, this_process
from submitter.watch.prometheus import ENDED_SHOWN_MS, RUNS_SHOWN, STALE_MS, Exporter
from tests.support.trained import NOW_MS, trained_run


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


def read(ledger: Ledger, now_ms: int = NOW_MS) -> dict[str, dict[tuple[str, ...], float]]:
    """By name, by the labels' values: the run's, then the others' by their names."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(Exporter(ledger).text(now_ms).decode()):
        assert family.documentation
        for one in family.samples:
            labels = sorted(one.labels, key=lambda name: (name != "run", name))
            found.setdefault(one.name, {})[tuple(one.labels[name] for name in labels)] = one.value
    return found


def test_a_run_that_trains(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=200, attempts=3, nodes=2, total_steps=250)
    found = read(ledger)
    newest = ledger.newest_steps(["r"])["r"]
    sample = ledger.samples("r", node="10.0.0.1")[0].sample
    assert found["npurun_runs"] == {("running",): 1}
    assert found["npurun_step"] == {("r",): 200}
    assert found["npurun_total_steps"] == {("r",): 250}
    assert found["npurun_attempt"] == {("r",): 3}
    assert found["npurun_metric"][("r", "reward")] == newest.metrics["critic/rewards/mean"]
    assert found["npurun_phase_seconds"][("r", "generation")] == newest.metrics["timing_s/gen"]
    assert 0 < found["npurun_goodput_ratio"][("r",)] < 1
    assert sum(found["npurun_attempts_ended_total"].values()) == 2
    assert found["npurun_alerts"] == {("r", "NR907", "warning"): 1}
    assert found["npurun_npu_use_ratio"][("r", "10.0.0.1", "3")] == pytest.approx(sample["devices"][3]["use"] / 100)
    assert found["npurun_npu_hbm_bytes"][("r", "10.0.0.1", "0")] == 65536 * 2**20
    assert found["npurun_npu_healthy"][("r", "10.0.0.1", "15")] == 1
    assert found["npurun_node_memory_used_bytes"][("r", "10.0.0.1")] == sample["memory_used_mb"] * 2**20


def test_what_is_not_measured_has_no_sample(ledger: Ledger) -> None:
    trained_run(ledger, "r", devices=None, attempts=1, alerts=0)
    found = read(ledger)
    assert "npurun_npu_use_ratio" not in found and "npurun_alerts" not in found
    assert len(found["npurun_node_memory_bytes"]) == 4
    assert "npurun_supervisor_heartbeat_age_seconds" not in found and found["npurun_supervisor_up"] == {(): 0}


def test_old_samples_and_old_runs_are_not_shown(ledger: Ledger) -> None:
    trained_run(ledger, "r", attempts=1)
    trained_run(ledger, "over", attempts=1, state="succeeded")
    later = read(ledger, NOW_MS + STALE_MS + 1)
    assert "npurun_npu_use_ratio" not in later and ("r",) in later["npurun_step"]
    ended = read(ledger, NOW_MS + ENDED_SHOWN_MS - 1)["npurun_step"]
    assert ("over",) in ended
    assert ("over",) not in read(ledger, NOW_MS + ENDED_SHOWN_MS + 1)["npurun_step"]


def test_the_supervisors_health(ledger: Ledger) -> None:
    holder = this_process(int(time.time() * 1000))
    ledger.take(holder, holder.heartbeat_ms)
    found = read(ledger, holder.heartbeat_ms + 4_000)
    assert found["npurun_supervisor_up"] == {(): 1}
    assert found["npurun_supervisor_heartbeat_age_seconds"] == {(): 4.0}
    assert found["npurun_ledger_bytes"][()] == ledger.path.stat().st_size


def test_names_that_would_break_a_line(ledger: Ledger) -> None:
    hostile = 'r"\\\n{x="1"}'
    trained_run(ledger, hostile, attempts=1, steps=30, samples=1)
    assert read(ledger)["npurun_step"] == {(hostile,): 30}


def test_fifty_live_runs_cost_little(ledger: Ledger) -> None:
    for number in range(50):
        trained_run(ledger, f"r{number}", attempts=1, steps=30, samples=1)
    exporter = Exporter(ledger)
    exporter.text(NOW_MS)
    began = time.process_time()
    text = exporter.text(NOW_MS + 1000)
    took = time.process_time() - began
    began = time.process_time()
    _ = [float(line.rpartition(b" ")[2]) for line in text.splitlines() if not line.startswith(b"#")]
    assert took < 60 * (time.process_time() - began), "a scrape costs a bounded multiple of reading its text"
    assert text.count(b"npurun_npu_use_ratio{") == 50 * 4 * 16
    assert RUNS_SHOWN >= 50
