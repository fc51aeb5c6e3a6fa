"""Is it as fast as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from submitter.metrics.alerts.rule import Alert, Rule, shown
from submitter.metrics.alerts.statistics import Usual, latched, noise, now_and_usual
from submitter.metrics.alerts.window import Window
from submitter.metrics.names import STEP_S, TOKENS
from submitter.metrics.phases import OTHER, PHASE_NAMES, phase_seconds
from submitter.metrics.recent import Row

BY = Usual(short=10)
SLOWER = 1.3
"""Times the usual time of a step: less is often the data's doing."""
STILL_SLOWER = 1.15
NOISES = 5.0
LEAST_S = 1.0
"""Of a step that is so much longer nobody has to know, however short it was."""
CHECKPOINT = PHASE_NAMES["checkpoint"][0]


def _slower(window: Window) -> Iterator[Alert]:
    """A step takes 1.3 times what is usual, and more for each token too; checkpoint and validation left out.

    Source: what fail-slow studies of training clusters look for, a lasting change of iteration time against the job's
    own past (arXiv 2505.05713); answers that grow longer make steps longer, and are none.
    """
    rows = [row for row in window.rows if row.has(STEP_S)]
    seconds = [row.get(STEP_S) - row.get(CHECKPOINT, 0.0) for row in rows]
    pairs = now_and_usual(seconds, BY)
    if not pairs:
        return
    longer, spread = _work(rows)[-len(pairs) :], noise(seconds)
    begins = [
        now > SLOWER * usual * more and now - usual > max(LEAST_S, NOISES * spread)
        for (now, usual), more in zip(pairs, longer, strict=True)
    ]
    ends = [now < STILL_SLOWER * usual * more for (now, usual), more in zip(pairs, longer, strict=True)]
    since = latched(begins, ends)
    if since is None:
        return
    (now, usual), first = pairs[-1], rows[len(rows) - len(pairs) + since].step
    phase, before_s, phase_s = _cause(rows)
    values = {"value": shown(now), "usual": shown(usual), "times": shown(now / usual), "phase": phase}
    values |= {"phase_s": shown(phase_s), "phase_usual_s": shown(before_s)}
    yield Alert("NR907", "warning", None, first, rows[-1].step, values)


def _work(rows: Sequence[Row]) -> list[float]:
    """How many times the usual number of tokens a step has, at least 1; 1 where it is not logged."""
    tokens = [row.get(TOKENS, 0.0) for row in rows]
    pairs = now_and_usual(tokens, BY)
    return [1.0] * (len(rows) - len(pairs)) + [max(1.0, now / usual) if usual > 0 else 1.0 for now, usual in pairs]


def _cause(rows: Sequence[Row]) -> tuple[str, float, float]:
    """(phase, seconds that are usual, seconds now) of the phase that has grown most."""
    now, before = rows[-BY.short :], rows[-BY.short - BY.long : -BY.short]
    phases = [phase for phase in PHASE_NAMES if phase not in ("checkpoint", "validation")]
    grown = [(phase, _median_s(before, phase), _median_s(now, phase)) for phase in (*phases, OTHER)]
    return max(grown, key=lambda one: one[2] - one[1])


def _median_s(rows: Sequence[Row], phase: str) -> float:
    if phase == OTHER:
        return median(_other_s(row) for row in rows)
    return median(phase_seconds(row).get(phase, 0.0) for row in rows)


def _other_s(row: Row) -> float:
    inside = sum(took for phase, took in phase_seconds(row).items() if phase != "validation")
    return max(0.0, row.get(STEP_S) - inside)


RULES = (Rule("NR907", ("warning",), _slower),)
