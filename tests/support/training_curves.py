"""Trainings as they go well, with noise, and as they go wrong: for rules that must tell the two apart."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

Shape = Callable[[float], float]
"""From the share of the run (0 to 1) to a level (0 to 1)."""

SHAPES: Mapping[str, Shape] = {
    "saturating": lambda x: 1 - math.exp(-5 * x),
    "linear": lambda x: x,
    "late": lambda x: 1 / (1 + math.exp(-12 * (x - 0.5))),
    "early plateau": lambda x: min(1.0, 8 * x),
    "stairs": lambda x: math.floor(8 * x + 0.5) / 8,
}
"""How a reward may rise."""


@dataclass(frozen=True)
class Healthy:
    """A training of `total` steps; what it logs of each is worked out from `seed` alone."""

    seed: int = 0
    shape: str = "saturating"
    total: int = 2_000
    reward: tuple[float, float] = (0.08, 0.97)
    """From, to."""
    noise: float = 0.03
    entropy: tuple[float, float] = (1.2, 0.3)
    step_s: float = 60.0

    def row(self, step: int) -> dict[str, float]:
        return {**_row(self, step)}

    def worked_out(self, step: int) -> dict[str, float]:
        chance = random.Random(self.seed * 1_000_003 + step)
        progress = step / self.total
        level = SHAPES[self.shape](progress)

        def noisy(value: float, share: float = 0.05) -> float:
            return value * (1 + share * chance.gauss(0, 1))

        reward = self.reward[0] + (self.reward[1] - self.reward[0]) * level + self.noise * chance.gauss(0, 1)
        length = 600 + 1_500 * progress
        tokens = noisy(512 * (150 + length), 0.02)
        gen_s, actor_s = noisy(self.step_s * (0.3 + 0.3 * progress)), noisy(self.step_s * (0.2 + 0.1 * progress))
        return {
            "critic/rewards/mean": min(1.0, max(0.0, reward)),
            "actor/entropy": noisy(self.entropy[1] + (self.entropy[0] - self.entropy[1]) * math.exp(-5 * progress)),
            "actor/grad_norm": noisy(0.2 + 0.5 * math.exp(-8 * progress), 0.2) + (chance.random() < 0.01) * 3,
            "actor/ppo_kl": 3e-4 * chance.gauss(0, 1),
            "actor/kl_loss": noisy(0.001 + 0.3 * progress, 0.1),
            "actor/loss": 0.02 * chance.gauss(0, 1),
            "actor/pg_loss": 0.02 * chance.gauss(0, 1),
            "actor/perf/cpu_memory_used_gb": noisy(410.0, 0.01),
            "critic/advantages/mean": 0.02 * chance.gauss(0, 1),
            "critic/returns/mean": 0.02 * chance.gauss(0, 1),
            "rollout_corr/kl": 6e-4 * (1 + 0.3 * chance.gauss(0, 1)),
            "training/rollout_probs_diff_mean": noisy(0.003 + 0.001 * progress, 0.1),
            "training/rollout_actor_probs_pearson_corr": 0.999 - 0.0005 * abs(chance.gauss(0, 1)),
            "response_length/mean": length,
            "response_length/max": 8_192.0,
            "response_length/clip_ratio": max(0.0, noisy(0.02 + 0.08 * progress, 0.3)),
            "perf/total_num_tokens": tokens,
            "timing_s/gen": gen_s,
            "timing_s/update_actor": actor_s,
            "timing_s/old_log_prob": 0.1 * self.step_s,
            "timing_s/step": gen_s + actor_s + 0.15 * self.step_s + (step % 20 == 0) * 0.3 * self.step_s,
            **({"timing_s/save_checkpoint": 0.3 * self.step_s} if step % 20 == 0 else {}),
            **({"timing_s/testing": 0.8 * self.step_s} if step % 10 == 0 else {}),
        }


@cache
def _row(training: Healthy, step: int) -> dict[str, float]:
    """Many tests look at the same few trainings."""
    return training.worked_out(step)


Change = Callable[[dict[str, float], int], None]
"""What a disease does to a row, so many steps after its begin."""


@dataclass(frozen=True)
class Ill:
    """As the healthy one until `begin`."""

    healthy: Healthy
    begin: int
    change: Change

    @property
    def total(self) -> int:
        return self.healthy.total

    def row(self, step: int) -> dict[str, float]:
        row = self.healthy.row(step)
        if step >= self.begin:
            self.change(row, step - self.begin)
        return row
