"""What a check is: an id, the severities that it can give, and a pure function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from submitter.checks.case import Case, NotChecked
from submitter.checks.finding import Finding, Severity


@dataclass(frozen=True)
class Rule:
    """`id` is also the text id of its findings (`<id>`, `<id>.fix`) and of what it is about (`<id>.about`).

    The function's docstring names its source.
    """

    id: str
    severities: tuple[Severity, ...]
    check: Callable[[Case], Iterable[Finding | NotChecked]]
    ppo: bool = False
    """Only where the trainer reads verl's PPO configuration."""
    forcible: bool = True
    """`--force` may override its errors: False where the submission itself would break, or give a secret away."""

    @property
    def source(self) -> str:
        """What follows "Source: " in the docstring, on one line."""
        doc = " ".join((self.check.__doc__ or "").split())
        return doc.rpartition("Source: ")[2]
