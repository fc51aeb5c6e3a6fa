"""The case file: failures that users reported, and which check tells of each before a job is submitted."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

TESTS = Path(__file__).parents[1]
DATA = TESTS / "data"
_RECORD = re.compile(r"F\d{3}(?!\d)")


@dataclass(frozen=True)
class Record:
    id: str
    kind: str
    symptom: str
    url: str
    detectable: str
    """Before submission: `yes`, `no` or `needs_cluster_probe`."""


@dataclass(frozen=True)
class Coverage:
    """Either the rules that tell of a record, or why none does, by language."""

    rules: tuple[str, ...] = ()
    why_not: Mapping[str, str] | None = None


@cache
def records() -> tuple[Record, ...]:
    lines = (DATA / "failures.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return tuple(
        Record(row["id"], row["kind"], row["symptom"], row["url"], row["detectable_before_submit"]) for row in rows
    )


@cache
def coverage() -> Mapping[str, Coverage]:
    """By record: the rules of the regression tests that are named after it; else why there is none.

    `failures_coverage.yaml` adds what no test's id can say: `F091: [NR442]`, or `F190: {en: why not, zh: …}`.
    """
    table = yaml.safe_load((DATA / "failures_coverage.yaml").read_text(encoding="utf-8"))
    found = {name: Coverage(tuple(sorted(rules))) for name, rules in _rules_by_record().items() if rules}
    for name, entry in table.items():
        if isinstance(entry, list):
            found[name] = Coverage(tuple(sorted({*entry, *found.get(name, Coverage()).rules})))
        else:
            found.setdefault(name, Coverage(why_not=entry))
    return found


@cache
def _rules_by_record() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted((TESTS / "fast").glob("test_checks_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for record, call in _named_cases(tree):
            inherited = _rule_ids(_function_of(tree, call))
            found.setdefault(record, set()).update(_rule_ids(call) or (inherited if len(inherited) == 1 else ()))
    return found


def _named_cases(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """`pytest.param(…, id="F008-dynamic")`: the record and the call."""
    for call in ast.walk(tree):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            match = _RECORD.match(str(getattr(keyword.value, "value", ""))) if keyword.arg == "id" else None
            if match and isinstance(call, ast.Call):
                yield match[0], call


def _function_of(tree: ast.AST, call: ast.Call) -> ast.AST | None:
    """The test that a case in its decorator belongs to."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return next((one for one in functions if any(node is call for node in ast.walk(one))), None)


def _rule_ids(node: ast.AST | None) -> set[str]:
    texts = (getattr(one, "value", None) for one in ast.walk(node)) if node else ()
    return {text for text in texts if isinstance(text, str) and re.fullmatch(r"NR\d{3}", text)}


@cache
def named_in_tests() -> Mapping[str, frozenset[str]]:
    """Record -> the test files that name it."""
    found: dict[str, set[str]] = {}
    for path in sorted((TESTS / "fast").glob("test_*.py")):
        for name in re.findall(r"\bF\d{3}(?!\d)", path.read_text(encoding="utf-8").replace("_", " ")):
            found.setdefault(name, set()).add(path.name)
    return {name: frozenset(paths) for name, paths in found.items()}
