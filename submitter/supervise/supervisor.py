"""The loop: every active run of a ledger in care, by one process, in one thread, with deadlines in a heap."""

from __future__ import annotations

import heapq
import itertools
import queue
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from submitter.errors import NpurunError
from submitter.ledger import BEAT_EVERY_S, LedgerError, LockLostError
from submitter.supervise.care import care
from submitter.supervise.lanes import Answer, Ask, Care
from submitter.supervise.world import World, plain

LOOK_EVERY_S = 0.5
"""At the ledger: for runs that came, and for what users want of them."""
IDLE_S = 5.0
RETRY_S = 30.0
"""After a trouble of the home's (a full disk), or a bug: the run's care is begun anew."""
TIDY_EVERY_S = 3600.0
Leave = Literal["idle", "home_gone", "lock_lost", "told"]
"""Why the supervisor leaves; the runs go on."""


class Inbox(Protocol):
    """`queue.SimpleQueue`, or one that moves a test's clock instead of waiting."""

    def get(self, block: bool = True, timeout: float | None = None) -> Any: ...


class Asked(Protocol):
    def put(self, ticket: object, question: Ask) -> None: ...


@dataclass(eq=False)
class _Task:
    name: str
    care: Care[None]
    wanted: str
    due: int | None = None
    """The number of its deadline; None: an answer is awaited."""


@dataclass(order=True)
class _Due:
    at_s: float
    number: int
    task: _Task = field(compare=False)


class Supervisor:
    def __init__(
        self,
        world: World,
        lanes: Asked,
        inbox: Inbox,
        *,
        home_there: Callable[[], bool] = lambda: True,
        until_idle: bool = False,
    ) -> None:
        """`inbox` brings the answers to what `lanes` were asked, and None, from a signal's handler, to leave."""
        self._world = world
        self._lanes = lanes
        self._inbox = inbox
        self._home_there = home_there
        self._until_idle = until_idle
        self._tasks: dict[str, _Task] = {}
        self._heap: list[_Due] = []
        self._numbers = itertools.count()
        self._leave: Leave | None = None
        self._look_s = self._beat_s = self._tidy_s = world.clock()
        self._busy_s = world.clock()
        self._told_trouble: str | None = None

    def run(self) -> Leave:
        """Until it has a reason to leave. The lock is given back, unless it is another's."""
        while self._leave is None:
            self.turn()
        if self._leave == "told":
            with suppress(LedgerError):  # the next one sees that this process has gone
                self._world.ledger.leave(self._world.holder)
        return self._leave

    def turn(self) -> None:
        """What is due; then waits for an answer, or until something is."""
        try:
            if self._world.clock() >= self._look_s:
                self._look()
            self._resume_due()
            if self._leave is None:
                self._take_answer()
        except LockLostError as error:
            self._world.say("supervise.lock_lost", error=error)
            self._leave = "lock_lost"

    @property
    def idle(self) -> bool:
        return not self._tasks and not self._world.aside.busy

    def _look(self) -> None:
        now = self._world.clock()
        self._look_s = now + LOOK_EVERY_S
        if not self._home_there():
            self._leave = "home_gone"
            return
        try:
            self._beat(now)
            self._sync()
            self._tidy(now)
            self._go_if_idle(now)
        except LockLostError:
            raise
        except LedgerError as error:
            self._trouble(error)
        else:
            self._told_trouble = None

    def _beat(self, now: float) -> None:
        if now < self._beat_s:
            return
        self._beat_s = now + BEAT_EVERY_S
        if not self._world.ledger.beat(self._world.holder, self._world.wall_ms()):
            self._world.say("supervise.taken_over")
            self._leave = "lock_lost"

    def _sync(self) -> None:
        """Cares for runs that are new, and wakes those of which something else is wanted."""
        if self._leave is not None:
            return
        active = {run.run: run for run in self._world.ledger.active_runs()}
        for name, run in active.items():
            task = self._tasks.get(name)
            if task is None:
                self._begin(name, run.wanted)
            elif task.wanted != run.wanted:
                task.wanted = run.wanted
                self._wake(task)
        for name in self._tasks.keys() - active.keys():
            self._wake(self._tasks[name])

    def _tidy(self, now: float) -> None:
        if now >= self._tidy_s:
            self._tidy_s = now + TIDY_EVERY_S
            self._world.ledger.drop_unused_packages(self._world.wall_ms())

    def _go_if_idle(self, now: float) -> None:
        if not self.idle or not self._until_idle:
            self._busy_s = now
            return
        if now - self._busy_s < IDLE_S or self._leave is not None:
            return
        # A run that is written down while the lock is held counts on us: its submitter looks at the lock afterwards.
        self._world.ledger.leave(self._world.holder)
        if not self._world.ledger.active_runs():
            self._leave = "idle"
        elif self._world.ledger.take(self._world.holder, self._world.wall_ms()) is not None:
            self._leave = "lock_lost"

    def _begin(self, name: str, wanted: str, at_s: float | None = None) -> None:
        task = self._tasks[name] = _Task(name, care(self._world, name), wanted)
        self._world.runs = len(self._tasks)
        self._pause(task, self._world.clock() if at_s is None else at_s)

    def _pause(self, task: _Task, at_s: float) -> None:
        task.due = next(self._numbers)
        heapq.heappush(self._heap, _Due(at_s, task.due, task))

    def _wake(self, task: _Task) -> None:
        if task.due is not None:
            self._pause(task, self._world.clock())

    def _resume_due(self) -> None:
        now = self._world.clock()
        while self._heap and self._heap[0].at_s <= now and self._leave is None:
            due = heapq.heappop(self._heap)
            if due.number == due.task.due and self._tasks.get(due.task.name) is due.task:
                self._step(due.task, Answer(due.task))

    def _take_answer(self) -> None:
        due_s = min((self._look_s, *(one.at_s for one in self._heap[:1])))
        try:
            answer: Answer[_Task] | None = self._inbox.get(timeout=max(0.0, due_s - self._world.clock()))
        except queue.Empty:
            return
        if answer is None:
            self._leave = "told"
        elif self._tasks.get(answer.ticket.name) is answer.ticket:
            self._step(answer.ticket, answer)

    def _step(self, task: _Task, answer: Answer[_Task]) -> None:
        try:
            wish = task.care.send(answer.value) if answer.error is None else task.care.throw(answer.error)
        except StopIteration:
            del self._tasks[task.name]
            self._world.runs = len(self._tasks)
        except LockLostError:
            raise
        except Exception as error:  # one run's trouble must not end the care for the others
            self._trouble(error, task.name)
            self._begin(task.name, task.wanted, self._world.clock() + RETRY_S)
        else:
            if isinstance(wish, Ask):
                task.due = None
                self._lanes.put(task, wish)
            else:
                self._pause(task, wish.until_s)

    def _trouble(self, error: Exception, run: str = "-") -> None:
        """A line for what people can mend, once while it lasts; a bug with its traceback."""
        said = f"{run} {error}"
        if said == self._told_trouble:
            return
        self._told_trouble = said
        if not isinstance(error, NpurunError):
            traceback.print_exception(type(error), error, error.__traceback__)
        values: dict[str, object] = {"run": run, "error": error, "seconds": f"{RETRY_S:.0f}"}
        self._world.say("supervise.trouble", **values)
        if not isinstance(error, LedgerError):  # who follows the run would wait without a word
            with suppress(LedgerError):
                self._world.ledger.event(run, None, "supervise.trouble", plain(values), self._world.wall_ms())
