"""Which batch and mini-batch to set: one answer for all rules on batches, that every one of them lets through."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from submitter.checks.batch_facts import (
    WORKERS,
    Batch,
    Learner,
    layout_of,
    learners,
    nearest_divisors,
    nearest_multiples,
    step_for,
    validated_divisor,
)
from submitter.checks.case import Case
from submitter.checks.parallel import ACTOR, REF
from submitter.checks.roles import needs_reference
from submitter.texts import Phrase


@dataclass(frozen=True)
class Sizes:
    """In prompts, each `16 / 24` or empty; `both`: they only fit together."""

    batches: str
    minis: str
    both: bool = False


def micro_of(case: Case, learner: Learner) -> int | None:
    """None: micro-batches are cut by tokens, or their size is no positive number."""
    return None if learner.dynamic else case.settings.positive(learner.micro_key)


def sizes_of(case: Case, batch: Batch) -> Sizes:
    """Around the job's own sizes; what is right as it is is left alone."""
    actor = next((learner for learner in learners(case) if learner.prefix == ACTOR), None)
    step = _batch_step(case, batch)
    if batch.flow == "async" or actor is None:
        return Sizes(nearest_multiples(batch.prompts, step), "" if actor is None else mini_sizes(case, batch, actor))
    unit = _mini_unit(case, batch, actor)
    minis = nearest_divisors(batch.prompts, actor.mini, unit=unit) if batch.prompts % step == 0 else ""
    if actor.mini >= batch.prompts:
        batches = nearest_multiples(batch.prompts, lcm(step, unit))
        return Sizes("", minis) if minis else Sizes(batches, batches, both=True)
    if actor.mini % unit == 0:
        return Sizes(nearest_multiples(batch.prompts, lcm(step, actor.mini)), minis)
    if minis:
        return Sizes("", minis)
    mini = max(1, round(actor.mini / unit)) * unit
    return Sizes(nearest_multiples(batch.prompts, lcm(step, mini)), str(mini), both=True)


def fits_without_workers(case: Case, batch: Batch) -> bool:
    """Only the number of agent workers does not suit the batch."""
    units = [(one.mini, _mini_unit(case, batch, one)) for one in learners(case)]
    even = all(mini % unit == 0 and batch.prompts % mini == 0 for mini, unit in units)
    return even and batch.prompts % _batch_step(case, batch, workers=False) == 0


def what_to_set(case: Case, batch: Batch, key: str) -> Phrase:
    """`key`: the mini-batch of the actor."""
    sizes = sizes_of(case, batch)
    values = {"batch": batch.place, "batches": sizes.batches, "name": key, "minis": sizes.minis}
    if sizes.both:
        return Phrase("NR206.same" if sizes.batches == sizes.minis else "NR206.both", values)
    if sizes.batches and sizes.minis:
        return Phrase("NR206.either", values)
    return Phrase("NR206.batch" if sizes.batches else "NR206.mini", values)


def mini_to_set(case: Case, batch: Batch, learner: Learner) -> Phrase:
    """For a rule that the mini-batch alone can satisfy."""
    sizes = sizes_of(case, batch)
    if learner.prefix == ACTOR and sizes.both:
        return what_to_set(case, batch, learner.mini_key)
    return Phrase("NR206.mini", {"name": learner.mini_key, "minis": mini_sizes(case, batch, learner)})


def batch_to_set(case: Case, batch: Batch, key: str) -> Phrase:
    """For a rule that the batch alone can satisfy."""
    sizes = sizes_of(case, batch)
    if sizes.both:
        return what_to_set(case, batch, key)
    found = sizes.batches or nearest_multiples(batch.prompts, _batch_step(case, batch))
    return Phrase("NR206.batch", {"batch": batch.place, "batches": found})


def mini_sizes(case: Case, batch: Batch, learner: Learner) -> str:
    """The nearest mini-batches that give every rank whole micro-batches; divisors of the batch, where there are any."""
    unit = _mini_unit(case, batch, learner)
    found = "" if batch.flow == "async" else nearest_divisors(batch.prompts, learner.mini, unit=unit)
    return found or nearest_multiples(learner.mini, unit)


def _mini_unit(case: Case, batch: Batch, learner: Learner) -> int:
    """Mini-batches that can be dealt out, and cut into micro-batches, are its multiples."""
    parts = (learner.layout.data_parallel or 1) if learner.layout else 1
    return step_for(parts * (micro_of(case, learner) or 1), batch.n)


def _batch_step(case: Case, batch: Batch, *, workers: bool = True) -> int:
    """Batches that can be dealt out, checked and generated are its multiples."""
    if batch.flow == "async":
        return 1
    settings, steps = case.settings, [1]
    prefixes = [learner.prefix for learner in learners(case)] + ([REF] if needs_reference(settings) else [])
    layouts = {prefix: layout_of(case, prefix) for prefix in prefixes}
    if not batch.pads:
        steps += [step_for(layout.data_parallel or 1, batch.n) for layout in layouts.values() if layout]
        steps += [one.mini for one in learners(case) if one.prefix != ACTOR and one.mini < batch.prompts]
    actor = layouts.get(ACTOR)
    if actor is not None and settings.truth(f"{ACTOR}.use_dynamic_bsz") is False:
        steps.append(step_for(validated_divisor(settings, actor), batch.n))
    if workers and batch.flow in ("ray", "one_step"):
        steps.append(step_for(settings.positive(WORKERS) or 1, batch.n))
    return lcm(*steps)
