"""How the CPU rollout draws tokens, with torch (imported by the tests: a collection alone must stay quick)."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = [pytest.mark.real, pytest.mark.timeout(60)]

PROBABILITIES = [0.5, 0.3, 0.15, 0.05]


class FixedModel:
    """The same distribution after every token; remembers what it was fed."""

    def __init__(self) -> None:
        self.fed: list[list[int]] = []

    def __call__(self, *, input_ids: Any, past_key_values: Any, use_cache: bool) -> Any:
        import torch

        self.fed.append(input_ids[0].tolist())
        logits = torch.tensor(PROBABILITIES).log().expand(1, input_ids.shape[1], -1)
        return SimpleNamespace(logits=logits, past_key_values="cache")


def drawn(prompt: list[int], model: FixedModel | None = None, **sampling: Any) -> tuple[list[int], list[float]]:
    import torch

    from submitter.rehearsal.verl_cpu.sampling import Sampling, generate

    return generate(model or FixedModel(), prompt, Sampling(**sampling), torch.Generator().manual_seed(0))


def probabilities(**sampling: Any) -> list[float]:
    import torch

    from submitter.rehearsal.verl_cpu.sampling import Sampling, filtered

    logits = filtered(torch.tensor(PROBABILITIES).log(), Sampling(max_tokens=1, **sampling))
    return [float(p) for p in logits.softmax(-1)]


def test_greedy_takes_the_likeliest_and_gives_its_log_probability() -> None:
    model = FixedModel()
    tokens, log_probs = drawn([7, 8], model, max_tokens=3, temperature=0)
    assert tokens == [0, 0, 0]
    assert log_probs == pytest.approx([math.log(0.5)] * 3)
    assert model.fed == [[7, 8], [0], [0]]


def test_a_stop_token_ends_the_answer_and_belongs_to_it() -> None:
    assert drawn([1], max_tokens=9, temperature=0, stop=frozenset({0}))[0] == [0]


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        ({}, PROBABILITIES),
        ({"top_k": 2}, [0.625, 0.375, 0, 0]),
        ({"top_k": 9}, PROBABILITIES),
        ({"top_p": 0.7}, [0.625, 0.375, 0, 0]),
        ({"top_p": 0.1}, [1, 0, 0, 0]),
        ({"temperature": 0.5}, [0.6849, 0.2466, 0.0616, 0.0068]),
    ],
)
def test_filters(sampling: dict[str, Any], expected: list[float]) -> None:
    assert probabilities(**sampling) == pytest.approx(expected, abs=1e-3)


def test_log_probabilities_are_those_of_the_filtered_distribution() -> None:
    tokens, log_probs = drawn([1], max_tokens=50, top_k=2)
    assert set(tokens) == {0, 1}
    assert log_probs == pytest.approx([math.log((0.625, 0.375)[token]) for token in tokens])
