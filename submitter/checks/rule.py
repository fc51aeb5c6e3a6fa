"""What a check is: an id and a pure function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from submitter.checks.finding import Finding
from submitter.job.model import Job


@dataclass(frozen=True)
class Rule:
    """`id` is also the text id of its findings; the function's docstring names its source."""

    id: str
    check: Callable[[Job], list[Finding]]
