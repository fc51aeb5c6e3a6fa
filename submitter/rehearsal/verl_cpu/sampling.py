"""Token by token with a Hugging Face model: temperature, top-k, top-p, log-probs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Sampling:
    max_tokens: int
    temperature: float = 1.0
    """0: greedy."""
    top_k: int = -1
    """-1 or 0: all."""
    top_p: float = 1.0
    stop: frozenset[int] = frozenset()


def generate(
    model: Any, prompt: Sequence[int], sampling: Sampling, generator: torch.Generator
) -> tuple[list[int], list[float]]:
    """Token ids and the log-probability of each under the distribution that it was drawn from."""
    tokens: list[int] = []
    log_probs: list[float] = []
    past, fed = None, torch.tensor([list(prompt)])
    for _ in range(sampling.max_tokens):
        with torch.no_grad():
            out = model(input_ids=fed, past_key_values=past, use_cache=True)
        past = out.past_key_values
        log_p = filtered(out.logits[0, -1].float(), sampling).log_softmax(-1)
        token = _draw(log_p, sampling, generator)
        tokens.append(token)
        log_probs.append(float(log_p[token]))
        if token in sampling.stop:
            break
        fed = torch.tensor([[token]])
    return tokens, log_probs


def filtered(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """`logits` ([vocabulary]) after temperature, top-k and top-p; what may not be drawn is -inf."""
    if sampling.temperature <= 0:
        return logits
    logits = logits / sampling.temperature
    if 0 < sampling.top_k < logits.numel():
        least = logits.topk(sampling.top_k).values[-1]
        logits = logits.masked_fill(logits < least, float("-inf"))
    if sampling.top_p < 1.0:
        ordered, index = logits.sort(descending=True)
        before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
        logits = logits.index_fill(0, index[before >= sampling.top_p], float("-inf"))
    return logits


def _draw(log_p: torch.Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    if sampling.temperature <= 0:
        return int(log_p.argmax())
    return int(torch.multinomial(log_p.exp(), 1, generator=generator))
