"""One node's look at the job's checkpoints: names, sizes and headers, never a tensor. Nothing is written.

Source: verl/utils/checkpoint/*_checkpoint_manager.py and trainer/ppo/ray_trainer.py, 0.7.1 to 0.9.1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path

from .headers import torch_problem
from .megatron import megatron_problems, names_below
from .plan import CheckpointPlan
from .seen import Listing, Problem, Seen

TRACKER = "latest_checkpointed_iteration.txt"
TRACKER_BYTES = 64
ENTRIES_READ = 100_000
"""Of one folder: three files a rank, and no world is that large."""
NAMED = 8
"""Ranks in one message."""

_STEP = re.compile(r"global_step_(\d{1,12})")
_SHARD = re.compile(r"(model|optim|extra_state)_world_size_(\d{1,7})_rank_(\d{1,7})\.pt")
_FILES_OF = {"model": "model", "optimizer": "optim", "extra": "extra_state"}
"""What is loaded → the files' names."""
_DATA = re.compile(r"data(_\d+)?\.pt")

Late = Callable[[], bool]
"""Whether the time to look is over."""


def list_steps(folder: Path) -> Listing:
    """OSError where the folder is there and cannot be read."""
    if not folder.is_dir():
        return Listing(there=False)
    with os.scandir(folder) as entries:
        found = [(_STEP.fullmatch(entry.name), entry) for entry in islice(entries, ENTRIES_READ)]
        steps = {int(match[1]) for match, entry in found if match and entry.is_dir()}
    return Listing(True, tuple(sorted(steps, reverse=True)), _hint(folder / TRACKER))


def look(plan: CheckpointPlan, folder: Path, ranks: Collection[int], first: bool, late: Late) -> Seen:
    """`folder` is `…/global_step_N`, `ranks` those whose files have to be here.

    `first`: this node reads what one node has to read for all. OSError where it cannot be read.
    """
    if not folder.is_dir():
        return Seen((Problem("no_folder", str(folder)),))
    data = [name for name in _names(folder) if _DATA.fullmatch(name)]
    spoilt = [(name, why) for name in data if (why := torch_problem(folder / name))]
    problems = [Problem("unreadable", f"{name}: {why}") for name, why in spoilt]
    unchecked = 0
    same = []
    for role, contents in plan.parts():
        if plan.engine == "megatron":
            problems += _below(role, megatron_problems(plan, folder / role, contents, first))
            same.append(names_below(folder / role))
        else:
            found, left = _shards(folder / role, plan.world_size, contents, ranks, late)
            problems += _below(role, found)
            unchecked += left
    return Seen(tuple(problems), unchecked, "|".join(same), bool(data) and not spoilt)


def _hint(tracker: Path) -> int | None:
    try:
        with tracker.open("rb") as file:
            text = file.read(TRACKER_BYTES).strip()
    except OSError:  # there is none, or it cannot be read: it decides nothing
        return None
    return int(text) if text.isdigit() else None


def _names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in islice(entries, ENTRIES_READ)]


def _below(role: str, problems: list[Problem]) -> list[Problem]:
    return [Problem(one.why, f"{role}/{one.value}".strip("/")) for one in problems]


def _shards(
    folder: Path, world: int, contents: Collection[str], ranks: Collection[int], late: Late
) -> tuple[list[Problem], int]:
    """Problems of one role's files of FSDP, and how many files were not opened."""
    if not folder.is_dir():
        return [Problem("incomplete", "")], 0
    matches = [match for name in _names(folder) if (match := _SHARD.fullmatch(name))]
    problems: list[Problem] = []
    whole: list[str] = []
    for kind in [_FILES_OF[one] for one in contents if one in _FILES_OF]:
        there = {int(match[3]) for match in matches if match[1] == kind and int(match[2]) == world}
        others = sorted({int(match[2]) for match in matches if match[1] == kind} - {world})
        if others and not there:
            problems.append(Problem("world_size", f"{kind}_world_size_{others[-1]}: {world} ranks wanted"))
        elif missing := sorted(set(ranks) - there):
            problems.append(Problem("incomplete", f"{kind}_world_size_{world}_rank_{_some(missing)}.pt"))
        else:
            whole += [f"{kind}_world_size_{world}_rank_{rank}.pt" for rank in sorted(ranks)]
    opened = list(_opened(folder, whole, late)) if not problems else []
    problems += [Problem("unreadable", f"{name}: {why}") for name, why in opened if why]
    return problems, len(whole) - len(opened) if not problems else 0


def _opened(folder: Path, names: Collection[str], late: Late) -> Iterator[tuple[str, str | None]]:
    for name in names:
        if late():
            return
        yield name, torch_problem(folder / name)


def _some(ranks: list[int]) -> str:
    if len(ranks) == 1:
        return str(ranks[0])
    more = f" … ({len(ranks)} ranks)" if len(ranks) > NAMED else ""
    return "{" + ", ".join(map(str, ranks[:NAMED])) + "}" + more
