"""docs/checks.md is what the registry and the case file say; every reported failure that a job shows is looked into."""

from __future__ import annotations

import pytest

from submitter.checks.about import NODE_CHECKS
from submitter.checks.families import FAMILIES
from submitter.checks.registry import RULES
from tests.make_checks_doc import FILES, document
from tests.support.failures import coverage, named_in_tests, records


@pytest.mark.parametrize("language", FILES)
def test_the_page_is_the_generated_one(language: str) -> None:
    assert FILES[language].read_text(encoding="utf-8") == document(language), "run `make docs`"


@pytest.mark.parametrize("language", FILES)
def test_every_rule_and_every_record_is_on_the_page(language: str) -> None:
    page = document(language)
    assert [rule.id for rule in (*RULES, *NODE_CHECKS) if f"\n### {rule.id} " not in page] == []
    assert [record.id for record in records() if f"[{record.id}](http" not in page] == []


def test_every_rule_is_in_a_family() -> None:
    assert [rule.id for rule in RULES if int(rule.id[2:]) < FAMILIES[0][0]] == []


def test_every_failure_that_a_job_shows_is_told_or_explained() -> None:
    decidable = {record.id for record in records() if record.detectable == "yes"}
    assert decidable - set(coverage()) == set()


def test_what_tells_of_a_failure_is_a_rule_with_a_test_that_names_it() -> None:
    rules, known = {rule.id for rule in RULES}, {record.id for record in records()}
    for name, found in coverage().items():
        assert name in known
        assert set(found.rules) <= rules, name
        assert not found.rules or name in named_in_tests(), name
        assert found.rules or set(found.why_not or ()) == {"en", "zh"}, name
