"""What verl's metrics are called, in 0.8.0 and 0.9: its `trainer/ppo` and the names under `experimental`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

CURVES: Mapping[str, tuple[str, ...]] = {
    "reward": ("critic/rewards/mean", "critic/score/mean"),
    "entropy": ("actor/entropy", "actor/entropy_loss"),
    "kl": ("rollout_corr/kl", "actor/ppo_kl", "actor/kl_loss"),
    "grad_norm": ("actor/grad_norm",),
    "response_length": ("response_length/mean",),
    "step_s": ("timing_s/step", "perf/time_per_step"),
}
"""The curves that are shown first; of each the first name that the run logs."""

STEP_S = "timing_s/step"
TESTING_S = "timing_s/testing"
OUTSIDE_S = (TESTING_S, "timing_s/start_profile", "timing_s/stop_profile")
"""verl measures these beside the step, not as a part of it."""
THROUGHPUT = "perf/throughput"
"""Tokens per second and NPU: `total_num_tokens / (time * n_gpus)` in `compute_throughout_metrics`, both releases."""
TOKENS = "perf/total_num_tokens"


def first_present(names: Collection[str], wanted: tuple[str, ...]) -> str | None:
    return next((name for name in wanted if name in names), None)
