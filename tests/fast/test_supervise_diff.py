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
    assert (found.left, found.right) == ("r-a1", "r-a2")
    assert {one.section for one in found.not_known} == {"versions"}
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
    gone = [one.section for one in found.not_known if one.submission_id == "r-a1"]
    assert gone == ["arguments", "cluster", "versions", "nodes"]
    assert found.differences == ()


def test_versions_that_were_measured(ledger: Ledger) -> None:
    for number, cann in ((1, "9.0.0"), (2, "9.0.0 | 9.0.1")):
        attempt(ledger, number, plan("a=1"), end={"nodes": ["n"], "versions": {"verl": "0.8.0", "cann": cann}})
    found = diff("r/a1", "r/a2", ledger)
    assert list(found.differences) == [Difference("versions", "cann", "9.0.0", "9.0.0 | 9.0.1")]
    assert found.not_known == ()


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
        ["left", "r-a1"],
        ["right", "r-a2"],
        [],
        ["key", "left", "right"],
        ["arguments"],
        ["b", "-", "x", "y"],
    ]
    told = "versions are not compared: those of r-a1, r-a2 are not known"
    assert [line for line in shown.err.splitlines() if told in line]
    document = npurun("diff", "r/a1", "r/a2", "--json", home=tmp_path).document
    assert document["differences"] == [{"section": "arguments", "key": "b", "left": None, "right": "x y"}]
    same = npurun("diff", "r/a1", "r/a1", "--lang", "zh", home=tmp_path)
    assert (same.code, same.out) == (0, "") and "没有差别" in same.err
