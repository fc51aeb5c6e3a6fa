"""`npurun diagnose` on a large log against `grep -E -f` with the same patterns, in the same run: a ratio only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.big_log import NODE, REASON, cores, diagnose_cost, grep_cost, grep_patterns, write_log

pytestmark = pytest.mark.proof

LOG_BYTES = 100_000_000
GREP_BYTES = 8_000_000
"""grep takes minutes for more: its automaton of all the patterns does some MB/s."""
MOST_TIMES_GREP = 2.0
MOST_MIB = 200


@pytest.mark.timeout(300)
def test_it_is_as_fast_as_grep_and_needs_little_memory(tmp_path: Path) -> None:
    log, part, patterns, literals = (tmp_path / name for name in ("big.log", "part.log", "patterns", "literals"))
    size, part_size = write_log(log, LOG_BYTES), write_log(part, GREP_BYTES)
    patterns.write_text(grep_patterns(), encoding="utf-8")
    literals.write_text(cores(), encoding="utf-8")
    ours = diagnose_cost(log, tmp_path)
    by_pattern, by_literal = grep_cost(part, patterns, "-E"), grep_cost(log, literals, "-F")
    document = json.loads(ours.out)
    assert (document["reason"], document["node"]) == (REASON, NODE)
    assert int(by_pattern.out) > 0 and int(by_literal.out) > 0
    assert ours.cpu_s / size <= MOST_TIMES_GREP * by_pattern.cpu_s / part_size
    assert ours.cpu_s <= MOST_TIMES_GREP * by_literal.cpu_s
    assert ours.rss_mib <= MOST_MIB
