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

from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec

COLD_RUNS = 7
"""Odd, so that the median is a run that happened."""
BIN = Path(sys.executable).parent
JOB = "qwen3_5_122b_a10b_32k"
HELP_LIMIT_S = 0.15
RENDER_LIMIT_S = 0.35
SUBMIT_LIMIT_RATIO = 0.5
"""Of `ray job submit --no-wait` in the same run."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="npurun-bench-") as folder:
        bare, plain_help, rendered = _cold_starts(Path(folder))
        ours, rays = _submissions(Path(folder))
    rows = [
        ("python -c pass", bare, None),
        ("npurun --help", plain_help, HELP_LIMIT_S),
        (f"npurun render {JOB} --as request", rendered, RENDER_LIMIT_S),
        ("ray job submit --no-wait", rays, None),
        ("npurun submit --detach", ours, SUBMIT_LIMIT_RATIO * rays),
    ]
    print(f"{'median of ' + str(COLD_RUNS) + ' cold processes':58}{'s':>8}{'limit':>8}{'x python':>10}")
    for name, seconds, limit in rows:
        shown = "-" if limit is None else f"{limit:.3f}"
        print(f"{name:58}{seconds:8.3f}{shown:>8}{seconds / bare:10.1f}")
    print(f"npurun submit / ray job submit = {ours / rays:.2f} (limit {SUBMIT_LIMIT_RATIO})")
    return int(any(limit is not None and seconds > limit for _, seconds, limit in rows))


def _cold_starts(home: Path) -> tuple[float, float, float]:
    """Interleaved, so that a noisy minute hits all three alike."""
    commands = (
        [sys.executable, "-c", "pass"],
        [str(BIN / "npurun"), "--help"],
        [str(BIN / "npurun"), "render", JOB, "--as", "request"],
    )
    return _medians(commands, {"NPURUN_HOME": str(home)})  # type: ignore[return-value]


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
