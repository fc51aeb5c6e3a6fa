"""The loop of `npurun watch`: reads the ledger, draws, listens for q. Leaving it changes nothing of the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from submitter.errors import NpurunError
from submitter.watch.live import LiveRun
from submitter.watch.terminal.keys import Keys
from submitter.watch.terminal.log_tail import LogTail
from submitter.watch.terminal.pipe import PipeLines
from submitter.watch.terminal.screen import ACTIVE, Screen
from submitter.watch.view import RunView

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

DRAW_EVERY_S = 1.0
CLOCK_EVERY_S = 5.0
"""Without a change: the age of what is seen and the time left go on."""
CARE_EVERY_S = 5.0
LEAVING = frozenset("qQ")

Left = Literal["over", "quit"]


@dataclass
class Watching:
    live: LiveRun
    care: Callable[[], object]
    """Makes sure that a supervisor runs; returns soon."""
    language: str
    wall_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    clock: Callable[[], float] = time.monotonic
    _cared_s: float | None = None

    def refresh(self) -> bool:
        changed = self.live.refresh()
        now = self.clock()
        if self._cared_s is None or now - self._cared_s >= CARE_EVERY_S:
            self._cared_s = now
            view = self.view()
            if view.state in ACTIVE and view.supervisor is None:
                with suppress(NpurunError):  # the screen says that nobody cares
                    self.care()
        return changed

    def view(self) -> RunView:
        return self.live.view(self.wall_ms())


def in_pipe(watching: Watching, emit: Callable[[str], None], sleep: Callable[[float], None] = time.sleep) -> Left:
    """Until the run is over."""
    lines = PipeLines(watching.live, watching.language)
    while True:
        watching.refresh()
        view = watching.view()
        for line in lines.new(view):
            emit(line)
        if view.state not in ACTIVE:
            return "over"
        sleep(DRAW_EVERY_S)


@dataclass
class OnScreen:
    watching: Watching
    console: Console
    keys: Keys
    log: LogTail
    _drawn_s: float = field(default=0.0)
    _shown: tuple[object, ...] = ()

    def run(self) -> Left:
        """Until q is pressed, or the run is over and q is pressed: its end stays to be read."""
        with self._live() as draw:
            while True:
                changed = self.watching.refresh()
                self._draw(draw, changed)
                if LEAVING & set(self.keys.wait(DRAW_EVERY_S)):
                    return "over" if self.watching.view().state not in ACTIVE else "quit"

    def last(self) -> RenderableType:
        """What stays on the terminal afterwards."""
        from rich.console import Group

        return Group(*self._screen(8).lines(self.watching.view(), (), self.watching.wall_ms())[:7])

    def _draw(self, draw: Callable[[RenderableType], None], changed: bool) -> None:
        from rich.console import Group

        now = self.watching.clock()
        seen = (self.console.size, tuple(self.log.lines), str(self.log.trouble))
        if not changed and seen == self._shown and now - self._drawn_s < CLOCK_EVERY_S:
            return
        self._shown, self._drawn_s = seen, now
        screen = self._screen(self.console.size.height)
        view = self.watching.view()
        draw(Group(*screen.lines(view, self.log.lines, self.watching.wall_ms(), self.log.trouble)))

    def _screen(self, height: int) -> Screen:
        encoding = self.console.encoding.lower()
        return Screen(self.console.size.width, height, self.watching.language, encoding.startswith("utf"))

    @contextmanager
    def _live(self) -> Iterator[Callable[[RenderableType], None]]:
        from rich.live import Live

        with Live(console=self.console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:
            yield lambda content: live.update(content, refresh=True)
