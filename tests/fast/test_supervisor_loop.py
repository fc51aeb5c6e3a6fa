"""The supervisor's loop: what is on the cluster and in the ledger after an end, a loss, an outage, a user's wish."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.care_bench import Bench, resumed_line, step_line


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home")
    yield bench
    bench.ledger.close()


def test_a_run_that_succeeds(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.job().write(step_line(1), step_line(2))
    bench.until(lambda: bench.ledger.attempts("run")[0].last_step == 2, within_s=20)
    bench.job().end("succeeded", code=0)
    bench.until(bench.over)
    assert (bench.run().state, bench.run().reason) == ("succeeded", "succeeded")
    assert bench.cluster.posted == ["run-a1"]
    assert [message.event for message in bench.messages] == ["finished"]
    assert bench.supervisor.idle


def test_a_lost_node_is_left_out_by_the_next_attempt_which_goes_on(bench: Bench) -> None:
    bench.submit()
    bench.job().write(step_line(1), step_line(2))
    bench.until(lambda: bench.ledger.attempts("run")[0].last_step == 2)
    bench.job().end("node_lost", node="10.0.0.2")
    bench.until(lambda: len(bench.cluster.posted) == 2)
    env = bench.job(2).body["runtime_env"]["env_vars"]
    assert (env["NPURUN_QUARANTINE"], env["NPURUN_TRAINED"], env["NPURUN_ATTEMPT"]) == ("10.0.0.2", "2", "run-a2")
    bench.job(2).write(resumed_line("run-a2", 2), step_line(3))
    bench.until(lambda: bench.ledger.attempts("run")[1].last_step == 3)
    bench.job(2).end("succeeded", code=0)
    bench.until(bench.over)
    first, second = bench.ledger.attempts("run")
    assert (first.reason, first.last_step, second.reason, second.resumed_from) == ("node_lost", 2, "succeeded", 2)
    assert [one.node for one in bench.ledger.quarantined(bench.now_ms())] == ["10.0.0.2"]
    assert [message.event for message in bench.messages] == ["recovered", "finished"]
    assert bench.cluster.most_live == {"run": 1}
