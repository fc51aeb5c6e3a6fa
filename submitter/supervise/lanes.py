"""One lane of threads per cluster: calls to it run beside the loop, so that a hanging dashboard delays nobody else.

What cares for a run is a generator: it yields an `Ask` to have a call made, and gets the answer (or its exception)
back; it yields a `Pause` to be left alone for a while. All else, the ledger above all, happens in the loop's thread.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

THREADS = 4
"""Of one cluster. A call takes milliseconds; a hundred runs make some ten a second."""


@dataclass(frozen=True)
class Ask:
    """A call to the cluster at `address`; bounded by the timeouts of its client."""

    address: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class Pause:
    """Nothing to do until then (the loop's clock), unless somebody wants something else of the run meanwhile."""

    until_s: float


Care = Generator[Ask | Pause, Any, T]


def ask(address: str, work: Callable[[], T]) -> Care[T]:
    """What `work` returns or raises."""
    answer: T = yield Ask(address, work)
    return answer


@dataclass(frozen=True)
class Answer(Generic[T]):
    ticket: T
    """Whose question it was."""
    value: Any = None
    error: Exception | None = None


def answered(ticket: T, work: Callable[[], Any]) -> Answer[T]:
    try:
        return Answer(ticket, work())
    except Exception as error:  # whatever it is, it belongs to who asked
        return Answer(ticket, error=error)


class Lanes:
    """Answers are put into `inbox`. The threads are daemons: a process that leaves does not wait for a cluster."""

    def __init__(self, inbox: queue.SimpleQueue[Any]) -> None:
        self._inbox = inbox
        self._lanes: dict[str, _Lane] = {}

    def put(self, ticket: object, question: Ask) -> None:
        lane = self._lanes.get(question.address)
        if lane is None:
            lane = self._lanes[question.address] = _Lane(self._inbox)
        lane.put(ticket, question.work)


class _Lane:
    def __init__(self, inbox: queue.SimpleQueue[Any]) -> None:
        self._inbox = inbox
        self._waiting: queue.SimpleQueue[tuple[object, Callable[[], Any]]] = queue.SimpleQueue()
        self._threads = 0

    def put(self, ticket: object, work: Callable[[], Any]) -> None:
        self._waiting.put((ticket, work))
        if self._threads < THREADS:
            self._threads += 1
            threading.Thread(target=self._work, name=f"lane-{self._threads}", daemon=True).start()

    def _work(self) -> None:
        while True:
            ticket, work = self._waiting.get()
            self._inbox.put(answered(ticket, work))
