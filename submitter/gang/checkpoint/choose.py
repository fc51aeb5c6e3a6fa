"""The newest checkpoint that is complete for every node. Pure: looks are asked for, newest first, and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..record import Resume, Skipped
from .seen import Listing, Problem, Seen

MOST_TRIED = 20
"""Checkpoints looked at: what is older than the twentieth is not worth the time."""

_WORST_FIRST = ("layout", "world_size", "incomplete", "unreadable", "no_folder")


@dataclass(frozen=True)
class Look:
    """One checkpoint on one node: `seen`, or `why` nothing was."""

    node: str
    """IP."""
    seen: Seen | None
    why: str = ""


@dataclass(frozen=True)
class Choice:
    resume: Resume
    unchecked: int = 0
    """Files of it that there was no time to open."""


def candidates(listings: Mapping[str, Listing | None]) -> list[int]:
    """Steps that any node has, newest first; None: the node did not say."""
    return sorted({step for one in listings.values() if one for step in one.steps}, reverse=True)


def ranks_of(ips: Sequence[str], world_size: int, npus_per_node: int) -> dict[str, range]:
    """The ranks on each node of `ips`, in that order. Of a world that is not the whole gang every node needs all."""
    if world_size != len(ips) * npus_per_node:
        return dict.fromkeys(ips, range(world_size))
    return {ip: range(place * npus_per_node, (place + 1) * npus_per_node) for place, ip in enumerate(ips)}


def choose(
    steps: Sequence[int],
    look: Callable[[int], Sequence[Look]],
    path_of: Callable[[int], str],
    late: Callable[[], bool],
) -> Choice:
    """The newest of `steps` that is complete; if there was no time to open files of any, the newest with all files."""
    skipped: list[Skipped] = []
    second: tuple[Skipped, int] | None = None
    for step in steps[:MOST_TRIED]:
        if late():
            skipped.append(Skipped(step, "not_tried", value="no time left to look"))
            break
        looks = look(step)
        problem = judge(step, looks)
        if problem is None:
            return Choice(_resume(step, path_of(step), skipped))
        if problem.why == "not_checked" and second is None:
            second = (problem, sum(one.seen.unchecked for one in looks if one.seen))
        skipped.append(problem)
    if second:
        left_out, unchecked = second
        newer = [one for one in skipped if one.step > left_out.step]
        return Choice(_resume(left_out.step, path_of(left_out.step), newer), unchecked)
    return Choice(Resume(None, None, "none", tuple(skipped)))


def judge(step: int, looks: Sequence[Look]) -> Skipped | None:
    """Why a checkpoint cannot be loaded; None: it can."""
    found = [(one.node, problem) for one in looks if one.seen for problem in one.seen.problems]
    if found:
        node, problem = min(found, key=lambda one: _WORST_FIRST.index(one[1].why))
        return Skipped(step, _told(problem), node, _value(problem, len(found)))
    silent = next((one for one in looks if one.seen is None), None)
    if silent:
        return Skipped(step, "not_measured", silent.node, silent.why)
    if not any(one.seen.data for one in looks if one.seen):
        return Skipped(step, "incomplete", None, "data.pt")
    if odd := _odd(looks):
        return Skipped(step, "incomplete", odd.node, "other files than on the first node: is the folder shared?")
    if unchecked := [one for one in looks if one.seen and one.seen.unchecked]:
        return Skipped(step, "not_checked", unchecked[0].node, "no time to open its files")
    return None


def _odd(looks: Sequence[Look]) -> Look | None:
    """A node that sees other files than the first: what every node opens has to be the same on all."""
    return next((one for one in looks if one.seen and looks[0].seen and one.seen.same != looks[0].seen.same), None)


def _told(problem: Problem) -> str:
    return "incomplete" if problem.why == "no_folder" else problem.why


def _value(problem: Problem, count: int) -> str:
    return problem.value if count == 1 else f"{problem.value}, and {count - 1} more"


def _resume(step: int, path: str, skipped: Sequence[Skipped]) -> Resume:
    return Resume(step, path, "older" if skipped else "newest", tuple(skipped))
