"""Logs that no signature was made from are diagnosed: the reason, the node at fault, and the line that proves it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from submitter.recovery.diagnose import Diagnosis, Facts, diagnose
from submitter.recovery.logs import sources
from submitter.recovery.reasons import REASONS

FOLDER = Path(__file__).parents[1] / "data" / "diagnosis"
TRUTH: list[dict[str, Any]] = yaml.safe_load((FOLDER / "truth.yaml").read_text(encoding="utf-8"))
LEAST_LOGS = 40
LEAST_BLIND = 20
SECRETS = ("sk-aaaabbbbccccdddd1111",)
"""Values that stand in these logs as a key would."""


def _diagnosed(case: dict[str, Any]) -> Diagnosis:
    return diagnose(sources([str(FOLDER / case["file"])]), facts=Facts(**case.get("facts", {})))


@pytest.mark.parametrize("case", TRUTH, ids=lambda case: Path(case["file"]).stem)
def test_a_log_is_diagnosed_as_what_it_is(case: dict[str, Any]) -> None:
    found = _diagnosed(case)
    assert found.reason == case["reason"], case["why"]
    assert found.retry == REASONS[case["reason"]].retry
    if "node" in case:
        assert found.node == case["node"]
    assert not case.get("evidence") or any(case["evidence"] in line.text for line in found.evidence)


def test_every_log_has_its_truth_and_enough_of_them_were_written_blind() -> None:
    assert {case["file"] for case in TRUTH} == {path.name for path in FOLDER.iterdir()} - {"truth.yaml"}
    assert len(TRUTH) >= LEAST_LOGS
    assert sum(case["blind"] for case in TRUTH) >= LEAST_BLIND


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_secret_of_a_log_comes_out(language: str) -> None:
    said = "".join(json.dumps(_diagnosed(case).as_json(language)) for case in TRUTH)
    assert not [secret for secret in SECRETS if secret in said]


def test_the_cause_is_found_when_it_lies_in_another_file_than_the_driver_log(tmp_path: Path) -> None:
    """The survivors' time-outs are all that the driver's log has; the plog of one process holds the cause."""
    driver, plog = tmp_path / "driver.log", tmp_path / "plog-27271_20260227162019.log"
    driver.write_text((FOLDER / "hccl-timeout-alone.log").read_text(encoding="utf-8"), encoding="utf-8")
    same_day = (FOLDER / "plog-only-out-of-memory.log").read_text(encoding="utf-8").replace("2026-02-27", "2026-09-14")
    plog.write_text(same_day, encoding="utf-8")
    assert diagnose(sources([str(driver)])).reason == "hccl_timeout"
    assert diagnose(sources([str(driver), str(plog)])).reason == "npu_out_of_memory"
