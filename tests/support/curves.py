"""Metrics like those that verl 0.9 logs, without chance: the same run, step and attempt always give the same number."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import add

SAVE_EVERY = 20
TEST_EVERY = 10
"""Steps between two checkpoints, and between two validations."""
TOKENS = 512 * 1_900
NPUS_PER_NODE = 16
VALIDATION = "val-core/math500/acc/mean@1"


@dataclass(frozen=True)
class Curve:
    name: str
    first: float
    last: float
    """What it comes close to at the end of the run."""
    noise: float
    """Its greatest distance from the smooth curve."""

    def values(self, steps: Sequence[int], total: int, seed: float) -> list[float]:
        drop, last, noise, pace = self.first - self.last, self.last, self.noise, -4 / total
        exp, sin = math.exp, math.sin
        return [last + drop * exp(pace * s) + noise * (sin(s * 12.9898 + seed) * 43758.5453 % 2 - 1) for s in steps]


CURVES = (
    Curve("critic/rewards/mean", 0.06, 0.81, 0.03),
    Curve("actor/entropy", 1.35, 0.42, 0.02),
    Curve("rollout_corr/kl", 4e-4, 8e-4, 1e-4),
    Curve("actor/grad_norm", 0.55, 0.25, 0.05),
    Curve("response_length/mean", 620.0, 1_840.0, 40.0),
    Curve("critic/score/mean", 0.06, 0.82, 0.03),
    Curve("critic/rewards/max", 1.0, 1.0, 0.0),
    Curve("critic/rewards/min", 0.0, 0.0, 0.0),
    Curve("critic/advantages/mean", 0.02, 0.01, 0.02),
    Curve("actor/ppo_kl", 2e-4, 3e-4, 1e-4),
    Curve("actor/pg_loss", 0.02, -0.01, 0.02),
    Curve("actor/loss", 0.02, -0.01, 0.02),
    Curve("actor/pg_clipfrac", 0.002, 0.004, 0.001),
    Curve("actor/lr", 1e-6, 1e-6, 0.0),
    Curve("actor/perf/max_memory_allocated_gb", 47.5, 48.0, 0.2),
    Curve("actor/perf/max_memory_reserved_gb", 55.0, 55.5, 0.2),
    Curve("actor/perf/cpu_memory_used_gb", 410.0, 416.0, 2.0),
    Curve("perf/mfu/actor", 0.36, 0.38, 0.01),
    Curve("response_length/max", 4_000.0, 4_096.0, 0.0),
    Curve("response_length/min", 40.0, 120.0, 15.0),
    Curve("response_length/clip_ratio", 0.01, 0.03, 0.008),
    Curve("response/aborted_ratio", 0.0, 0.0, 0.0),
    Curve("prompt_length/mean", 148.0, 148.0, 6.0),
    Curve("num_turns/mean", 2.0, 2.0, 0.0),
    Curve("global_seqlen/mean", 390_000.0, 505_000.0, 9_000.0),
    Curve("global_seqlen/max", 420_000.0, 540_000.0, 9_000.0),
    Curve("global_seqlen/min", 360_000.0, 470_000.0, 9_000.0),
    Curve("training/rollout_probs_diff_mean", 0.003, 0.004, 0.0005),
    Curve("training/rollout_probs_diff_max", 0.2, 0.25, 0.05),
    Curve("training/rollout_actor_probs_pearson_corr", 0.9992, 0.9988, 0.0003),
)
PHASES = (
    Curve("timing_s/gen", 0.46, 0.52, 0.02),
    Curve("timing_s/old_log_prob", 0.10, 0.11, 0.005),
    Curve("timing_s/ref", 0.08, 0.08, 0.004),
    Curve("timing_s/adv", 0.01, 0.01, 0.001),
    Curve("timing_s/update_actor", 0.22, 0.22, 0.01),
    Curve("timing_s/update_weights", 0.04, 0.04, 0.003),
)
"""Shares of a step of a second; the rest is nobody's."""
OTHER = 0.03
SAVING = 0.3
TESTING = 0.5
"""So many shares more takes a step that saves; validation comes after it."""
STEP_S = "timing_s/step"


@dataclass(frozen=True)
class Logged:
    """What an attempt logs, step by step; item n of each is of the same step."""

    steps: Sequence[int]
    rows: Sequence[Mapping[str, float]]
    took_s: Sequence[float]
    """With validation, which verl measures beside the step."""


def logged(run: str, attempt: int, steps: range, *, total: int, metrics: int, step_s: float, nodes: int) -> Logged:
    """`metrics` names at each step, the six curves that pages begin with first; validation and saving add theirs."""
    phases = {one.name: _scaled(one.values(steps, total, seed(run, attempt, one.name)), step_s) for one in PHASES}
    saves = [step_s * SAVING * (step % SAVE_EVERY == 0) for step in steps]
    tests = [step_s * TESTING * (step % TEST_EVERY == 0) for step in steps]
    times = [math.fsum(parts) + step_s * OTHER for parts in zip(*phases.values(), saves, strict=True)]
    columns: dict[str, Sequence[float]] = {
        **{one.name: one.values(steps, total, seed(run, attempt, one.name)) for one in CURVES[:5]},
        STEP_S: times,
        **phases,
        "perf/throughput": [TOKENS / (one * nodes * NPUS_PER_NODE) for one in times],
        "perf/total_num_tokens": [float(TOKENS)] * len(times),
        "perf/time_per_step": times,
        "training/global_step": [float(step) for step in steps],
        **{one.name: one.values(steps, total, seed(run, attempt, one.name)) for one in CURVES[5:]},
    }
    for number in range(len(columns), metrics):
        name = f"extra/metric_{number}"
        columns[name] = Curve(name, 1.0, float(number), 0.1).values(steps, total, seed(run, attempt, name))
    names = [*columns][:metrics]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*(columns[name] for name in names), strict=True)]
    for step, row, save, test in zip(steps, rows, saves, tests, strict=True):
        if save:
            row["timing_s/save_checkpoint"] = save
        if test:
            row.update({"timing_s/testing": test, VALIDATION: accuracy(run, attempt, step, total)})
    return Logged(steps, rows, [*map(add, times, tests)])


def accuracy(run: str, attempt: int, step: int, total: int) -> float:
    """What a validation after `step` shows."""
    return Curve(VALIDATION, 0.18, 0.74, 0.02).values([step], total, seed(run, attempt, VALIDATION))[0]


def seed(run: str, attempt: int, name: str) -> float:
    """A step that is trained again does not give the same numbers."""
    return zlib.crc32(f"{run}/{attempt}/{name}".encode()) / 1e5


def _scaled(values: Sequence[float], by: float) -> list[float]:
    return [value * by for value in values]
