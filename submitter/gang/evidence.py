"""The driver gathers what nodes know of a failure or a hang, and prints it: one log then tells all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .ask import Bound, RayNodes, ask_all
from .bounded import Bounded
from .cluster_state import jobs_of, own_job, waiting
from .file_end import COLOUR, read_end
from .members import Gang
from .node_worker import this_driver
from .say import clean, say
from .steps import OWN_LOG

FAILURE = Bound(total_s=12.0, grace_s=6.0)
HANG = Bound(total_s=40.0, grace_s=15.0)
STATE_S = 8.0
OWN_LOG_READ_BYTES = 8 * 1024 * 1024
LINES_OF_NODE = 200
BYTES_OF_NODE = 32 * 1024
SHORTEST_KNOWN = 12
"""A shorter line (`}`, `^^^`) stands in every log and says nothing by itself."""

_SPEAKER = re.compile(r"^\([^()]{1,200}\) ")
_REPEATED = re.compile(r" ?\[repeated \d+x across cluster\].*$")


def failure_lines(gang: Gang, attempt: str) -> list[str]:
    """What is in no log but a node's own: `from <ip> <file>: <line>`."""
    asked = dict.fromkeys(range(len(gang.workers)), (jobs_of(attempt), own_job()))
    answers = ask_all(RayNodes(gang.workers), asked, "failure", FAILURE, _nothing)
    known = known_lines(OWN_LOG)
    found = []
    for index, answer in sorted(answers.items()):
        ip = gang.members[index].ip
        if why := answer.why or answer.value["why"]:
            found.append(f"from {ip}: no evidence: {clean(why)}")
        if answer.why is None:
            new = new_tails(answer.value["tails"], known)
            found += [f"from {ip} {clean(file)}: {clean(line)}" for file, line in new]
    return found


def tell_hang(gang: Gang, check: Callable[[], None]) -> list[str]:
    """Prints what each node's processes are doing, and what waits. IPs of nodes with a stopped process."""
    asked = dict.fromkeys(range(len(gang.workers)), (this_driver(), own_job()))
    answers = ask_all(RayNodes(gang.workers), asked, "hang", HANG, check)
    for index, answer in sorted(answers.items()):
        for line in [answer.why] if answer.why is not None else answer.value["lines"]:
            say(f"from {gang.members[index].ip} processes: {clean(line)}")
    state = Bounded(lambda: waiting(gang), STATE_S)
    for line in state.value or [f"cluster: {state.why}"]:
        say(clean(line))
    return [
        gang.members[index].ip for index, one in sorted(answers.items()) if one.why is None and one.value["stopped"]
    ]


def known_lines(log: Path) -> set[str]:
    """Of the end of the driver's own log, as the workers wrote them."""
    text, _ = read_end(log, OWN_LOG_READ_BYTES)
    return {plain(line) for line in text.splitlines()}


def plain(line: str) -> str:
    """Without Ray's colours and mark of the speaker."""
    return _REPEATED.sub("", _SPEAKER.sub("", COLOUR.sub("", line).strip())).strip()


def new_tails(tails: Iterable[Mapping[str, Any]], known: set[str]) -> list[tuple[str, str]]:
    """(file, line) of what `known` does not have; a file of which all telling lines are known says nothing new."""
    found: list[tuple[str, str]] = []
    size = 0
    for tail in tails:
        lines = [line for line in tail["lines"] if plain(line) not in known]
        if not any(len(plain(line)) >= SHORTEST_KNOWN for line in lines):
            continue
        for line in lines:
            size += len(line)
            if len(found) >= LINES_OF_NODE or size > BYTES_OF_NODE:
                return found
            found.append((tail["file"], line))
    return found


def _nothing() -> None:
    """A stop is not waited for here: everything is bounded, and the end is near."""
