"""1,000 random mutations of job files: findings, a clean pass or wrong usage, never another exception."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from submitter.errors import UsageError
from tests.support.mutations import mutated, outcome

pytestmark = pytest.mark.proof

MUTATIONS = 1000


@pytest.mark.timeout(600)
def test_a_thousand_mutated_jobs(tmp_path: Path, trees: Path) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=MUTATIONS, suppress_health_check=[HealthCheck.too_slow])
    @given(mutated())
    def examine_one(text: str) -> None:
        found = outcome(text, tmp_path, trees=trees)
        seen["usage" if isinstance(found, UsageError) else "findings" if found.findings else "clean"] += 1

    examine_one()
    assert sum(seen.values()) >= MUTATIONS
    assert seen["findings"] and seen["findings"] + seen["clean"] > MUTATIONS / 4, seen  # the mistakes reach the rules
