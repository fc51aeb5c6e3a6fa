"""All nodes measured at once and judged together: who is fit for the job, and what is odd about the others."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .ask import NO_ANSWER, Answer, Bound, Nodes, ask_all
from .node_worker import START
from .probes import inside
from .probes.catalogue import JUDGES, PROBES
from .probes.measure import Measured, from_json
from .probes.verdict import Node, Verdict
from .probes.wish import Wish

MEASURE_MARGIN_S = 5.0
"""Beside the probes' own limits: a loaded host."""
MEASURE_GRACE_S = 25.0
"""All begin at once: on a cold file system one node may import the user's modules later than half of them."""
CLOCK = Bound(total_s=5.0, grace_s=2.0)
MEET = Bound(total_s=15.0, grace_s=8.0)
"""A connection that a firewall swallows is given up after 3 s, in parallel over all peers."""
INSIDE = Bound(total_s=inside.INSIDE_S + 30.0, grace_s=30.0)
"""A cold worker process, and in it torch_npu."""
PART = Bound(total_s=3.0, grace_s=1.0)
"""Tokens in shared folders are removed before the worker may be ended."""

SILENT = "NR571"
UNHELD = Measured(
    None, "torch_npu is loaded in a task that holds NPUs: each attempt does so, the doctor holds none", 0.0
)


@dataclass(frozen=True)
class Candidate:
    """A node that is to be looked at."""

    ip: str
    hostname: str
    npus: float
    cpus: float
    busy: bool = False
    """As in `Node`."""


@dataclass(frozen=True)
class Fitness:
    nodes: tuple[Node, ...]
    """In the order of the candidates."""
    verdicts: tuple[Verdict, ...]
    took_s: float

    @property
    def unfit(self) -> Mapping[str, tuple[Verdict, ...]]:
        """IP -> why the node cannot run the job."""
        errors = [verdict for verdict in self.verdicts if verdict.unfit]
        return {node.ip: found for node in self.nodes if (found := tuple(v for v in errors if v.node == node.ip))}


def look(
    candidates: Sequence[Candidate],
    workers: Nodes,
    wish: Wish,
    check: Callable[[], None],
    start: Bound = START,
    holders: Nodes | None = None,
) -> Fitness:
    """Bounded whatever the nodes do; `check` may raise to end it (a stop). `start` is for workers that begin cold.

    `holders`: processes that hold the nodes' NPUs, asked where torch_npu is installed; None: nobody holds any.
    """
    began = time.monotonic()
    everyone = range(len(candidates))
    up = ask_all(workers, dict.fromkeys(everyone, ()), "ping", start, check)
    awake = _answering(up)
    try:
        measured, clocks, met = _asked(candidates, workers, wish, check, awake)
        measured, met = _without_gone(candidates, measured, clocks, met)
    finally:
        ask_all(workers, dict.fromkeys(awake, ()), "part", PART, lambda: None)
    held = _held(holders, measured, check) if holders else dict.fromkeys(_able(measured), UNHELD)
    answers = {**up, **measured}
    nodes = tuple(
        _node(candidate, answers[index], clocks.get(index), met.get(index), held.get(index))
        for index, candidate in enumerate(candidates)
    )
    return Fitness(nodes, tuple(judge(nodes, wish)), time.monotonic() - began)


def _asked(
    candidates: Sequence[Candidate], workers: Nodes, wish: Wish, check: Callable[[], None], awake: Sequence[int]
) -> tuple[dict[int, Answer], dict[int, Answer], dict[int, Answer]]:
    """What those that are awake measure by themselves, their clocks, and what they find of each other."""
    wanted = dataclasses.asdict(wish)
    questions = {index: (wanted, candidates[index].ip) for index in awake}
    measured = ask_all(workers, questions, "measure", _measure_bound(wish), check)
    answering = _answering(measured)
    clocks = ask_all(workers, dict.fromkeys(answering, ()), "clock", CLOCK, check)
    answering = [index for index in answering if not clocks[index].lost]
    peers = {candidates[index].ip: measured[index].value["ports"] for index in answering}
    names = {candidates[index].ip: candidates[index].hostname for index in answering}
    met = ask_all(workers, dict.fromkeys(answering, (peers, names)), "meet", MEET, check)
    return measured, clocks, met


def _without_gone(
    candidates: Sequence[Candidate],
    measured: Mapping[int, Answer],
    clocks: Mapping[int, Answer],
    met: Mapping[int, Answer],
) -> tuple[dict[int, Answer], dict[int, Answer]]:
    """Who died, or froze, after it had measured is silent; that nobody reaches it is not the network's fault."""
    gone = {index: why for index in measured if (why := _gone(clocks.get(index), met.get(index)))}
    ips = {candidates[index].ip for index in gone}
    return {**measured, **gone}, {index: _met_others(answer, ips) for index, answer in met.items()}


def _gone(clock: Answer | None, met: Answer | None) -> Answer | None:
    """The answer that shows it: one that is late alone may be a dead file server's fault, or a name server's."""
    asked = [answer for answer in (clock, met) if answer]
    lost = next((answer for answer in asked if answer.lost), None)
    silent = len(asked) == 2 and all(answer.why == NO_ANSWER for answer in asked)
    return lost or (asked[0] if silent else None)


def _met_others(answer: Answer, gone: Collection[str]) -> Answer:
    if answer.why is not None or not gone:
        return answer
    reach = {ip: one for ip, one in answer.value["reach"].items() if ip not in gone}
    return dataclasses.replace(answer, value={**answer.value, "reach": reach})


def _held(holders: Nodes, measured: Mapping[int, Answer], check: Callable[[], None]) -> dict[int, Measured]:
    """What a process that holds NPUs finds, by node; nodes that did not answer are not asked again."""
    asked = ask_all(holders, dict.fromkeys(_able(measured), ()), inside.NAME, INSIDE, check)
    absent = Measured(None, "torch_npu is not installed here", 0.0)
    return {index: _found_inside(asked[index]) if index in asked else absent for index in _answering(measured)}


def _able(measured: Mapping[int, Answer]) -> list[int]:
    """Those that answer, and have torch_npu."""
    return [index for index in _answering(measured) if _versions(measured[index]).get("torch_npu")]


def _versions(answer: Answer) -> Mapping[str, Any]:
    return answer.value["probes"].get("versions", {}).get("facts") or {}


def _found_inside(answer: Answer) -> Measured:
    if answer.why is not None:
        return Measured(None, answer.why, 0.0)
    return Measured(answer.value.get("facts"), answer.value.get("why"), round(answer.received - answer.sent, 3))


def longest_s(wish: Wish, start: Bound = START) -> float:
    """The most that `look` takes."""
    return sum(bound.total_s for bound in (start, _measure_bound(wish), CLOCK, MEET, PART))


def _measure_bound(wish: Wish) -> Bound:
    """A node ends with its slowest probe, whatever hangs in it."""
    slowest_s = max(probe.limit_s for probe in PROBES if probe.asked(wish))
    return Bound(slowest_s + MEASURE_MARGIN_S, MEASURE_GRACE_S)


def _answering(answers: Mapping[int, Answer]) -> list[int]:
    return [index for index, answer in answers.items() if answer.why is None]


def judge(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Pure: silent nodes are named, the others judged."""
    answering = [node for node in nodes if node.silent is None]
    silent = [Verdict(SILENT, node.ip, "error", node.silent) for node in nodes if node.silent is not None]
    return [*silent, *(verdict for rule in JUDGES for verdict in rule.judge(answering, wish))]


def _node(
    candidate: Candidate, measured: Answer, clock: Answer | None, met: Answer | None, held: Measured | None
) -> Node:
    fields = dataclasses.asdict(candidate)
    if measured.why is not None:
        return Node(**fields, measured={}, silent=measured.why)
    probes = from_json(measured.value["probes"])
    probes["clock"] = _clock(clock)
    probes["peers"] = _met(met)
    if held:
        probes[inside.NAME] = held
    return Node(**fields, measured=probes)


def _clock(answer: Answer | None) -> Measured:
    """`offset_s`: the node's clock minus the driver's, known to ± `uncertainty_s`: half the way there and back."""
    if answer is None or answer.why is not None:
        return Measured(None, answer.why if answer else "not asked", 0.0)
    uncertainty = (answer.received - answer.sent) / 2
    offset = float(answer.value) - (answer.sent + uncertainty)
    return Measured({"offset_s": round(offset, 3), "uncertainty_s": round(uncertainty, 3)}, None, 2 * uncertainty)


def _met(answer: Answer | None) -> Measured:
    if answer is None or answer.why is not None:
        return Measured(None, answer.why if answer else "not asked", 0.0)
    facts: dict[str, Any] = answer.value
    return Measured(facts, None, round(answer.received - answer.sent, 3))
