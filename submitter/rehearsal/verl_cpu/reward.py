"""Reward of the arithmetic task: the right answer, and something for answering in plain text at all."""

from __future__ import annotations

from typing import Any


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None, **_: Any
) -> dict[str, float]:
    """`score` is 0 to 2: the share of plain characters is what a tiny random model learns within a few steps."""
    right = float(solution_str.strip() == ground_truth)
    plain = sum(char.isascii() and char.isprintable() for char in solution_str) / max(1, len(solution_str))
    return {"score": right + plain, "acc": right}
