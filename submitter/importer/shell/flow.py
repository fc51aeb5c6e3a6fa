"""How control leaves a place: `exit`, `return`, `break`, `continue`."""

from __future__ import annotations

from submitter.errors import Place


class ExitShell(Exception):
    def __init__(self, status: int, place: Place) -> None:
        super().__init__(status)
        self.status = status
        self.place = place


class DiscardCommand(Exception):
    """An error in an expansion: bash says it, drops the whole command of the top level, and goes on with the next."""


class ReturnFrom(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class BreakLoop(Exception):
    def __init__(self, levels: int) -> None:
        super().__init__(levels)
        self.levels = levels


class ContinueLoop(Exception):
    def __init__(self, levels: int) -> None:
        super().__init__(levels)
        self.levels = levels
