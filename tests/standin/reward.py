"""A user's reward function, on the day on which it fails."""

from __future__ import annotations


def compute_score(solution: str) -> float:
    raise ValueError(f"cannot read the answer of {solution}")
