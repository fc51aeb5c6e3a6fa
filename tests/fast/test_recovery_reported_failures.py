"""The case file's failures get their reasons from their lines, and healthy logs get none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from submitter.recovery.diagnose import Facts, diagnose
from submitter.recovery.lines import decode
from submitter.recovery.logs import sources
from submitter.recovery.reasons import REASONS
from submitter.recovery.signatures import signatures

DATA = Path(__file__).parents[1] / "data"
RECORDS: Mapping[str, dict[str, Any]] = {
    row["id"]: row for row in map(json.loads, (DATA / "failures.jsonl").read_text(encoding="utf-8").splitlines())
}
EXPECTED: Mapping[str, dict[str, str]] = yaml.safe_load((DATA / "failures_reasons.yaml").read_text(encoding="utf-8"))
WITH_LINE = {name: one for name, one in EXPECTED.items() if "reason" in one}
RETRIES = {"yes": {"now", "backoff", "exclude_node"}, "after_change": {"after_change"}}
"""Of a reason, by the record's `retryable`."""
FAILED = Facts(status="FAILED", error_type="JOB_ENTRYPOINT_COMMAND_ERROR")
LOG = """\
2026-11-30 11:57:20,001\tINFO worker.py:2028 -- Connecting to existing Ray cluster at address: 10.0.0.1:6379...
(TaskRunner pid=4711, ip=10.0.0.1) ray init kwargs: {{'timeout': 600, 'error_if_killed': 'out of memory? no'}}
\x1b[36m(WorkerDict pid=4720, ip=10.0.0.2)\x1b[0m {line}
Error executing job with overrides: ['trainer.nnodes=4', 'actor_rollout_ref.nccl_timeout=600']
Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/verl/trainer/main_ppo.py", line 93, in run_ppo
    ray.get(runner.run.remote(config))
ray.exceptions.RayTaskError(RuntimeError): ray::TaskRunner.run() (pid=4711, ip=10.0.0.1)
"""


def _line(record: str) -> str:
    return EXPECTED[record].get("line") or str(RECORDS[record]["signature"])


def test_every_reported_failure_has_its_reason_or_why_it_has_none() -> None:
    assert EXPECTED.keys() == RECORDS.keys()
    assert [name for name, one in EXPECTED.items() if ("reason" in one) == ("why" in one)] == []
    assert [name for name in WITH_LINE if not RECORDS[name]["signature"]] == []
    assert {
        name for name, one in WITH_LINE.items() if one["reason"] not in REASONS or one["reason"] == "unknown"
    } == set()


@pytest.mark.parametrize("record", WITH_LINE)
def test_a_reported_failure_is_found_by_its_line(record: str, tmp_path: Path) -> None:
    log = tmp_path / "driver.log"
    log.write_text(LOG.format(line=_line(record)), encoding="utf-8")
    found = diagnose(sources([str(log)]), facts=FAILED)
    assert found.reason == WITH_LINE[record]["reason"]
    assert any(_line(record)[:60].strip() in line.text for line in found.evidence)


@pytest.mark.parametrize("record", WITH_LINE)
def test_its_reason_is_retried_as_the_report_says(record: str) -> None:
    row, reason = RECORDS[record], REASONS[WITH_LINE[record]["reason"]]
    assert (reason.retry in RETRIES[row["retryable"]]) == ("differs" not in WITH_LINE[record])
    assert not (reason.blames_node and row["blame"] in ("config", "user"))


HEALTHY = (
    "healthy-2-nodes",
    "healthy-4-nodes",
    "healthy-resumed-from-step-6",
    "stall-sigstop",  # it went on
    "stop-ray-job-stop",
)


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_in_a_healthy_log_is_taken_for_a_cause(name: str) -> None:
    log = DATA / "verl_logs" / f"{name}.log.gz"
    lines = map(decode, gzip.decompress(log.read_bytes()).split(b"\n"))
    causes = [one for one in signatures() if one.role != "noise"]
    assert [(one.place, line) for line in lines for one in causes if one.find(line) is not None] == []


REASON_OF_LOG = {
    "fail-kill-worker": "actor_died",
    "fail-node-loss": "raylet_lost",
    "fail-reward-exception": "reward_error",
    "fail-too-few-npus": "resources_missing",
    "fail-validate-batch-divisible": "batch_not_divisible",
    "hang-pg-pending": "placement_timeout",
    "healthy-2-nodes": "succeeded",
    "healthy-4-nodes": "succeeded",
    "healthy-resumed-from-step-6": "succeeded",
    "rtenv-env-conflict": "runtime_env_conflict",
    "stall-sigstop": "succeeded",
    "stop-ray-job-stop": "stopped",
}


@pytest.mark.parametrize("name", REASON_OF_LOG)
def test_a_real_log_of_verl_gets_its_reason(name: str) -> None:
    assert diagnose(sources([str(DATA / "verl_logs" / f"{name}.log.gz")])).reason == REASON_OF_LOG[name]
