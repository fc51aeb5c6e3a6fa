"""What a rehearsal has left on disk: verl's metrics per step, and a checkpoint that is complete."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from submitter.errors import RunFailedError

METRICS = "metrics.jsonl"
"""verl's file logger: one line of JSON per step."""
CHECKPOINTS = "checkpoints"
REWARD = "critic/rewards/mean"
_STEP_LINE = re.compile(rf"\bstep:(\d+) - .*\b{REWARD}:(?:np\.\w+\()?([^\s)]+)")
"""verl's console logger; numpy values are spelled `np.float64(0.5)`."""
_SHARD = re.compile(r"model_world_size_(\d+)_rank_(\d+)\.pt")


@dataclass(frozen=True)
class Results:
    steps: int
    first_reward: float
    last_reward: float
    """Mean over the step's trajectories."""
    checkpoint_step: int
    ranks: int
    """World size of the checkpoint; each rank's shard was read and its checksums agree."""
    mib: float


def read_results(workdir: Path) -> Results:
    """Raises RunFailedError when steps or checkpoint are not there: a run that says success without them is none."""
    rewards = _rewards(workdir / METRICS)
    step, ranks, size = _checkpoint(workdir / CHECKPOINTS)
    return Results(len(rewards), rewards[0], rewards[-1], step, ranks, size / 2**20)


def step_and_reward(line: str) -> tuple[int, float] | None:
    """Step and mean reward of a log line with verl's metrics, else None."""
    found = _STEP_LINE.search(line)
    return (int(found[1]), float(found[2])) if found else None


def _rewards(path: Path) -> list[float]:
    try:
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        rewards = [float(entry["data"][REWARD]) for entry in entries if REWARD in entry["data"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunFailedError("rehearsal.no_metrics", reason=error) from None
    if not rewards:
        raise RunFailedError("rehearsal.no_metrics", reason=REWARD)
    return rewards


def _checkpoint(folder: Path) -> tuple[int, int, int]:
    """(step, world size, bytes) of the newest checkpoint."""
    try:
        step = int((folder / "latest_checkpointed_iteration.txt").read_text())
        shards = {path: _SHARD.fullmatch(path.name) for path in (folder / f"global_step_{step}" / "actor").iterdir()}
    except (OSError, ValueError) as error:
        raise RunFailedError("rehearsal.no_checkpoint", reason=error) from None
    found = {path: (int(match[1]), int(match[2])) for path, match in shards.items() if match}
    world_size = max((size for size, _ in found.values()), default=0)
    missing = set(range(world_size)) - {rank for _, rank in found.values()}
    broken = [path.name for path in found if not _intact(path)]
    if world_size == 0 or missing or broken:
        raise RunFailedError("rehearsal.no_checkpoint", reason=broken or sorted(missing) or f"global_step_{step}")
    return step, world_size, sum(path.stat().st_size for path in found)


def _intact(path: Path) -> bool:
    """torch writes zip archives: their checksums tell a whole shard from a torn one, without torch."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile):
        return False
