"""The metrics that the rules look at, as verl calls them."""

from __future__ import annotations

from submitter.metrics.names import CURVES, TOKENS
from submitter.metrics.phases import TIMING_NAMES

REWARD, ENTROPY = CURVES["reward"], CURVES["entropy"]
GRAD_NORM = "actor/grad_norm"
POLICY_KL = "actor/ppo_kl"
REFERENCE_KL = ("actor/kl_loss", "actor/reward_kl_penalty")
CLIP_RATIO = "response_length/clip_ratio"
RESPONSE_MAX = "response_length/max"
PROBS_DIFF = "training/rollout_probs_diff_mean"
PROBS_CORR = "training/rollout_actor_probs_pearson_corr"
ROLLOUT_KL = "rollout_corr/kl"
HOST_GB = "actor/perf/cpu_memory_used_gb"

FINITE = (
    *("actor/loss", "actor/pg_loss", "actor/kl_loss", GRAD_NORM, POLICY_KL, *ENTROPY),
    *("critic/vf_loss", "critic/grad_norm", *REWARD, "critic/advantages/mean", "critic/returns/mean"),
)
"""Those that are numbers in any training that goes well; others are nan where a batch has nothing to measure."""

NAMES = tuple(
    dict.fromkeys(
        (
            *(*FINITE, *REFERENCE_KL, CLIP_RATIO, RESPONSE_MAX, PROBS_DIFF, PROBS_CORR, ROLLOUT_KL, HOST_GB),
            *(TOKENS, *TIMING_NAMES),
        )
    )
)
"""All of them: nothing else of a row has to be kept."""
