"""An attempt that the cluster has: looked at until it has ended, stopped when its user wants that or when it hangs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.gang.record import RESUME_PREFIX, parse_resume
from submitter.gang.step_lines import Step, steps_in, trained
from submitter.gang.steps import total_in
from submitter.ledger import Attempt, Run
from submitter.supervise.alerting import Alerting
from submitter.supervise.catch_up import are_missing, catch_up
from submitter.supervise.endings import STOP_TOLD, ended, lost, told_of
from submitter.supervise.file_logger import FileSteps, file_of
from submitter.supervise.hang import HANG_TOLD, Bound, bound_of
from submitter.supervise.lanes import Care, Pause
from submitter.supervise.log_end import Fresh, LogEnd
from submitter.supervise.notices import recovered
from submitter.supervise.steps import as_rows
from submitter.supervise.telemetry import Telemetry
from submitter.supervise.world import POLL_FIRST_S, World, shown

POLL_GROWTH = 0.1
"""Of the time since the last change: ten seconds after it the pause grows, up to what `World.poll_cap_s` says."""
READ_EVERY_S = 5.0
"""Of the log, at the most often; as seldom as the job itself is asked for when that is more."""
NOTE_EVERY_S = 15.0
"""The ledger has what was seen at least this often; what changed, at once."""
LOST_LIMIT = 3
"""Polls in a row in which a cluster that answers does not know the job: it was restarted without its memory."""
ASK_STOP_EVERY_S = 5.0
"""Ray answers "stopped" for a PENDING job and does nothing: it is asked again."""
ORPHAN_AFTER_S = 960.0
"""Ray gives a PENDING job up after 900 s by itself (RAY_JOB_START_TIMEOUT_SECONDS on the head)."""
ORPHAN_LOOKS = 2
ORPHAN_EVERY_S = 60.0


def watch(world: World, run: Run, attempt: Attempt) -> Care[None]:
    """Until the end of the attempt is in the ledger."""
    watching = _Watching(world, run, attempt)
    while not (yield from watching.looked()):
        yield Pause(watching.next_s())


@dataclass(frozen=True)
class _Look:
    info: JobInfo | None
    fresh: Fresh | None = None
    """None: the log was not read, or cannot be."""
    samples: Sequence[Mapping[str, Any]] = ()
    filed: Sequence[Step] = ()
    """From the file logger's file."""


class _Watching:
    def __init__(self, world: World, run: Run, attempt: Attempt) -> None:
        self._world = world
        self._run = run
        self._attempt = attempt
        self._id = attempt.submission_id
        self._log = LogEnd()
        self._telemetry = Telemetry(self._id, world.clock)
        self._alerting = Alerting(world, run, attempt)
        self._file = FileSteps(file_of(attempt, world.ledger), attempt.intended_ms)
        now = world.clock()
        self._status: str | None = None
        self._changed_s = self._lived_s = now
        self._read_s = self._noted_s = now - NOTE_EVERY_S
        self._last_step = attempt.last_step
        self._bound: Bound = bound_of(world.ledger, attempt)
        self._missing = self._orphaned = 0
        self._caught_up = False
        """Once in a care: what is missing after that, the end of the attempt brings."""
        self._orphan_s = now
        self._stop_asked_s: float | None = None
        self._told = told_of(world, attempt)

    def looked(self) -> Care[bool]:
        """Whether the attempt is over."""
        seen = yield from self._world.call(self._run, self._look, on_away=self._lost_sight)
        if seen.info is None:
            return self._unknown()
        self._missing = 0
        if seen.info.ended:
            yield from ended(self._world, self._run, self._attempt, seen.info)
            return True
        self._note(seen.info, seen)
        if (yield from self._is_orphan(seen.info)):
            lost(self._world, self._run, self._attempt, "job_supervisor_actor_start_timeout")
            return True
        yield from self._stop_where_due()
        return False

    def next_s(self) -> float:
        now = self._world.clock()
        if self._missing or self._stop_asked_s is not None:
            return now + POLL_FIRST_S
        return now + min(max((now - self._changed_s) * POLL_GROWTH, POLL_FIRST_S), self._world.poll_cap_s())

    def _look(self, client: RayClient) -> _Look:
        """In a lane's thread."""
        info = client.job(self._id)
        if info is None or info.status != "RUNNING" or self._world.clock() - self._read_s < self._read_every_s():
            return _Look(info)
        self._read_s = self._world.clock()
        samples, filed = self._telemetry.read(client, info), self._file.read()
        try:
            return _Look(info, self._log.read(client, info), samples, filed)
        except RayError:  # the cluster's word on the job stands without it
            self._lived_s = self._world.clock()  # not measured is not silent
            return _Look(info, None, samples, filed)

    def _lost_sight(self) -> None:
        self._status = None  # what comes next is a change, and until then nothing was measured

    def _read_every_s(self) -> float:
        return max(READ_EVERY_S, self._world.poll_cap_s() - POLL_FIRST_S)

    def _unknown(self) -> bool:
        self._missing += 1
        if self._missing < LOST_LIMIT:
            return False
        lost(self._world, self._run, self._attempt, "cluster_lost")
        return True

    def _note(self, info: JobInfo, seen: _Look) -> None:
        now, fresh = self._world.clock(), seen.fresh
        changed = info.status != self._status
        if changed:
            self._status = info.status
            self._changed_s = self._lived_s = now
        if fresh is not None and fresh.grown:
            self._lived_s = now
            changed = self._note_lines(info, fresh.lines) or changed
        changed = self._note_steps(info, seen.filed) or changed
        self._world.ledger.record_samples(self._run.run, self._attempt.attempt, seen.samples)
        self._alerting.samples(seen.samples)
        self._alerting.judge(self._run.total_steps)
        if changed or now - self._noted_s >= NOTE_EVERY_S:
            self._noted_s = now
            self._world.ledger.observe(
                self._id,
                state=info.status,
                last_step=self._last_step,
                log_bytes=fresh.position if fresh else None,
                now_ms=self._world.wall_ms(),
            )

    def _note_lines(self, info: JobInfo, lines: list[str]) -> bool:
        """Whether a step was among them."""
        for line in lines:
            if line.startswith(RESUME_PREFIX) and (resume := parse_resume(line, self._id)):
                self._world.ledger.record_resumed(self._id, resume["step"])
                self._attempt = replace(self._attempt, resumed_from=resume["step"])
        self._learn_total(lines)
        return self._note_steps(info, steps_in(lines))

    def _learn_total(self, lines: list[str]) -> None:
        if self._run.total_steps is None and (total := total_in(lines)) is not None:
            self._world.ledger.learn_total(self._run.run, total)
            self._run = replace(self._run, total_steps=total)

    def _note_steps(self, info: JobInfo, steps: Sequence[Step]) -> bool:
        if not steps:
            return False
        if not self._caught_up and are_missing(self._attempt, self._last_step, steps):
            self._caught_up = True
            catch_up(self._world, self._run, self._attempt, info)
        rows = as_rows(steps, self._world.wall_ms())
        self._world.ledger.record_steps(self._run.run, self._attempt.attempt, rows)
        self._alerting.steps(rows, self._attempt.resumed_from)
        self._bound.note(steps, self._world.clock())
        if numbers := trained(steps):
            self._last_step = max(numbers[-1], self._last_step or 0)
            recovered(self._world, self._run, self._attempt, self._last_step, self._told)
        return True

    def _is_orphan(self, info: JobInfo) -> Care[bool]:
        """PENDING for longer than Ray itself allows, and Ray has nothing that would ever start it (ray#62766)."""
        since_ms = self._attempt.posted_ms or self._attempt.intended_ms
        now = self._world.clock()
        if info.status != "PENDING" or self._world.wall_ms() - since_ms < ORPHAN_AFTER_S * 1000 or now < self._orphan_s:
            return False
        self._orphan_s = now + ORPHAN_EVERY_S
        there = yield from self._world.call(self._run, self._has_starter)
        self._orphaned = 0 if there else self._orphaned + 1
        return self._orphaned >= ORPHAN_LOOKS

    def _stop_where_due(self) -> Care[None]:
        why = self._why_stop()
        now = self._world.clock()
        if why is None or (self._stop_asked_s is not None and now - self._stop_asked_s < ASK_STOP_EVERY_S):
            return
        told = STOP_TOLD if why == "user" else HANG_TOLD
        if told not in self._told:  # written down before it is done: it says who has ended the attempt
            self._told.add(told)
            silent = round((now - self._lived_s) / 60)
            self._world.note(
                self._run.run,
                self._attempt.attempt,
                told,
                submission=self._id,
                minutes=silent,
                step=shown(self._last_step),
            )
        self._stop_asked_s = now
        yield from self._world.call(self._run, self._ask_to_stop)

    def _has_starter(self, client: RayClient) -> bool:
        """In a lane's thread. A Ray that does not list actors in this way says nothing: then it is waited on."""
        try:
            return client.has_starter(self._id)
        except RayError:
            return True

    def _ask_to_stop(self, client: RayClient) -> None:
        """In a lane's thread. The next look tells what became of it."""
        with suppress(RayError):
            client.stop(self._id)

    def _why_stop(self) -> Literal["user", "hung"] | None:
        if self._world.wants_stop(self._run.run):
            return "user"
        if HANG_TOLD in self._told:
            return "hung"
        silent_s = self._read_s - self._lived_s  # as the log was when it was read: this process may have slept since
        return "hung" if self._status == "RUNNING" and silent_s >= self._bound.silent_s() else None
