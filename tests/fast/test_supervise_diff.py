"""What two attempts have differently, by what the ledger keeps of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.packages import gang_package
from submitter.errors import UsageError
from submitter.gang.plan import Plan
from submitter.ledger import Ledger
from submitter.supervise.diff import Difference, diff
from tests.support.cli import npurun

HOSTILE = "a b'\"; $(x)=y"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "npurun")


def plan(*arguments: str, **changes: Any) -> Plan:
    values: dict[str, Any] = {"launcher": "ray", "nodes": 4, "npus_per_node": 16, "labels": {}, "flags": {}}
    return Plan(command=("python3", "-m", "verl.trainer.main_ppo", *arguments), **{**values, **changes})


def attempt(
    ledger: Ledger,
    number: int,
    of: Plan,
    *,
    run: str = "r",
    env: dict[str, str] | None = None,
    changes: tuple[str, ...] = (),
    keep: bool = True,
    **end: Any,
) -> None:
    package, name = gang_package(of), f"{run}-a{number}"
    if keep:
        ledger.keep_package(package.name, package.data)
    env_vars = {"NPURUN_ATTEMPT": name, **(env or {})}
    body = json.dumps({"submission_id": name, "runtime_env": {"env_vars": env_vars, "py_modules": [package.uri]}})
    intent: dict[str, Any] = {"address": "http://x:1", "spec": "s", "job": "j", "total_steps": 10, "now_ms": number}
    ledger.record_intent(run=run, attempt=number, submission_id=name, body=body.encode(), changes=changes, **intent)
    ended: dict[str, Any] = {"state": "FAILED", "reason": None, "end": None, "started_ms": 1, "ended_ms": 2}
    ledger.record_end(name, **{**ended, **end})


def test_arguments_environment_nodes_and_outcome(ledger: Ledger) -> None:
    of = plan("data.x=1", f"+data.y={HOSTILE}", "data.gone=1")
    attempt(ledger, 1, of, env={"A": "1", "B": "2"}, reason="device_lost", end={"nodes": ["10.0.0.1", "10.0.0.2"]})
    attempt(
        ledger,
        2,
        plan("data.x=1", "data.y=2", labels={"pool": "a3"}),
        env={"A": "1", "B": "3", "C": ""},
        changes=("data.x=5",),
        reason="succeeded",
        state="SUCCEEDED",
        end={"nodes": ["10.0.0.2", "10.0.0.3"]},
        last_step=9,
    )
    found = diff("r/a1", "r", ledger)
    assert (found.left, found.right, found.not_known) == ("r-a1", "r-a2", ())
    assert list(found.differences) == [
        Difference("arguments", "data.x", "1", "5"),
        Difference("arguments", "data.y", HOSTILE, "2"),
        Difference("arguments", "data.gone", "1", None),
        Difference("environment", "B", "2", "3"),
        Difference("environment", "C", None, ""),
        Difference("cluster", "labels.pool", None, "a3"),
        Difference("nodes", "10.0.0.1", "✓", None),
        Difference("nodes", "10.0.0.3", None, "✓"),
        Difference("outcome", "state", "failed", "succeeded"),
        Difference("outcome", "reason", "device_lost", "succeeded"),
        Difference("outcome", "last_step", None, "9"),
    ]


def test_attempts_of_two_runs(ledger: Ledger) -> None:
    attempt(ledger, 1, plan("a=1"), run="one")
    attempt(ledger, 1, plan("a=2"), run="two")
    assert list(diff("one", "two/a1", ledger).differences) == [Difference("arguments", "a", "1", "2")]


def test_a_plan_that_is_gone_is_told_and_the_rest_compared(ledger: Ledger) -> None:
    attempt(ledger, 1, plan("a=1"), keep=False, reason="hung")
    attempt(ledger, 2, plan("a=2"), reason="hung")
    found = diff("r/a1", "r/a2", ledger)
    assert found.not_known == ("r-a1",)
    assert not [one for one in found.differences if one.section == "outcome"]


@pytest.mark.parametrize("name", ["r/a3", "r/a0", "r/2", "", "no-such", "r/a1/a2", HOSTILE])
def test_a_name_that_is_none_is_one_line(ledger: Ledger, name: str) -> None:
    attempt(ledger, 1, plan())
    with pytest.raises(UsageError) as refused:
        diff("r", name, ledger)
    assert "\n" not in str(refused.value)


def test_the_command_shows_a_table_or_json(ledger: Ledger, tmp_path: Path) -> None:
    attempt(ledger, 1, plan("a=1"), reason="hung")
    attempt(ledger, 2, plan("a=1", "b=x y"), reason="hung")
    shown = npurun("diff", "r/a1", "r/a2", home=tmp_path)
    assert shown.code == 0, shown.err
    assert [line.split() for line in shown.out.splitlines()] == [
        ["section", "key", "left", "right"],
        ["attempt", "-", "r-a1", "r-a2"],
        ["argument", "b", "-", "x", "y"],
    ]
    document = npurun("diff", "r/a1", "r/a2", "--json", home=tmp_path).document
    assert document["differences"] == [{"section": "arguments", "key": "b", "left": None, "right": "x y"}]
    same = npurun("diff", "r/a1", "r/a1", "--lang", "zh", home=tmp_path)
    assert (same.code, same.out) == (0, "") and "没有差别" in same.err
