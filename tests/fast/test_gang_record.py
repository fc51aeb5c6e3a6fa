"""End records and proof lines: what the driver writes is what the client reads."""

from __future__ import annotations

import dataclasses
import json
import string

from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.record import (
    END_PREFIX,
    EXIT_OF_REASON,
    PROOF_PREFIX,
    RESUME_PREFIX,
    End,
    NodeProof,
    Resume,
    Skipped,
    parse_end,
    parse_proof,
    parse_resume,
    resume_line,
)
from submitter.texts import TABLE

GOOD = {"reason": "stopped", "exit": 6, "nodes": []}
HOSTILE = "a 'b' \"c\" ; $HOME \\ \n[npurun] end {} \x1b[31m é 节点 \u2028"


@given(
    reason=st.sampled_from(sorted(EXIT_OF_REASON)),
    code=st.none() | st.integers(-64, 255),
    node=st.none() | st.text(),
    evidence=st.lists(st.text()),
)
def test_every_end_record_is_one_line_and_comes_back(
    reason: str, code: int | None, node: str | None, evidence: list[str]
) -> None:
    end = End("run-a1", "training", reason, code, ("10.0.0.1",), node, tuple(evidence), ("10.0.0.1",))
    line = end.line()
    assert len(line.splitlines()) == 1
    assert set(line) <= set(string.printable)
    assert parse_end(line, "run-a1") == {
        "attempt": "run-a1",
        "phase": "training",
        "reason": reason,
        "code": code,
        "exit": EXIT_OF_REASON[reason],
        "nodes": ["10.0.0.1"],
        "node": node,
        "evidence": evidence,
        "quarantine": ["10.0.0.1"],
        "proposals": [],
    }


@given(st.text())
def test_no_other_line_is_an_end_record(line: str) -> None:
    assert parse_end(line, "run-a1") is None


def test_what_is_no_end_record_of_this_attempt_is_none() -> None:
    good = End("run-a1", "start", "stopped").line()
    for line in (f" {good}", f"step:1 {good}", good[:-1], END_PREFIX, f"{END_PREFIX}[]", f"{END_PREFIX}null"):
        assert parse_end(line, "run-a1") is None
    for broken in (
        {},
        {"reason": "stopped", "exit": [], "nodes": []},
        {"reason": 1, "exit": 0, "nodes": []},
        {**GOOD, "nodes": [1]},
    ):
        assert parse_end(END_PREFIX + json.dumps({"attempt": "run-a1", **broken}), "run-a1") is None
    assert parse_end(END_PREFIX + "[" * 200_000, "run-a1") is None
    assert parse_proof(f'{PROOF_PREFIX}{{"attempt": "run-a1"}}', "run-a1") is None
    assert parse_end(good, "run-a2") is None
    assert parse_end(f"{good}\n", "run-a1") is not None


def test_the_exit_codes_are_those_of_the_command() -> None:
    ends = {reason: End("a", "start", reason).exit for reason in EXIT_OF_REASON}
    assert (ends["succeeded"], ends["not_placed"], ends["stopped"], ends["trainer_failed"]) == (0, 5, 6, 1)


def test_every_reason_has_a_text() -> None:
    assert {f"gang.reason.{reason}" for reason in EXIT_OF_REASON} == {key for key in TABLE if key.startswith("gang.r")}


def test_a_proof_with_hostile_values_comes_back() -> None:
    proof = NodeProof("run-a1", "10.0.0.1", "ab", HOSTILE, {"F": HOSTILE, "G": None}, {"G": "1"}, {"KEY": "missing"})
    line = proof.line()
    assert len(line.splitlines()) == 1
    parsed = parse_proof(line, "run-a1")
    assert parsed is not None
    assert parsed["flags"] == {"F": HOSTILE, "G": None}
    assert parsed["differs"] == {"G": "1"}
    assert json.loads(line.split(" ", 2)[2])["secrets"] == {"KEY": "missing"}
    assert parse_end(line, "run-a1") is None


@given(
    step=st.none() | st.integers(0, 10**9),
    path=st.none() | st.text(),
    skipped=st.lists(st.builds(Skipped, st.integers(0, 10**9), st.text(), st.none() | st.text(), st.text())),
)
def test_what_is_resumed_comes_back(step: int | None, path: str | None, skipped: list[Skipped]) -> None:
    line = resume_line("run-a2", Resume(step, path, "older", tuple(skipped)))
    assert len(line.splitlines()) == 1
    told = [dataclasses.asdict(one) for one in skipped]
    expected = {"attempt": "run-a2", "step": step, "path": path, "why": "older", "skipped": told}
    assert parse_resume(line, "run-a2") == expected
    assert parse_resume(line, "run-a1") is None


def test_a_step_that_is_no_number_is_no_resume_record() -> None:
    for step in ("true", '"3"', "1.5", "[]"):
        line = f'{RESUME_PREFIX}{{"attempt": "run-a2", "why": "none", "skipped": [], "step": {step}}}'
        assert parse_resume(line, "run-a2") is None
