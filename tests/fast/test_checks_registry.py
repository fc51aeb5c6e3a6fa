"""One id, one rule, its texts; errors first."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.checks.about import about, title
from submitter.checks.registry import RULES
from submitter.cli.wrap import columns
from submitter.errors import UsageError
from submitter.texts import LANGUAGES, TABLE
from tests.support.builders import job
from tests.support.checks import findings_of

MAX_TITLE_COLUMNS = 120
"""`npurun explain` lists them."""


def test_every_rule_has_one_id_its_texts_and_a_source() -> None:
    names = [rule.id for rule in RULES]
    assert len(names) == len(set(names))
    for rule in RULES:
        assert {rule.id, f"{rule.id}.fix", f"{rule.id}.about"} <= set(TABLE), rule.id
        assert rule.source and rule.severities, rule.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_fit_a_line_and_differ(language: str) -> None:
    titles = [title(rule.id, language) for rule in RULES]
    assert len(titles) == len(set(titles))
    assert [one for one in titles if columns(one) > MAX_TITLE_COLUMNS] == []
    assert all(about(rule.id, language).startswith(one) for rule, one in zip(RULES, titles, strict=True))


def test_every_finding_of_the_code_is_a_rule_with_that_severity() -> None:
    """Read from the source: `Finding("NR…", "error", …)`."""
    severities = {rule.id: rule.severities for rule in RULES}
    files = {Path(inspect.getfile(rule.check)) for rule in RULES}
    made = [call for path in files for call in _findings(ast.parse(path.read_text(encoding="utf-8")))]
    assert len(made) > 5
    for rule_id, severity in made:
        assert rule_id in severities
        assert severity is None or severity in severities[rule_id], rule_id


def _findings(tree: ast.AST) -> Iterator[tuple[str, str | None]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding" and node.args:
            given = [getattr(argument, "value", None) for argument in node.args[:2]]
            if isinstance(given[0], str):
                yield given[0], given[1] if isinstance(given[1], str) else None


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
