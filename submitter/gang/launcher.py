"""What the driver asks of a launcher. One module per launcher, `launch_<name>.py`, with a function `launch`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .members import Gang
from .plan import Plan


@dataclass(frozen=True)
class LaunchResult:
    """How the trainer ended. `reason` is None when `code` says all (0: succeeded, else trainer_failed)."""

    code: int | None
    """The trainer's own exit code (torchrun: the first failing rank's; negative: a signal)."""
    reason: str | None = None
    """A key of `record.EXIT_OF_REASON`, such as "launch_failed"."""
    node: str | None = None
    """IP of the node that failed first."""
    evidence: tuple[str, ...] = ()


class Running(Protocol):
    """A trainer that has been started. The driver alone decides when to end it; every method is bounded."""

    def poll(self, wait_s: float) -> LaunchResult | None:
        """The result once everything has ended, else None after at most `wait_s` (0.25). May pass on output."""

    def stopped(self) -> None:
        """Ray has stopped the job: it has sent SIGTERM to every local descendant of the driver, not to other nodes."""

    def terminate(self) -> None:
        """End the trainer gently (SIGTERM). Returns at once; `kill` follows if `poll` has no result in time."""

    def kill(self) -> None:
        """End the trainer at once (SIGKILL). Returns within a few seconds."""


class Launch(Protocol):
    def __call__(self, plan: Plan, gang: Gang) -> Running:
        """Start the trainer on the reserved, proved gang. An exception here ends the attempt as launch_failed."""
