"""What pages can watch: each subject is read once, however many look, and says what has changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from submitter.errors import NpurunError
from submitter.gang.secret_like import redacted
from submitter.supervise.log_end import LogEnd
from submitter.watch.live import LiveRuns, UnknownRunError
from submitter.watch.view import as_json
from submitter.watch.web import facts
from submitter.watch.web.api import run_document
from submitter.watch.web.site import Site

Message = dict[str, Any]
VOLATILE = frozenset({"eta", "goodput", "supervisor", "seen_ms"})
"""Of a run: they change with the clock; alone they are worth a message only so often."""
ANYWAY_S = 10.0
SHARE_DIGITS = 3
NAME_CHARS = 200


@dataclass
class Subject:
    """`read` is called in one thread at a time; None: nothing that was not said before."""

    every_s: float
    read: Callable[[], Message | None]
    first: Callable[[], Message | None]
    """For one that has just begun to look: all there is, as it was read last."""


def subject_of(key: Sequence[object], site: Site, runs: LiveRuns, language: str) -> Subject | None:
    """By what a page asks for: `["runs"]`, `["run", name]`, `["log", name, attempt]`, `["cluster"]`. None: no such."""
    match list(key):
        case ["runs"]:
            return _subject(_AllRuns(site, runs), 2.0)
        case ["run", str(name)] if len(name) <= NAME_CHARS:
            return _subject(_OneRun(site, name), 1.0)
        case ["log", str(name), int(number)] if len(name) <= NAME_CHARS:
            return _subject(_Log(site, name, number), 2.0)
        case ["cluster"]:
            return _subject(_Cluster(site, language), 5.0)
    return None


def _subject(source: Any, every_s: float) -> Subject:
    return Subject(every_s, source.read, source.first)


@dataclass
class _AllRuns:
    site: Site
    runs: LiveRuns
    _rows: Mapping[str, Message] = field(default_factory=dict)

    def read(self) -> Message | None:
        rows = {row.run: _steady(as_json(row)) for row in self.runs.rows(self.site.wall_ms())}
        changed = [row for name, row in rows.items() if self._rows.get(name) != row]
        gone = [name for name in self._rows if name not in rows]
        self._rows = rows
        return {"kind": "runs", "rows": changed, "gone": gone} if changed or gone else None

    def first(self) -> Message:
        return {"kind": "runs", "rows": list(self._rows.values()), "gone": []}


@dataclass
class _OneRun:
    site: Site
    name: str
    clock: Callable[[], float] = time.monotonic
    _said: Message | None = None
    _said_s: float = 0.0

    def read(self) -> Message | None:
        try:
            found = run_document(self.site.runs.fresh(self.name), self.site)
        except UnknownRunError:
            return None
        now = self.clock()
        same = self._said is not None and _lasting(found) == _lasting(self._said)
        if same and now - self._said_s < ANYWAY_S:
            return None
        self._said, self._said_s = found, now
        return self.first()

    def first(self) -> Message | None:
        return None if self._said is None else {"kind": "run", "run": self.name, "view": self._said}


@dataclass
class _Log:
    """What is new at the end of an attempt's log, while it runs."""

    site: Site
    name: str
    number: int
    _end: LogEnd = field(default_factory=LogEnd)

    def read(self) -> Message | None:
        run = self.site.ledger.run(self.name)
        attempt = next((one for one in self.site.ledger.attempts(self.name) if one.attempt == self.number), None)
        if run is None or attempt is None or attempt.state is not None:
            return None
        try:
            client = self.site.connect(run.address)
            info = client.job(attempt.submission_id)
            fresh = self._end.read(client, info) if info is not None else None
        except NpurunError:
            return None  # asked again in two seconds; the run's state says that the cluster is away
        if fresh is None or not fresh.lines:
            return None
        return {**self.first(), "lines": [redacted(line[:2000]) for line in fresh.lines[-400:]]}

    def first(self) -> Message:
        """A page has read the end by itself."""
        return {"kind": "log", "run": self.name, "attempt": self.number, "lines": []}


@dataclass
class _Cluster:
    site: Site
    language: str
    _said: Message | None = None

    def read(self) -> Message | None:
        clusters = facts.of_cluster(self.site.ledger, self.site.wall_ms(), self.language)
        found: Message = {"kind": "cluster", "clusters": clusters}
        if found == self._said:
            return None
        self._said = found
        return found

    def first(self) -> Message | None:
        return self._said


def _lasting(view: Message) -> Message:
    return {name: value for name, value in view.items() if name not in VOLATILE}


def _steady(row: Message) -> Message:
    """The share of the wall time changes with every look."""
    share = row["goodput"]
    return {**row, "goodput": None if share is None else round(share, SHARE_DIGITS)}
