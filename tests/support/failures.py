"""The case file: failures that users reported, and which check tells of each before a job is submitted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

TESTS = Path(__file__).parents[1]
DATA = TESTS / "data"


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
    """`F008: [NR201]`, or `F190: {en: why not, zh: …}`."""
    table = yaml.safe_load((DATA / "failures_coverage.yaml").read_text(encoding="utf-8"))
    return {
        name: Coverage(tuple(entry)) if isinstance(entry, list) else Coverage(why_not=entry)
        for name, entry in table.items()
    }


@cache
def named_in_tests() -> Mapping[str, frozenset[str]]:
    """Record -> the test files that name it."""
    found: dict[str, set[str]] = {}
    for path in sorted((TESTS / "fast").glob("test_*.py")):
        for name in re.findall(r"\bF\d{3}(?!\d)", path.read_text(encoding="utf-8").replace("_", " ")):
            found.setdefault(name, set()).add(path.name)
    return {name: frozenset(paths) for name, paths in found.items()}
