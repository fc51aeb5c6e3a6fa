"""`npurun diagnose` on a log of 1 GB, with the whole table, and grep beside it: `python -m tests.bench_diagnose`."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from submitter.recovery.signatures import signatures
from tests.support.big_log import NODE, REASON, Cost, cores, diagnose_cost, grep_cost, grep_patterns, write_log

LOG_BYTES = 1_000_000_000
GREP_BYTES = 16_000_000
"""For `grep -E`, which would take ten minutes for all of it."""
RUNS = 3
LEAST_MB_PER_S = 150.0
MOST_TIMES_GREP = 2.0
MOST_MIB = 200.0


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="npurun-bench-") as name:
        folder = Path(name)
        log, part = folder / "big.log", folder / "part.log"
        size, part_size = write_log(log, LOG_BYTES), write_log(part, GREP_BYTES)
        (folder / "patterns").write_text(grep_patterns(), encoding="utf-8")
        (folder / "cores").write_text(cores(), encoding="utf-8")
        ours = min((diagnose_cost(log, folder) for _ in range(RUNS)), key=lambda one: one.cpu_s)
        by_pattern = grep_cost(part, folder / "patterns", "-E")
        by_core = grep_cost(log, folder / "cores", "-F")
    document = json.loads(ours.out)
    if (document["reason"], document["node"]) != (REASON, NODE):
        print(f"wrong: {document['reason']} {document['node']}")
        return 1
    return _report(ours, size, _rate(by_pattern, part_size), _rate(by_core, size))


def _report(ours: Cost, size: int, by_pattern: float, by_core: float) -> int:
    rate = _rate(ours, size)
    print(f"{len(signatures())} signatures, a log of {size / 1e6:.0f} MB, CPU seconds of one core")
    print(
        f"npurun diagnose          {rate:7.0f} MB/s (limit {LEAST_MB_PER_S:.0f}), {ours.rss_mib:.0f} MiB "
        f"(limit {MOST_MIB:.0f})"
    )
    print(
        f"LC_ALL=C grep -E -f      {by_pattern:7.0f} MB/s, the same patterns ({by_pattern / rate:.2f} of ours, "
        f"limit {MOST_TIMES_GREP})"
    )
    print(f"LC_ALL=C grep -F -f      {by_core:7.0f} MB/s, the literal cores alone")
    return int(rate < LEAST_MB_PER_S or by_pattern > MOST_TIMES_GREP * rate or ours.rss_mib > MOST_MIB)


def _rate(cost: Cost, size: int) -> float:
    """MB/s."""
    return size / 1e6 / cost.cpu_s


if __name__ == "__main__":
    sys.exit(main())
