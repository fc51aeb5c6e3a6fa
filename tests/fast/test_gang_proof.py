"""The proof's table and its judgement."""

from __future__ import annotations

import pytest

from submitter.gang.ended import Ended
from submitter.gang.plan import Plan
from submitter.gang.proof import (
    INDENT,
    NOSET,
    _judge,
    differences,
    flag_table,
    node_table,
    secret_states,
    wanted_flags,
)
from submitter.gang.record import NodeProof
from submitter.gang.say import WIDTH, clean, shorten

FACTS = {"devices": 16, "cpus": 192, "memory_gib": 1511.2, "memory_free_gib": 1400.0, "npu_ids": ["0"]}
FLAGS = {"VLLM_ALLREDUCE_USE_SYMM_MEM": "0", "VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE": "1", NOSET: "1"}
SPACE = WIDTH - INDENT


def proof(number: int = 1, secrets: dict[str, str] | None = None, **changes: str | None) -> NodeProof:
    seen: dict[str, str | None] = {**FLAGS, **changes}
    differs = {name: FLAGS[name] for name in FLAGS if seen[name] != FLAGS[name]}
    ip = f"10.0.0.{number}"
    return NodeProof("run-a1", ip, f"id{number}", f"npu-host-{number}", seen, differs, secrets or {}, FACTS)


def test_four_nodes_have_a_column_each_with_the_value_seen() -> None:
    table = flag_table([proof(1), proof(2), proof(3, VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE="0"), proof(4, **{NOSET: None})])
    cells = {line.split()[0]: line.split()[1:] for line in table[1:]}
    assert table[0].split()[-4:] == ["1", "2", "3", "4"]
    assert cells["VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE"] == ["1", "1", "0", "1"]
    assert cells[NOSET] == ["1", "1", "1", "-"]
    assert max(map(len, table)) <= SPACE


def test_many_nodes_that_saw_the_same_share_a_column() -> None:
    proofs = [proof(number) for number in range(1, 65)]
    proofs[39] = proof(40, VLLM_ALLREDUCE_USE_SYMM_MEM="1")
    table = flag_table(proofs)
    assert table[0].split()[-2:] == ["1-39,41-64", "40"]
    assert table[1].split() == ["VLLM_ALLREDUCE_USE_SYMM_MEM", "0", "1"]
    assert max(map(len, table)) <= SPACE


def test_long_names_and_values_stay_within_the_width_and_hostile_ones_on_their_line() -> None:
    value = "/a/b;$HOME 'x'\n\x1b[31m" * 9
    seen = {"N" * 100: value, "EMPTY": ""}
    one = NodeProof("a", "10.0.0.1", "id", "h\n", seen, {}, {"WANDB_API_KEY": "missing"}, FACTS)
    table = flag_table([one])
    assert max(map(len, table)) <= SPACE
    assert all(line.isprintable() for line in [*table, *node_table([one])])
    assert table[2].split() == ["EMPTY", '""']
    assert table[3].split() == ["WANDB_API_KEY", "(secret)", "missing"]


def test_the_node_table_fits_and_has_what_each_node_reports() -> None:
    lines = node_table([proof(number) for number in (1, 2)])
    assert lines[1].split() == ["1", "10.0.0.1", "npu-host-1", "0", "16", "192", "1400.0/1511.2"]
    assert max(map(len, lines)) <= SPACE
    unknown = NodeProof("a", "10.0.0.1", "id", "h", {}, facts={**FACTS, "memory_gib": None, "memory_free_gib": None})
    assert node_table([unknown])[1].endswith("?/?")


def test_a_flag_that_did_not_arrive_ends_the_attempt_with_node_and_flag() -> None:
    with pytest.raises(Ended) as ended:
        _judge([proof(1), proof(2, VLLM_ALLREDUCE_USE_SYMM_MEM="1"), proof(3, **{NOSET: None})], [(), (), ()])
    assert (ended.value.reason, ended.value.node) == ("flags_missing", "10.0.0.2")
    assert ended.value.evidence == (
        "10.0.0.2: VLLM_ALLREDUCE_USE_SYMM_MEM is '1', '0' wanted",
        f"10.0.0.3: {NOSET} is absent, '1' wanted",
    )


def test_a_missing_secret_ends_the_attempt_and_no_value_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Ended) as ended:
        _judge([proof(1), proof(2)], [(), ("HF_TOKEN (file /etc/keys/hf: does not exist)",)])
    assert (ended.value.reason, ended.value.node) == ("secret_missing", "10.0.0.2")
    assert "HF_TOKEN (file /etc/keys/hf: does not exist)" in capsys.readouterr().out


def test_all_as_wanted_ends_nothing() -> None:
    assert differences(proof()) == []
    _judge([proof(1), proof(2)], [(), ()])


def test_what_is_wanted_is_the_jobs_flags_by_name_and_the_one_that_npurun_adds() -> None:
    plan = Plan("ray", ("true",), 1, 1, {}, {"B": "2", "A": "1"})
    assert list(wanted_flags(plan).items()) == [("A", "1"), ("B", "2"), (NOSET, "1")]


def test_states_of_secrets_by_the_lines_about_missing_ones() -> None:
    missing = ["HF_TOKEN (variable X: is not set)"]
    assert secret_states({"WANDB_API_KEY": {}, "HF_TOKEN": {}}, missing) == {
        "HF_TOKEN": "missing",
        "WANDB_API_KEY": "resolved",
    }


def test_shortened_text_keeps_both_ends() -> None:
    assert shorten("abcdefghij", 7) == "abc..ij"
    assert shorten("abc", 3) == "abc"
    assert clean("a\nb\x1b") == "a\\nb\\x1b"
