"""One line per step, and one for what happens between: for pipes, files and terminals without a cursor."""

from __future__ import annotations

from collections.abc import Iterator

from submitter.supervise.follow_run import words_of
from submitter.texts import TABLE
from submitter.texts import text as words
from submitter.watch.live import LiveRun
from submitter.watch.terminal.figures import number
from submitter.watch.view import RunView


class PipeLines:
    """What is new since the last call."""

    def __init__(self, live: LiveRun, language: str) -> None:
        self._live = live
        self._language = language
        self._rows: int | None = None
        self._event: int | None = None

    def new(self, view: RunView) -> Iterator[str]:
        """At first the last step and no events: what was before is in `status` and `export`."""
        yield from self._events(view)
        yield from self._steps(view)

    def _events(self, view: RunView) -> Iterator[str]:
        last = max((event.id for event in view.events), default=0)
        if self._event is not None:
            for event in view.events:
                if event.id > self._event and event.text_id in TABLE:
                    text_id, values = words_of(event)
                    yield words(text_id, self._language, **values)
        self._event = max(last, self._event or 0)

    def _steps(self, view: RunView) -> Iterator[str]:
        names = {key: curve.name for key, curve in view.curves.items()}
        columns = self._live.columns(list(names.values()))
        size = len(columns.steps)
        first = size - 1 if self._rows is None else self._rows
        if self._rows is None and columns.counted:
            first = columns.counted[-1]
        for row in range(max(0, first), size):
            values = {key: columns.values[name][row] for key, name in names.items() if name in columns.values}
            said = [f"{key} {number(value)}" for key, value in values.items() if value == value]
            of = f"/{view.total_steps}" if view.total_steps else ""
            yield "  ".join([f"step {columns.steps[row]}{of}", *said, f"a{columns.attempts[row]}"])
        self._rows = size
