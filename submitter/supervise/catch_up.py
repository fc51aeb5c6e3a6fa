"""Steps that nobody saw when they were logged: the whole log is read once more, as a stream, beside the loop.

The supervisor reads the end of a log. What was logged while it was away, or faster than it reads, is missing then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from submitter.cluster.client import JobInfo, RayClient
from submitter.errors import NpurunError
from submitter.gang.step_lines import Step, StepReader
from submitter.ledger import Attempt, Ledger, Run
from submitter.supervise.hang import took_s
from submitter.supervise.world import World

READ_BOUND_S = 600.0
"""For one log: 10 GB at 20 MB/s. What was read by then is in the ledger."""
BATCH = 500
"""Steps in one transaction, some MB; others use the ledger in between."""
_TESTING = "timing_s/testing"
"""Seconds of a validation, which verl does not count among those of the step."""


def are_missing(attempt: Attempt, known: int | None, steps: Iterable[Step]) -> bool:
    """Whether steps lie between what the ledger has (`known`: the last one, None: none) and the first of `steps`.

    verl numbers its steps one after the other, from the checkpoint that it resumes on.
    """
    numbers = [step.number for step in steps if step.number > 0]
    before = known if known is not None else attempt.resumed_from or 0
    return bool(numbers) and min(numbers) > before + 1


def catch_up(world: World, run: Run, attempt: Attempt, info: JobInfo) -> None:
    """Returns at once. A cluster that does not answer is not asked again: the steps stay missing."""

    def work() -> None:
        try:
            found = world.cluster(run.address).do(lambda client: _read_whole(client, info, world.ledger, attempt))
            world.say("supervise.caught_up", submission=info.submission_id, steps=found)
        except NpurunError as error:
            world.say("supervise.not_caught_up", submission=info.submission_id, error=error)

    world.aside.put(info.submission_id, work)


def _read_whole(client: RayClient, info: JobInfo, ledger: Ledger, attempt: Attempt) -> int:
    return read_steps(client.log_of(info, -1), ledger, attempt)


def read_steps(
    chunks: Iterable[bytes], ledger: Ledger, attempt: Attempt, clock: Callable[[], float] = time.monotonic
) -> int:
    """All steps of a log into the ledger, where those that are there stay as they are; how many there were."""
    began, count, batch = clock(), 0, []
    for row in _dated(_steps(chunks, lambda: clock() - began > READ_BOUND_S), _began_ms(attempt)):
        batch.append(row)
        count += 1
        if len(batch) >= BATCH:
            ledger.record_steps(attempt.run, attempt.attempt, batch)
            batch = []
    ledger.record_steps(attempt.run, attempt.attempt, batch)
    return count


def _steps(chunks: Iterable[bytes], is_late: Callable[[], bool]) -> Iterator[Step]:
    reader = StepReader()
    for chunk in chunks:
        yield from reader.feed(chunk)
        if is_late():
            return


def _dated(steps: Iterable[Step], began_ms: int) -> Iterator[tuple[int, int, dict[str, float]]]:
    """A log has no times: each step comes after those before it, by what verl measured of them."""
    at_ms = began_ms
    for step in steps:
        at_ms += round(((took_s(step) or 0.0) + step.metrics.get(_TESTING, 0.0)) * 1000)
        yield step.number, at_ms, step.metrics


def _began_ms(attempt: Attempt) -> int:
    return attempt.started_ms or attempt.posted_ms or attempt.intended_ms
