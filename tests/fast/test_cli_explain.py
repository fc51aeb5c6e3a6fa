"""`npurun explain`: every check by its id, every flag by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime_env.flags import flags
from submitter.checks.about import NODE_CHECKS, title
from submitter.checks.registry import RULES
from submitter.gang.probes.catalogue import JUDGES
from tests.fast.test_cli_completion import complete
from tests.support.cli import english, npurun

IDS = sorted(rule.id for rule in (*RULES, *NODE_CHECKS))
DEAD = "VLLM_ASCEND_ENABLE_PREFETCH_MLP"
"""Read by vllm-ascend 0.18 of cann-9.0.0 or before, not by 0.23 of cann-9.1.0."""


def test_without_a_name_every_check_is_listed(tmp_path: Path) -> None:
    result = npurun("explain", home=tmp_path)
    assert result.code == 0
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(" ")] == IDS
    headings = [place for place, line in enumerate(lines) if not line.startswith(" ")]
    assert [lines[place] for place in headings[:2]] == ["Composition", "Batch arithmetic"]
    assert lines[headings[1] + 1].split()[0] == "NR201"
    listed = npurun("explain", "--json", home=tmp_path).document
    assert [one["id"] for one in listed] == IDS


@pytest.mark.parametrize("name", ["NR421", "nr421"])
def test_a_check_by_its_id(name: str, tmp_path: Path) -> None:
    out = npurun("explain", name, home=tmp_path).out
    assert out.startswith("id ") and "NR421" in out and "HCCL_IF_IP" in out and "Source" not in out
    document = npurun("explain", name, "--json", home=tmp_path).document
    assert document["id"] == "NR421" and document["severities"] == ["error", "warning"] and document["forcible"]


def test_every_check_explains_itself_in_both_languages(tmp_path: Path) -> None:
    for rule in (*RULES, *NODE_CHECKS):
        for language in ("en", "zh"):
            result = npurun("explain", rule.id, "--lang", language, home=tmp_path)
            assert result.code == 0 and title(rule.id, language) in result.out and rule.source in result.out


def test_what_nodes_are_judged_by_is_among_them(tmp_path: Path) -> None:
    assert {judge.id for judge in JUDGES} | {"NR571"} == {one.id for one in NODE_CHECKS}
    out = npurun("explain", "NR503", home=tmp_path).out
    assert "as found" in out and "cluster.on_unfit" in out and "npu-smi's Health" in out
    document = npurun("explain", "NR503", "--json", home=tmp_path).document
    assert document["severities"] == ["error", "warning", "hint"] and not document["forcible"]


def test_the_list_is_chinese_in_chinese(tmp_path: Path) -> None:
    assert not english(npurun("explain", "--lang", "zh", home=tmp_path).out)


def test_a_flag_says_who_reads_it_and_what_replaces_it(tmp_path: Path) -> None:
    for name in (DEAD, DEAD.lower()):
        out = npurun("explain", name, home=tmp_path).out
        assert DEAD in out and "vllm_ascend" in out and "weight_prefetch_config" in out
    document = npurun("explain", DEAD, "--stack", "cann-9.1.0", "--json", home=tmp_path).document
    assert (document["flag"], document["stack"], document["state"]) == (DEAD, "cann-9.1.0", "not read")
    assert "cann-9.1.0: not read" in npurun("explain", DEAD, "--stack", "cann-9.1.0", home=tmp_path).out
    replaced = npurun("explain", DEAD, "--stack", "cann-9.1.0,vllm_ascend=0.13.0", "--json", home=tmp_path).document
    assert replaced["state"] == "read"


def test_all_flags_of_a_stack(tmp_path: Path) -> None:
    every = npurun("explain", "--flags", "--json", home=tmp_path).document
    assert [one["flag"] for one in every] == sorted(flags())
    rows = npurun("explain", "--flags", "--stack", "cann-9.1.0", home=tmp_path).out.splitlines()
    assert len(rows) == len(every) + 1
    (row,) = (line for line in rows if line.startswith(f"{DEAD} "))
    assert "not read" in row and "weight_prefetch_config" in row
    assert not english("\n".join(npurun("explain", "--flags", "--lang", "zh", home=tmp_path).out.splitlines()[:1]))


@pytest.mark.parametrize(
    "words", [[DEAD, "--flags"], ["NR421", "--stack", "cann-9.1.0"], ["--stack", "cann-9.1.0"], [DEAD, "--stack", "x"]]
)
def test_options_that_would_say_nothing_are_usage(words: list[str], tmp_path: Path) -> None:
    result = npurun("explain", *words, home=tmp_path)
    assert (result.code, result.out) == (2, "") and len(result.err.splitlines()) == 1


def test_the_nearest_name_is_told(tmp_path: Path) -> None:
    assert "nearest is HCCL_CONNECT_TIMEOUT" in npurun("explain", "HCCL_CONECT_TIMEOUT", home=tmp_path).err
    assert "nearest is NR431" in npurun("explain", "NRR431", home=tmp_path).err


def test_names_complete(tmp_path: Path) -> None:
    assert complete("npurun explain NR43", tmp_path) == ["NR431", "NR432"]
    assert "HCCL_CONNECT_TIMEOUT" in complete("npurun explain hccl_conn", tmp_path)
    assert complete("npurun check x --force NR421,nr43", tmp_path) == ["NR421,NR432"]  # a secret is never forced
    assert complete("npurun check x --stack cann-9.1", tmp_path) == ["cann-9.1.0"]


@pytest.mark.parametrize("name", ["NR9999", "nosuch", "a\nb", ""])
def test_an_unknown_name_is_usage(name: str, tmp_path: Path) -> None:
    result = npurun("explain", name, home=tmp_path)
    assert (result.code, result.out) == (2, "") and len(result.err.splitlines()) == 1


@pytest.mark.parametrize("rule", ["NR101", "NR108", "NR453"])
def test_a_remedy_of_several_is_shown_with_all_of_them(tmp_path: Path, rule: str) -> None:
    fix = npurun("explain", rule, "--json", home=tmp_path).document["fix"]
    assert " / " in fix and not {"<hint>", "<way>"} & set(fix.split())
