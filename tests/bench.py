"""Measured figures, side by side: `make bench`. Machines are noisy: read the ratios, not the seconds."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from submitter.arguments.trees import releases, trees_folder
from submitter.checks.registry import RULES
from submitter.ledger import default_home
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from tests.support.failures import coverage, records

COLD_RUNS = 7
"""Odd, so that the median is a run that happened."""
BIN = Path(sys.executable).parent
JOB = "qwen3_5_122b_a10b_32k"
HELP_LIMIT_S = 0.15
RENDER_LIMIT_S = 0.35
CHECK_LIMIT_S = 1.0
CHECK_ALONE_LIMIT_S = 0.35
"""Without composition."""
SUBMIT_LIMIT_RATIO = 0.5
"""Of `ray job submit --no-wait` in the same run."""

COLD = {
    ("--help",): HELP_LIMIT_S,
    ("render", JOB, "--as", "request"): RENDER_LIMIT_S,
    ("check", JOB): CHECK_LIMIT_S,
    ("check", JOB, "--no-compose"): CHECK_ALONE_LIMIT_S,
}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="npurun-bench-") as folder:
        if not _link_trees(Path(folder)):
            print("no config tree of verl is at hand, so that check composes nothing: npurun stacks fetch")
        bare, *ours = _cold_starts(Path(folder))
        submit, rays = _submissions(Path(folder))
    limited = zip([" ".join(words) for words in COLD], ours, COLD.values(), strict=True)
    rows = [
        ("python -c pass", bare, None),
        *((f"npurun {name}", seconds, limit) for name, seconds, limit in limited),
        ("ray job submit --no-wait", rays, None),
        ("npurun submit --detach", submit, SUBMIT_LIMIT_RATIO * rays),
    ]
    print(f"{'median of ' + str(COLD_RUNS) + ' cold processes':58}{'s':>8}{'limit':>8}{'x python':>10}")
    for name, seconds, limit in rows:
        shown = "-" if limit is None else f"{limit:.3f}"
        print(f"{name:58}{seconds:8.3f}{shown:>8}{seconds / bare:10.1f}")
    print(f"npurun submit / ray job submit = {submit / rays:.2f} (limit {SUBMIT_LIMIT_RATIO})")
    print(_coverage())
    return int(any(limit is not None and seconds > limit for _, seconds, limit in rows))


def _coverage() -> str:
    decidable = [record for record in records() if record.detectable == "yes"]
    covered = [record for record in records() if record.id in coverage() and coverage()[record.id].rules]
    told = sum(record in covered for record in decidable)
    return (
        f"{len(RULES)} rules; of {len(records())} reported failures {len(covered)} are told before a job is submitted, "
        f"{told} of the {len(decidable)} that the job file alone decides"
    )


def _link_trees(home: Path) -> bool:
    """The user's own config trees, for `check` to compose with."""
    trees = trees_folder(default_home(os.environ))
    trees_folder(home).symlink_to(trees)
    return bool(releases(trees))


def _cold_starts(home: Path) -> tuple[float, ...]:
    """Interleaved, so that a noisy minute hits all alike."""
    commands = [[str(BIN / "npurun"), *words] for words in COLD]
    return _medians([[sys.executable, "-c", "pass"], *commands], {"NPURUN_HOME": str(home)})


def _submissions(home: Path) -> tuple[float, float]:
    with LocalCluster.start([NodeSpec(npus=16, cpus=64)], base_dir=home) as cluster:
        commands = (
            [str(BIN / "npurun"), "submit", JOB, "--detach", "--address", cluster.address],
            [str(BIN / "ray"), "job", "submit", "--no-wait", "--address", cluster.address, "--", "true"],
        )
        return _medians(commands, {"NPURUN_HOME": str(home)})  # type: ignore[return-value]


def _medians(commands: Sequence[Sequence[str]], env: dict[str, str]) -> tuple[float, ...]:
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(COLD_RUNS):
        for command, taken in zip(commands, times, strict=True):
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, timeout=60, env={**os.environ, **env})
            taken.append(time.perf_counter() - started)
    return tuple(statistics.median(taken) for taken in times)


if __name__ == "__main__":
    sys.exit(main())
