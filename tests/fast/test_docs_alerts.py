"""docs/alerts.md is what the table of rules says, and `npurun explain` says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from submitter.checks.about import title
from submitter.checks.registry import RULES as CHECKS
from submitter.metrics.alerts import RULES
from submitter.recovery.reasons import REASONS
from tests.fast.test_cli_completion import complete
from tests.make_alerts_doc import FILES, document
from tests.support.cli import english, npurun


@pytest.mark.parametrize("language", FILES)
def test_the_page_is_the_generated_one(language: str) -> None:
    assert FILES[language].read_text(encoding="utf-8") == document(language), "run `make docs`"


def test_every_rule_is_on_the_page_once_and_is_no_check_or_reason() -> None:
    assert [document("en").count(f"\n## {rule.id} ") for rule in RULES] == [1] * len(RULES)
    assert not {rule.id for rule in RULES} & ({rule.id for rule in CHECKS} | set(REASONS))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_alert_explains_itself(language: str, tmp_path: Path) -> None:
    for rule in RULES:
        result = npurun("explain", rule.id.lower(), "--lang", language, home=tmp_path)
        assert result.code == 0 and title(rule.id, language) in result.out and rule.source in result.out


def test_the_list_of_alerts(tmp_path: Path) -> None:
    listed = npurun("explain", "--alerts", home=tmp_path).out.splitlines()
    assert [line.split()[0] for line in listed] == [rule.id for rule in RULES]
    documents = npurun("explain", "--alerts", "--json", home=tmp_path).document
    assert [one["id"] for one in documents] == [rule.id for rule in RULES] and all(one["fix"] for one in documents)
    assert not english(npurun("explain", "--alerts", "--lang", "zh", home=tmp_path).out)


@pytest.mark.parametrize("words", [["NR901", "--alerts"], ["NR901", "--stack", "cann-9.1.0"]])
def test_what_would_say_nothing_is_usage(words: list[str], tmp_path: Path) -> None:
    result = npurun("explain", *words, home=tmp_path)
    assert (result.code, result.out) == (2, "") and len(result.err.splitlines()) == 1


def test_the_nearest_alert_is_told_and_completed(tmp_path: Path) -> None:
    assert "nearest is NR913" in npurun("explain", "NR9133", home=tmp_path).err
    assert "NR901" in complete("npurun explain NR90", tmp_path)
