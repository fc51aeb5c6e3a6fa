"""`npurun explain`: every check, by its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from submitter.checks.about import title
from submitter.checks.registry import RULES
from tests.support.cli import english, npurun


def test_without_a_name_every_check_is_listed(tmp_path: Path) -> None:
    result = npurun("explain", home=tmp_path)
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[1:]] == [rule.id for rule in RULES]
    listed = npurun("explain", "--json", home=tmp_path).document
    assert [one["id"] for one in listed] == [rule.id for rule in RULES]


@pytest.mark.parametrize("name", ["NR421", "nr421"])
def test_a_check_by_its_id(name: str, tmp_path: Path) -> None:
    out = npurun("explain", name, home=tmp_path).out
    assert out.startswith("id ") and "NR421" in out and "HCCL_IF_IP" in out and "Source" not in out
    document = npurun("explain", name, "--json", home=tmp_path).document
    assert document["id"] == "NR421" and document["severities"] == ["error", "warning"] and document["forcible"]


def test_every_check_explains_itself_in_both_languages(tmp_path: Path) -> None:
    for rule in RULES:
        for language in ("en", "zh"):
            result = npurun("explain", rule.id, "--lang", language, home=tmp_path)
            assert result.code == 0 and title(rule.id, language) in result.out and rule.source in result.out


def test_the_list_is_chinese_in_chinese(tmp_path: Path) -> None:
    assert not english(npurun("explain", "--lang", "zh", home=tmp_path).out)


@pytest.mark.parametrize("name", ["NR9999", "nosuch", "a\nb", ""])
def test_an_unknown_name_is_usage(name: str, tmp_path: Path) -> None:
    result = npurun("explain", name, home=tmp_path)
    assert (result.code, result.out) == (2, "") and len(result.err.splitlines()) == 1
