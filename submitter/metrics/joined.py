"""Attempts joined to one run: which row of each step counts. Pure.

An attempt goes on from a checkpoint: it trains again what earlier ones had trained after it. From its first trained
step on, their rows for those steps are void.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import lt

Resumed = Mapping[int, int | None]
"""By attempt, the step of the checkpoint that it goes on from; None or absent: from the start, or not known."""


class Begun:
    """After which step each attempt that has trained took over."""

    def __init__(self) -> None:
        self._after: dict[int, int] = {}

    def note(self, attempt: int, resumed_from: int | None, step: int) -> int | None:
        """A step that the attempt trained. The step after which it takes over, where that was not known before."""
        after = step - 1 if resumed_from is None else resumed_from
        if after >= self._after.get(attempt, after + 1):
            return None
        self._after[attempt] = after
        return after

    def is_void(self, attempt: int, step: int) -> bool:
        """A later attempt trains the step again, or has done so."""
        return any(later > attempt and step > after for later, after in self._after.items())


class Joined:
    """Which rows count, by their place in columns that only grow. Fed in parts or at once: the same comes out.

    A row is counted (at most one of each step), void (trained again later), or beside: it repeats what is there, as
    the validation does that a resumed attempt begins with.
    """

    def __init__(self) -> None:
        self.steps: array[int] = array("q")
        """Ascending, each once."""
        self.rows: array[int] = array("q")
        """Of each of `steps` the row that counts."""
        self.void: array[int] = array("q")
        self.beside: array[int] = array("q")
        self.size = 0
        """Rows seen so far."""
        self.rewritten = 0
        """How often what counts has changed otherwise than by a further step at its end."""
        self._ranks: array[int] = array("q")
        """Of each of `steps` its attempt; below 0: it was not trained in it, but validated."""
        self._begun = Begun()

    def add(self, steps: Sequence[int], attempts: Sequence[int], resumed: Resumed) -> None:
        """The rows after those that were added before."""
        for attempt, begin, end in _stretches(steps, attempts):
            self._add(attempt, steps[begin:end], resumed.get(attempt))
            self.size += end - begin

    def _add(self, attempt: int, steps: Sequence[int], resumed_from: int | None) -> None:
        """Of one attempt, ascending."""
        trained = bisect_right(steps, resumed_from or 0)
        for number, step in enumerate(steps[:trained], self.size):
            self._place(step, number, attempt, -attempt)
        if trained == len(steps):
            return
        after = self._begun.note(attempt, resumed_from, steps[trained])
        if after is not None:
            self._take_over(attempt, after)
        self._place_all(steps[trained:], self.size + trained, attempt)

    def _take_over(self, attempt: int, after: int) -> None:
        begin = bisect_right(self.steps, after)
        later = range(begin, len(self.steps))
        kept = [place for place in later if abs(self._ranks[place]) >= attempt]
        self.void.extend(self.rows[place] for place in later if abs(self._ranks[place]) < attempt)
        if len(kept) == len(later):
            return
        self.rewritten += 1
        for column in (self.steps, self.rows, self._ranks):
            column[begin:] = array("q", [column[place] for place in kept])

    def _place_all(self, steps: Sequence[int], row: int, attempt: int) -> None:
        is_newest = not self.steps or steps[0] > self.steps[-1]
        if is_newest and not self._begun.is_void(attempt, steps[-1]):
            self.steps.extend(steps)
            self.rows.extend(range(row, row + len(steps)))
            self._ranks.extend([attempt] * len(steps))
            return
        for number, step in enumerate(steps, row):
            self._place(step, number, attempt, attempt)

    def _place(self, step: int, row: int, attempt: int, rank: int) -> None:
        place = bisect_left(self.steps, step)
        if self._begun.is_void(attempt, step):
            self.void.append(row)
        elif place == len(self.steps) or self.steps[place] != step:
            self.rewritten += place < len(self.steps)
            for column, value in ((self.steps, step), (self.rows, row), (self._ranks, rank)):
                column.insert(place, value)
        elif _is_better(rank, self._ranks[place]):
            self.rewritten += 1
            self.beside.append(self.rows[place])
            self.rows[place], self._ranks[place] = row, rank
        else:
            self.beside.append(row)


def _is_better(rank: int, than: int) -> bool:
    """Trained counts more than validated, then the later attempt."""
    return (rank > 0, abs(rank)) > (than > 0, abs(than))


def _stretches(steps: Sequence[int], attempts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(attempt, begin, end) of neighbours that are of one attempt, each step greater than the one before."""
    begin = 0
    for attempt, alike in groupby(attempts):
        end = begin + sum(1 for _ in alike)
        part = steps[begin:end]
        if all(map(lt, part, part[1:])):
            yield attempt, begin, end
        else:
            yield from ((attempt, begin + first, begin + last) for first, last in _ascending(part))
        begin = end


def _ascending(steps: Sequence[int]) -> Iterator[tuple[int, int]]:
    begin = 0
    for place in range(1, len(steps) + 1):
        if place == len(steps) or steps[place] <= steps[place - 1]:
            yield begin, place
            begin = place
