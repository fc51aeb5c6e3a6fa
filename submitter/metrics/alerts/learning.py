"""Is it learning: numbers that are none, the reward, the entropy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from submitter.metrics.alerts.names import ENTROPY, FINITE, GRAD_NORM, REWARD
from submitter.metrics.alerts.rule import Alert, Rule, Value, shown
from submitter.metrics.alerts.statistics import latched, noise, rolling_median, wild_noise
from submitter.metrics.alerts.window import Series, Window
from submitter.metrics.recent import is_number

BAD_STEPS = 20
"""A number that was none is told of for so many steps."""

CONSTANT_STEPS = 20
"""A reward that is the very same for so many steps gives no gradient: every answer is worth as much as any other."""
FLAT_AFTER = 300
"""A slow learner shows in so many steps, over noise of a tenth of what there is to gain."""
FLAT_SHARE = 0.2
"""And not before so much of a long run."""
FLAT_NOW = 50
FLAT_HALF = 150
"""Steps of the two stretches that would show a rise."""
TOP = 0.95
"""Of a reward of at most 1: who gets almost everything cannot rise any more."""
CERTAIN = 3.0
"""Errors: more is no chance."""
MEDIAN_ERROR = 1.25
"""The error of a median of n normal numbers is that of one of them, times this, over the root of n."""

NOW_STEPS = 10
BEST_STEPS = 20
COLLAPSE_STEPS = 15
COLLAPSE_SHARE = 0.4
"""So much of what had been gained is lost."""
COLLAPSE_NOISES = 6.0

ENTROPY_LOW = 0.02
"""Nats per token: the next token is all but certain."""
ENTROPY_SHARE = 0.05
"""Of what it was at the beginning."""
ENTROPY_SMALL = 0.2
"""Above it an entropy is not low, however high it began."""
RELIEF = 1.5
"""What is too low ends at the limit times this."""


def _not_finite(window: Window) -> Iterator[Alert]:
    """Loss, gradient norm, KL, entropy or reward was nan or infinite in the last 20 steps.

    Source: verl's FSDP engine leaves an update out when the gradient norm is not finite, and goes on; any other metric
    of the table that is none says that what is trained on, or the weights, are spoilt.
    """
    recent = window.rows[-BAD_STEPS:]
    bad = [
        (row.step, name, row.metrics[name])
        for row in recent
        for name in FINITE
        if not is_number(row.metrics.get(name, 0.0))
    ]
    if not bad:
        return
    first, name, value = next((one for one in bad if one[1] != GRAD_NORM), bad[0])
    steps = {step for step, _, _ in bad}
    values: dict[str, Value] = {"metric": name, "value": str(value), "first": first}
    values |= {"count": len(steps), "steps": len(recent)}
    skipped = name == GRAD_NORM and len(steps) < 3
    yield Alert("NR901", "warning" if skipped else "error", None, first, window.last_step, values)


def _flat(window: Window) -> Iterator[Alert]:
    """The reward is where it began after 300 steps (a fifth of a longer run), or does not change at all for 20.

    Source: GRPO's advantage is zero where all answers to a prompt have the same reward (DAPO, arXiv 2503.14476, 3.2).
    """
    series = window.series(*REWARD)
    tail = series.values[-CONSTANT_STEPS:]
    begin = window.begin(series.name)
    if len(tail) == CONSTANT_STEPS and min(tail) == max(tail) < TOP:
        yield _flat_alert(series, _constant_since(series), tail[-1], tail[-1])
    elif len(begin) >= BEST_STEPS // 2 and len(series) >= 2 * FLAT_HALF and _is_flat(window, series, begin):
        yield _flat_alert(series, window.head[0].step, rolling_median(series.values, FLAT_NOW)[-1], median(begin))


def _is_flat(window: Window, series: Series, begin: Sequence[float]) -> bool:
    """Not away from its begin, and not rising either; it ends when one of them is certain."""
    start, spread = median(begin), MEDIAN_ERROR * noise([*begin, *series.values])
    from_start = _in_errors(spread, len(begin), FLAT_NOW)
    of_halves = _in_errors(spread, FLAT_HALF, FLAT_HALF)
    now, half = rolling_median(series.values, FLAT_NOW), rolling_median(series.values, FLAT_HALF)
    after = max(FLAT_AFTER, FLAT_SHARE * (window.total_steps or 0))
    begins, ends = [], []
    for place in range(2 * FLAT_HALF - 1, len(series)):
        away, rise = now[place] - start, half[place] - half[place - FLAT_HALF]
        is_late = series.steps[place] >= after and now[place] < TOP
        begins.append(is_late and abs(away) <= from_start and rise <= 0)
        ends.append(abs(away) > CERTAIN * from_start or rise > CERTAIN * of_halves)
    return latched(begins, ends) is not None


def _collapse(window: Window) -> Iterator[Alert]:
    """The reward fell from its best by four tenths of what had been gained, and by more than noise can.

    Source: a reward that falls for good while KL or the rollout's mismatch rises is how published collapses look
    (https://richardli.xyz/rl-collapse); a dip of single steps is not.
    """
    series = window.series(*REWARD)
    if len(series) < 2 * BEST_STEPS:
        return
    now, smooth = rolling_median(series.values, COLLAPSE_STEPS), _smooth(series.values)
    spread = wild_noise(series.values)
    begin = window.begin(series.name)
    base = min([*smooth, *([median(begin)] if begin else [])])
    begins, ends, best = [], [], smooth[0]
    tops = []
    for one, level in zip(now, smooth, strict=True):
        best = max(best, level)
        tops.append(best)
        limit = max(COLLAPSE_NOISES * spread, COLLAPSE_SHARE * _gained(best, base))
        begins.append(best - one > limit)
        ends.append(best - one < limit / 2)
    since = latched(begins, ends)
    if since is not None:
        values = {"value": shown(now[-1]), "best": shown(tops[-1]), "first": series.steps[since]}
        yield Alert("NR903", "error", None, series.steps[since], series.steps[-1], {"metric": series.name, **values})


def _entropy(window: Window) -> Iterator[Alert]:
    """The entropy of the policy is almost nothing: below 0.02 nats, or 5 % of its beginning and below 0.2.

    Source: performance is bought with entropy and ends where that does (arXiv 2505.22617; a fall by 73 % in 200 steps
    is usual there, so that a fall alone says nothing); DAPO (arXiv 2503.14476, 3.1) widens the upper clip against it.
    """
    series = window.series(*ENTROPY)
    if len(series) < BEST_STEPS:
        return
    begin = window.begin(series.name)
    start = median(begin) if begin else max(rolling_median(series.values, NOW_STEPS))
    limit = max(ENTROPY_LOW, min(ENTROPY_SHARE * start, ENTROPY_SMALL))
    if start <= RELIEF * limit:  # it never had any
        return
    now = rolling_median(series.values, NOW_STEPS)
    since = latched([one <= limit for one in now], [one > RELIEF * limit for one in now])
    if since is not None:
        values = {"value": shown(now[-1]), "begin": shown(start), "limit": shown(limit), "metric": series.name}
        yield Alert("NR905", "warning", None, series.steps[since], series.steps[-1], values)


def _in_errors(spread: float, *counts: int) -> float:
    """The error of the distance of two medians of so many numbers."""
    return spread * math.sqrt(math.fsum(1 / count for count in counts))


def _flat_alert(series: Series, since: int, value: float, begin: float) -> Alert:
    last = series.steps[-1]
    values = {"metric": series.name, "value": shown(value), "begin": shown(begin), "steps": last - since + 1}
    return Alert("NR902", "warning", None, since, last, values)


def _constant_since(series: Series) -> int:
    place = len(series) - 1
    while place and series.values[place - 1] == series.values[-1]:
        place -= 1
    return series.steps[place]


def _smooth(values: Sequence[float]) -> list[float]:
    """Before there are enough of them, the first full median stands in."""
    medians = rolling_median(values, BEST_STEPS)
    return [medians[BEST_STEPS - 1]] * BEST_STEPS + medians[BEST_STEPS:]


def _gained(best: float, base: float) -> float:
    """What can be lost: what was gained where that shows, else what there is."""
    return max(best - base, abs(best))


RULES = (
    Rule("NR901", ("error", "warning"), _not_finite),
    Rule("NR902", ("warning",), _flat),
    Rule("NR903", ("error",), _collapse),
    Rule("NR905", ("warning",), _entropy),
)
