"""What a campaign adds up to. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

MEDIAN_OF = 5
MEDIAN_BOUND_S = 2.0
"""From a driver's end to the next attempt's accepted POST."""


@dataclass(frozen=True)
class AttemptSeen:
    number: int
    reason: str | None
    resumed_from: int | None
    ended_s: float | None = None
    """By Ray's clock of the job."""
    posted_s: float | None = None
    wait_s: float | None = None
    """That was decided after it; None: nothing was to follow by itself."""
    expected: frozenset[str] = frozenset({"succeeded"})
    """Reasons that are right for what was done to it."""


@dataclass(frozen=True)
class RunSeen:
    name: str
    state: str
    wanted: str
    """The state that is right for what was done to it."""
    steps: int | None
    """How many it has to train; None: it cannot train all."""
    attempts: tuple[AttemptSeen, ...]
    trained: tuple[tuple[int, int], ...]
    """(attempt, step) in the order in which they were trained."""
    posted: tuple[int, ...]
    """Numbers of the attempts that Ray knows."""


@dataclass(frozen=True)
class Tally:
    faults: int
    runs: int
    attempts: int
    lost_steps: int
    """That were trained again."""
    double_submissions: int
    lost_runs: int
    wrong_reasons: tuple[str, ...]
    resubmitted_s: tuple[float, ...]
    """From Ray's end of an attempt to the next one's accepted POST, without the wait that was decided."""

    @property
    def broken(self) -> bool:
        return bool(self.double_submissions or self.lost_runs or self.wrong_reasons or self.slow)

    @property
    def slow(self) -> bool:
        """Of fewer than `MEDIAN_OF` a median says nothing: one slow look at a log decides it."""
        return len(self.resubmitted_s) >= MEDIAN_OF and statistics.median(self.resubmitted_s) > MEDIAN_BOUND_S

    def lines(self) -> list[str]:
        found = [
            f"faults {self.faults}, runs {self.runs}, attempts {self.attempts}",
            f"lost steps {self.lost_steps} (trained again)",
            f"double submissions {self.double_submissions} (must be 0)",
            f"lost runs {self.lost_runs} (must be 0)",
            f"wrong reasons {len(self.wrong_reasons)} (must be 0)",
            *(f"  {wrong}" for wrong in self.wrong_reasons),
        ]
        if self.resubmitted_s:
            median, worst = statistics.median(self.resubmitted_s), max(self.resubmitted_s)
            found.append(
                f"driver's end to the next POST accepted: median {median:.2f} s (at most {MEDIAN_BOUND_S:g}), "
                f"worst {worst:.2f} s, of {len(self.resubmitted_s)}; backoff excluded"
            )
        return found


def tally(faults: int, runs: Sequence[RunSeen]) -> Tally:
    return Tally(
        faults=faults,
        runs=len(runs),
        attempts=sum(len(run.attempts) for run in runs),
        lost_steps=sum(len(run.trained) - len({step for _, step in run.trained}) for run in runs),
        double_submissions=sum(doubled(run) for run in runs),
        lost_runs=sum(is_lost(run) for run in runs),
        wrong_reasons=tuple(wrong for run in runs for wrong in wrong_reasons(run)),
        resubmitted_s=tuple(seconds for run in runs for seconds in resubmitted_s(run)),
    )


def doubled(run: RunSeen) -> int:
    """Attempts that Ray has and the ledger has not, steps trained twice in one attempt, or after the next one began."""
    unknown = set(run.posted) - {attempt.number for attempt in run.attempts}
    twice = len(run.trained) - len(set(run.trained))
    late = sum(number < before for (number, _), before in zip(run.trained, _newest(run.trained), strict=True))
    return len(unknown) + twice + late


def is_lost(run: RunSeen) -> bool:
    return run.state != run.wanted or (run.steps is not None and counted(run) != list(range(1, run.steps + 1)))


def counted(run: RunSeen) -> list[int]:
    """The steps that count: of each attempt those up to where the next one went on."""
    kept: list[int] = []
    for attempt in run.attempts:
        own = [step for number, step in run.trained if number == attempt.number]
        if own:
            kept = [step for step in kept if step <= (attempt.resumed_from or 0)] + own
    return kept


def wrong_reasons(run: RunSeen) -> Iterator[str]:
    for attempt in run.attempts:
        if attempt.reason not in attempt.expected:
            yield f"{run.name}-a{attempt.number}: {attempt.reason}, not {' or '.join(sorted(attempt.expected))}"


def resubmitted_s(run: RunSeen) -> Iterator[float]:
    for before, after in pairwise(run.attempts):
        if before.ended_s is not None and before.wait_s is not None and after.posted_s is not None:
            yield after.posted_s - before.ended_s - before.wait_s


def _newest(trained: Iterable[tuple[int, int]]) -> Iterator[int]:
    newest = 0
    for number, _ in trained:
        newest = max(newest, number)
        yield newest
