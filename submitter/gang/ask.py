"""Asks all node workers at once and takes what comes within a bound: the rest is silent, and named."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .say import clean

LOOK_S = 0.2
"""How long one look at the answers may take: between two of them a stop is noticed."""
NO_ANSWER = "does not answer"


class LostError(Exception):
    """The worker or its node died before it answered."""


class FailedError(Exception):
    """The worker lives, and could not do what it was asked for."""


class Nodes(Protocol):
    """Node workers, by index. Tests put others in the place of Ray's."""

    def ask(self, index: int, method: str, *arguments: Any) -> Any:
        """A reference to the answer; does not wait."""

    def ready(self, references: Sequence[Any], timeout_s: float) -> Sequence[Any]:
        """Those that are there, as soon as one is."""

    def value(self, reference: Any) -> Any:
        """Of a ready reference. Raises LostError, FailedError."""


@dataclass(frozen=True)
class Answer:
    """`value`, or `why` there is none."""

    value: Any
    why: str | None
    sent: float
    received: float
    """Wall clock of the driver, seconds: around the answer of an idle worker, half of it is the way there."""
    lost: bool = False
    """The worker has died."""


@dataclass(frozen=True)
class Bound:
    """`total_s` for all; once half have answered the rest get `grace_s`, since all began at once."""

    total_s: float
    grace_s: float


def ask_all(
    nodes: Nodes,
    questions: Mapping[int, Sequence[Any]],
    method: str,
    bound: Bound,
    check: Callable[[], None],
    clock: Callable[[], float] = time.monotonic,
) -> dict[int, Answer]:
    """One answer per index of `questions` (index -> arguments). `check` may raise: a stop."""
    sent = {index: (nodes.ask(index, method, *arguments), time.time()) for index, arguments in questions.items()}
    waiting = {reference: index for index, (reference, _) in sent.items()}
    answers: dict[int, Answer] = {}
    deadline = clock() + bound.total_s
    half_told = False
    while waiting and clock() < deadline:
        for reference in nodes.ready(list(waiting), LOOK_S):
            index = waiting.pop(reference)
            answers[index] = _answer(nodes, reference, sent[index][1])
        if not half_told and 2 * len(answers) >= len(questions):
            half_told = True
            deadline = min(deadline, clock() + bound.grace_s)
        check()
    for index in waiting.values():
        answers[index] = Answer(None, NO_ANSWER, sent[index][1], time.time())
    return answers


def _answer(nodes: Nodes, reference: Any, sent: float) -> Answer:
    received = time.time()
    try:
        return Answer(nodes.value(reference), None, sent, received)
    except (LostError, FailedError) as error:
        return Answer(None, clean(error)[:300], sent, received, lost=isinstance(error, LostError))


def brief(said: str) -> str:
    """Ray's words without what it sets off below them: ids of the actor, a task's traceback."""
    return " ".join(line.strip() for line in said.splitlines() if line[:1].strip()) or said


class RayNodes:
    """Node worker actors."""

    def __init__(self, workers: Sequence[Any]) -> None:
        self._workers = workers

    def ask(self, index: int, method: str, *arguments: Any) -> Any:
        return getattr(self._workers[index], method).remote(*arguments)

    def ready(self, references: Sequence[Any], timeout_s: float) -> Sequence[Any]:
        import ray

        ready, _ = ray.wait(list(references), num_returns=1, timeout=timeout_s)
        if not ready:
            return []
        return list(ray.wait(list(references), num_returns=len(references), timeout=0)[0])

    def value(self, reference: Any) -> Any:
        import ray

        try:
            return ray.get(reference, timeout=1)
        except ray.exceptions.RayTaskError as error:
            raise FailedError(brief(str(error))) from error
        except ray.exceptions.RayError as error:
            raise LostError(brief(str(error))) from error
