"""The numbers that follow from a job's sizes, spelled out, in the terms of the field: the same in any language."""

from __future__ import annotations

from collections.abc import Iterator

from submitter.checks import parallel
from submitter.checks.case import Case
from submitter.checks.parallel import ACTOR, ROLLOUT, Rollout, Training, quotient
from submitter.checks.rollout_layout import spelled
from submitter.checks.settings import Settings


def arithmetic(case: Case) -> tuple[str, ...]:
    """One line per step, `world 4 × 16 = 64; 64 / (TP 2 × PP 4 × CP 4) = DP 2`; what is not known is left out."""
    if not case.settings.ppo:
        return ()
    layout, engine = parallel.training(case.settings), parallel.rollout(case.settings)
    lines = [*_trainer(case.settings, layout), *_batch(case.settings, layout), *_replicas(engine)]
    return tuple("; ".join(parts) for parts in lines if parts)


def _trainer(settings: Settings, layout: Training | None) -> Iterator[list[str]]:
    if layout is None:
        return
    nodes, npus = (settings.integer(f"trainer.{key}") for key in ("nnodes", "n_gpus_per_node"))
    yield [f"world {nodes} × {npus} = {layout.world}", layout.spelled().removeprefix("world ")]
    if layout.section and layout.expert > 1:
        product = layout.expert_tensor * layout.expert * layout.pipeline
        sizes = f"EP {layout.expert} × ETP {layout.expert_tensor} × PP {layout.pipeline} = {product}"
        yield [sizes, f"{layout.world} / {product} = EDP {quotient(layout.world, product)}"]


def _batch(settings: Settings, layout: Training | None) -> Iterator[list[str]]:
    batch, n = settings.integer("data.train_batch_size"), settings.integer(f"{ROLLOUT}.n")
    ranks = layout.data_parallel if layout else None
    if not batch or not n or min(batch, n) < 1:
        return
    yield [f"train_batch_size {batch} × n {n} = {batch * n}", *_per_rank(settings, batch * n, n, ranks)]


def _per_rank(settings: Settings, samples: int, n: int, ranks: int | None) -> Iterator[str]:
    if ranks is None:
        return
    yield f"{samples} / DP {ranks} = {quotient(samples, ranks)}"
    mini = settings.integer(f"{ACTOR}.ppo_mini_batch_size")
    if not mini or mini < 1:
        return
    yield f"mini-batch {mini} × {n} / {ranks} = {quotient(mini * n, ranks)}"
    micro = settings.integer(f"{ACTOR}.ppo_micro_batch_size_per_gpu")
    if settings.truth(f"{ACTOR}.use_dynamic_bsz") is False and micro and micro > 0 and mini * n % ranks == 0:
        yield f"{mini * n // ranks} / micro-batch {micro} = {quotient(mini * n // ranks, micro)}"


def _replicas(engine: Rollout | None) -> Iterator[list[str]]:
    if engine is not None:
        yield [
            f"rollout {spelled(engine)}",
            f"{engine.world} / {engine.replica} = {quotient(engine.world, engine.replica)}",
        ]
