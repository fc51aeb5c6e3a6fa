"""Is it stable: gradient norm, KL, the two policies that should be one, answers that are cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from submitter.metrics.alerts.names import (
    CLIP_RATIO,
    GRAD_NORM,
    POLICY_KL,
    PROBS_CORR,
    PROBS_DIFF,
    REFERENCE_KL,
    RESPONSE_MAX,
    ROLLOUT_KL,
)
from submitter.metrics.alerts.rule import Alert, Rule, shown
from submitter.metrics.alerts.statistics import Usual, latched, now_and_usual, rolling_median
from submitter.metrics.alerts.window import Series, Window

OF_EIGHT, OF_TEN = Usual(short=8), Usual(short=10)


@dataclass(frozen=True)
class Surge:
    """A metric is so many times what is usual, and not merely noise around nothing."""

    times: float
    floor: float
    """Below it no value is high."""
    level: float | None = None
    """From it on every value is high, whatever is usual."""
    by: Usual = OF_EIGHT


@dataclass(frozen=True)
class Surged:
    since: int
    value: float
    usual: float


GRAD_NORM_SURGE = Surge(times=5.0, floor=0.0)
POLICY_KL_SURGE = Surge(times=10.0, floor=0.02, level=0.1)
REFERENCE_KL_SURGE = Surge(times=5.0, floor=0.2)
PROBS_DIFF_SURGE = Surge(times=3.0, floor=0.01, level=0.03, by=OF_TEN)
ROLLOUT_KL_SURGE = Surge(times=5.0, floor=0.02, level=0.1, by=OF_TEN)

CORR_LOW, CORR_FINE = 0.9, 0.93
CORR_STEPS = 10

CUT_SHARE, CUT_FINE = 0.3, 0.2
CUT_STEPS, CUT_AFTER = 20, 30
REAL_ANSWER_TOKENS = 64
"""Shorter bounds are rehearsals, whose untrained model never ends an answer."""


def _grad_norm(window: Window) -> Iterator[Alert]:
    """The norm of the gradients, before they are clipped, is 5 times what is usual, in the median of 8 steps.

    Source: single peaks are clipped (`optim.clip_grad`, 1.0 in verl) and harmless; a level that stays up goes ahead of
    most published collapses (https://richardli.xyz/rl-collapse).
    """
    yield from _surge_alert("NR904", window.series(GRAD_NORM), GRAD_NORM_SURGE)


def _kl(window: Window) -> Iterator[Alert]:
    """The policy moves too far in one step (`ppo_kl` from 0.1 on, or 10 times the usual), or runs away from the
    reference (5 times the usual KL, and above 0.2).

    Source: PPO implementations stop a batch's updates at 0.01 to 0.02 (Spinning Up's and Stable-Baselines3's
    `target_kl`); 0.1 is far beyond.
    """
    for name, surge in ((POLICY_KL, POLICY_KL_SURGE), *((name, REFERENCE_KL_SURGE) for name in REFERENCE_KL)):
        found = list(_surge_alert("NR906", window.series(name), surge))
        if found:
            yield found[0]
            return


def _mismatch(window: Window) -> Iterator[Alert]:
    """The probabilities that the rollout engine and the trainer give to the same tokens drift apart.

    Source: verl's FAQ expects a `rollout_probs_diff_mean` below 0.005; the issues with a collapse show 0.03 and more
    (verl 3894, 4162); a correlation close to 1 is what MiniMax-M1 (arXiv 2506.13585) trained with.
    """
    diff = _surge_alert("NR908", window.series(PROBS_DIFF), PROBS_DIFF_SURGE)
    kl = _surge_alert("NR908", window.series(ROLLOUT_KL), ROLLOUT_KL_SURGE)
    for found in (*diff, *kl, *_uncorrelated(window.series(PROBS_CORR))):
        yield found
        return


def _cut_off(window: Window) -> Iterator[Alert]:
    """Three tenths of the answers, or more, end at `data.max_response_length`, in the median of 20 steps.

    Source: cut answers are graded as wrong whatever they were about to say, which is noise (DAPO, arXiv 2503.14476,
    3.4). No word before step 30, nor where an answer has fewer than 64 tokens.
    """
    series, longest = window.series(CLIP_RATIO), window.series(RESPONSE_MAX)
    if len(series) < CUT_AFTER or not len(longest) or max(longest.values) < REAL_ANSWER_TOKENS:
        return
    now = rolling_median(series.values, CUT_STEPS)
    since = latched(
        [one >= CUT_SHARE for one in now[CUT_AFTER - 1 :]], [one < CUT_FINE for one in now[CUT_AFTER - 1 :]]
    )
    if since is not None:
        values = {"percent": shown(100 * now[-1]), "limit": shown(100 * CUT_SHARE), "length": shown(longest.values[-1])}
        first = series.steps[CUT_AFTER - 1 + since]
        yield Alert("NR909", "warning", None, first, series.steps[-1], {"metric": series.name, **values})


def surged(series: Series, surge: Surge) -> Surged | None:
    """What still holds at the last step; it ends at half of what begins it."""
    values = [abs(value) for value in series.values]
    pairs = now_and_usual(values, surge.by)
    begins = [_is_high(now, usual, surge, 1.0) for now, usual in pairs]
    since = latched(begins, [not _is_high(now, usual, surge, 0.5) for now, usual in pairs])
    if since is None:
        return None
    return Surged(series.steps[len(values) - len(pairs) + since], *pairs[-1])


def _is_high(now: float, usual: float, surge: Surge, share: float) -> bool:
    if surge.level is not None and now >= surge.level * share:
        return True
    return now >= surge.floor * share and now > surge.times * share * usual


def _surge_alert(name: str, series: Series, surge: Surge) -> Iterator[Alert]:
    found = surged(series, surge)
    if found is not None:
        yield _changed(name, series, found.since, found.value, found.usual)


def _uncorrelated(series: Series) -> Iterator[Alert]:
    now = rolling_median(series.values, CORR_STEPS)[CORR_STEPS - 1 :]
    since = latched([one < CORR_LOW for one in now], [one > CORR_FINE for one in now])
    if since is not None:
        yield _changed("NR908", series, series.steps[CORR_STEPS - 1 + since], now[-1], 1.0)


def _changed(name: str, series: Series, since: int, value: float, usual: float) -> Alert:
    last = series.steps[-1]
    values = {"metric": series.name, "value": shown(value), "usual": shown(usual), "steps": last - since + 1}
    return Alert(name, "warning", None, since, last, values)


RULES = (
    Rule("NR904", ("warning",), _grad_norm),
    Rule("NR906", ("warning",), _kl),
    Rule("NR908", ("warning",), _mismatch),
    Rule("NR909", ("warning",), _cut_off),
)
