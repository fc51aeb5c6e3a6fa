"""One id, one rule, its texts; errors first."""

import pytest

from submitter.checks.registry import RULES
from submitter.errors import UsageError
from submitter.texts import TABLE
from tests.support.builders import job
from tests.support.checks import findings_of


def test_every_rule_has_one_id_texts_and_a_source() -> None:
    names = [rule.id for rule in RULES]
    assert len(names) == len(set(names))
    for rule in RULES:
        assert {rule.id, f"{rule.id}.fix"} <= set(TABLE)
        assert rule.source


def test_errors_come_first_then_the_order_of_the_file() -> None:
    flags = {"GLOO_SOCKET_IFNAME": "eth0", "RANK": "0", "HCCL_IF_IP": "10.0.0.1"}
    assert [(f.severity, f.place.line) for f in findings_of(job(flags=flags))] == [
        ("error", 2),
        ("error", 3),
        ("warning", 1),
    ]


def test_a_finding_as_json() -> None:
    (finding,) = (one.as_json() for one in findings_of(job(flags={"RANK": "0"}, stack="cann-9.0.0")))
    assert finding["where"] == {"file": "job.yaml", "line": 1, "key": "env.RANK", "node": None}
    assert set(finding) == {"id", "severity", "where", "value", "limit", "message", "fix"}


def test_an_unknown_stack_is_wrong_usage() -> None:
    with pytest.raises(UsageError):
        findings_of(job(stack="cann-0"))
