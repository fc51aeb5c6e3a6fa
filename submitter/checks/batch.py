"""Batch arithmetic: what verl asserts at its start, and what it skips there and fails on an hour later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm

from submitter.checks import batch_async, batch_keys
from submitter.checks.batch_facts import (
    GEN,
    MINI,
    TRAIN,
    WORKERS,
    Batch,
    Learner,
    N,
    batch_of,
    layout_of,
    layout_unknown,
    learners,
    nearest_divisors,
    nearest_multiples,
    release,
    step_for,
    validated_divisor,
)
from submitter.checks.batch_sizes import batch_to_set, fits_without_workers, micro_of, mini_to_set, what_to_set
from submitter.checks.case import Case, NotChecked
from submitter.checks.finding import Finding, Severity
from submitter.checks.parallel import ACTOR, CRITIC, REF, ROLLOUT, Training
from submitter.checks.roles import needs_critic, needs_reference, reference_in_actor, uses_engine
from submitter.checks.rule import Rule
from submitter.texts import Phrase

_MICRO, _LOG_PROB = "ppo_micro_batch_size", "log_prob_micro_batch_size"
_REWARD_PADS_SINCE = (0, 9)
_REMAX_JOINED_SINCE = (0, 8)
"""The greedy answers are generated together with the sampled ones."""


def mini_over_train(case: Case) -> list[Finding]:
    """Source: verl workers/config/actor.py, critic.py `validate`; tensordict_utils.make_iterator; v1 trainer pads."""
    batch = batch_of(case)
    if batch is None or batch.flow == "async":
        return []
    return [
        Finding(
            "NR205",
            _mini_severity(case, batch, learner),
            case.settings.place(learner.mini_key, MINI, batch.place),
            str(learner.mini),
            str(batch.prompts),
            {"name": learner.mini_key, "batch": batch.place, "do": mini_to_set(case, batch, learner)},
        )
        for learner in learners(case)
        if learner.mini > batch.prompts
    ]


def validated_batch(case: Case) -> list[Finding]:
    """Source: verl utils/config.py, validate_config: `real_train_batch_size` (0.7.1 to main), not in fully async."""
    batch, layout = batch_of(case), layout_of(case, ACTOR)
    train, micro = case.settings.positive(TRAIN), case.settings.positive(f"{ACTOR}.{_MICRO}_per_gpu")
    if batch is None or layout is None or train is None or batch.flow == "async" or _dynamic(case):
        return []
    if layout.strategy == "megatron" and micro is None:
        return []  # told by NR201
    divisor = validated_divisor(case.settings, layout)
    if train * batch.n % divisor == 0:
        return []
    product = f"DP {layout.data_parallel} × micro {micro} = {divisor}" if layout.strategy == "megatron" else ""
    cut = f"{layout.spelled()}; {product}" if product else f"world {divisor}"
    arithmetic = (
        f"train_batch_size {train} × n {batch.n} = {train * batch.n}; {cut}; {train * batch.n} % {divisor} = "
        + (f"{train * batch.n % divisor}")
    )
    values: dict[str, object] = {"arithmetic": arithmetic, "do": batch_to_set(case, batch, MINI)}
    return [Finding("NR206", batch.sure, case.settings.place(TRAIN, N), str(train), str(divisor), values)]


def dispatched_batch(case: Case) -> list[Finding | NotChecked]:
    """Source: verl single_controller/base/decorator.py, protocol.py `chunk`, ray_trainer.py `_balance_batch`."""
    batch = batch_of(case)
    if batch is not None and layout_unknown(case):
        return [NotChecked("NR207", "NR207.unknown", {"strategy": case.settings.text(f"{ACTOR}.strategy")})]
    if batch is None or batch.pads:
        return []
    return [
        Finding(
            "NR207",
            batch.sure,
            case.settings.place(batch.place, N, "trainer.nnodes", "trainer.n_gpus_per_node"),
            str(batch.samples),
            str(layout.data_parallel),
            {
                "arithmetic": f"{batch.spelled()}; {layout.spelled()}; {_quotient(batch.samples, layout)}",
                "name": name,
                "do": batch_to_set(case, batch, MINI),
            },
        )
        for name, layout in _dispatched(case, batch)
        if batch.samples % (layout.data_parallel or 1)
    ]


def train_by_mini(case: Case) -> list[Finding]:
    """Source: verl tensordict_utils.make_iterator and protocol.make_iterator assert; dp_actor.py splits; v1 pads."""
    batch = batch_of(case)
    if batch is None or batch.flow == "async":
        return []
    return [
        Finding(
            "NR208",
            _mini_severity(case, batch, learner, checked=False),
            case.settings.place(learner.mini_key, MINI, batch.place),
            str(batch.prompts),
            str(learner.mini),
            {
                "name": learner.mini_key,
                "batch": batch.place,
                "arithmetic": f"{batch.prompts} % {learner.mini} = {batch.prompts % learner.mini}",
                "do": what_to_set(case, batch, MINI) if learner.prefix == ACTOR else mini_to_set(case, batch, learner),
            },
        )
        for learner in learners(case)
        if learner.mini <= batch.prompts and batch.prompts % learner.mini
    ]


def mini_by_data_parallel(case: Case) -> list[Finding]:
    """Source: verl workers/engine_workers.py, train_mini_batch; 0.7.1 fsdp_workers.py and megatron_workers.py floor."""
    batch = batch_of(case)
    if batch is None:
        return []
    return [
        Finding(
            "NR209",
            _share_severity(case, batch, learner, layout),
            case.settings.place(learner.mini_key, MINI, N),
            str(learner.mini * batch.n),
            str(layout.data_parallel),
            {
                "name": learner.mini_key,
                "arithmetic": f"{_mini_samples(batch, learner)}; {layout.spelled()}; "
                + _quotient(learner.mini * batch.n, layout),
                "do": mini_to_set(case, batch, learner),
            },
        )
        for learner, layout in _laid_out(case)
        if learner.mini * batch.n % (layout.data_parallel or 1)
    ]


def mini_by_micro(case: Case) -> list[Finding]:
    """Source: verl workers/engine/utils.py, prepare_micro_batches; 0.7.1 fsdp_workers.py; megatron_actor.py splits."""
    batch, findings = batch_of(case), []
    if batch is None:
        return []
    for learner, layout in _laid_out(case):
        micro, share = micro_of(case, learner), learner.mini * batch.n // (layout.data_parallel or 1)
        uneven = bool(learner.mini * batch.n % (layout.data_parallel or 1))
        told = uneven and uses_engine(case.settings)  # by NR209
        if micro is None or told or share == 0 or share % micro == 0:
            continue
        lenient = not uses_engine(case.settings) and layout.strategy == "megatron"
        values: dict[str, object] = {
            "name": learner.micro_key,
            "arithmetic": f"{_mini_samples(batch, learner)}; {layout.spelled()}; "
            f"{learner.mini * batch.n} / {layout.data_parallel} = {share}; {share} % {micro} = {share % micro}",
            "do": mini_to_set(case, batch, learner),
        }
        if not uneven:  # else no micro-batch alone helps
            micros = {"name": learner.micro_key, "sizes": nearest_divisors(share, micro), "do": values["do"]}
            values["do"] = Phrase("NR210.micro", micros)
        place = case.settings.place(learner.micro_key, learner.mini_key, MINI)
        findings.append(
            Finding("NR210", "warning" if lenient else batch.sure, place, str(micro), str(share), values),
        )
    return findings


def log_prob_micro(case: Case) -> list[Finding]:
    """Source: verl workers/engine/utils.py, prepare_micro_batches over the whole batch; v1 trainer pads first."""
    batch = batch_of(case)
    if batch is None or not uses_engine(case.settings):
        return []
    found = []
    for key, layout in _log_probs(case):
        rows, micro = _padded(case, batch, layout), case.settings.positive(key)
        share = rows // (layout.data_parallel or 1)
        if micro is None or rows % (layout.data_parallel or 1) or share % micro == 0:
            continue
        padding = f" → {rows}" if rows != batch.samples else ""
        arithmetic = f"{batch.spelled()}{padding}; {layout.spelled()}; {rows} / {layout.data_parallel} = {share}; " + (
            f"{share} % {micro} = {share % micro}"
        )
        values: dict[str, object] = {"name": key, "arithmetic": arithmetic, "sizes": nearest_divisors(share, micro)}
        found.append(
            Finding("NR211", batch.sure, case.settings.place(key, batch.place), str(micro), str(share), values)
        )
    return found


def agent_workers(case: Case) -> list[Finding]:
    """Source: verl experimental/agent_loop/agent_loop.py, AgentLoopManager.generate_sequences: equal chunks; v1 not."""
    batch, workers = batch_of(case), case.settings.positive(WORKERS)
    if batch is None or workers is None or batch.flow == "async":
        return []
    if case.settings.value(f"{ROLLOUT}.agent.agent_loop_manager_class") is not None:
        return []
    if batch.pads:
        few = batch.mode != "separate_async" and batch.prompts < workers
        return [_uneven(case, batch, workers, "hint", batch.prompts, f"{batch.prompts} < {workers}")] if few else []
    return [
        _uneven(case, batch, workers, batch.sure, size, f"{spelled}; {size} % {workers} = {size % workers}")
        for size, spelled in _generated(case, batch)
        if size % workers
    ][:1]


def virtual_pipeline(case: Case) -> list[Finding]:
    """Source: Megatron-Core pipeline_parallel/schedules.py (interleaved); verl utils/seqlen_balancing.py."""
    batch = batch_of(case)
    if batch is None:
        return []
    passes = [*_training_passes(case, batch), *_log_prob_passes(case, batch)]
    return [
        Finding("NR216", batch.sure, case.settings.place(*keys), str(count), str(layout.pipeline), dict(values))
        for keys, layout, count, values in passes
        if _interleaved(layout) and (count < layout.pipeline or (not values["dynamic"] and count % layout.pipeline))
    ]


def reward_workers(case: Case) -> list[Finding]:
    """Source: verl experimental/reward_loop/reward_loop.py, compute_rm_score: equal chunks until 0.8.0, then padded."""
    settings, batch = case.settings, batch_of(case)
    workers, model = settings.positive("reward.num_workers"), "reward.reward_model"
    colocated = settings.truth(f"{model}.enable") is True and settings.truth(f"{model}.enable_resource_pool") is False
    if batch is None or workers is None or not colocated or release(settings) >= _REWARD_PADS_SINCE:
        return []
    if batch.flow not in ("ray", "other") or batch.samples % workers == 0:
        return []
    arithmetic = f"{batch.spelled()}; {batch.samples} % {workers} = {batch.samples % workers}"
    values: dict[str, object] = {"arithmetic": arithmetic, "workers": nearest_divisors(batch.samples, workers)}
    place = settings.place("reward.num_workers", batch.place, N)
    return [Finding("NR219", batch.sure, place, str(batch.samples), str(workers), values)]


RULES = (
    *batch_keys.RULES,
    Rule("NR205", ("error", "warning"), mini_over_train, ppo=True),
    Rule("NR206", ("error", "warning"), validated_batch, ppo=True),
    Rule("NR207", ("error", "warning"), dispatched_batch, ppo=True),
    Rule("NR208", ("error", "warning"), train_by_mini, ppo=True),
    Rule("NR209", ("error", "warning"), mini_by_data_parallel, ppo=True),
    Rule("NR210", ("error", "warning"), mini_by_micro, ppo=True),
    Rule("NR211", ("error", "warning"), log_prob_micro, ppo=True),
    Rule("NR212", ("error", "warning", "hint"), agent_workers, ppo=True),
    Rule("NR216", ("error", "warning"), virtual_pipeline, ppo=True),
    Rule("NR219", ("error", "warning"), reward_workers, ppo=True),
    *batch_async.RULES,
)

_Pass = tuple[tuple[str, ...], Training, int, dict[str, object]]
"""Keys that decide, layout, micro-batches (or, cut by tokens, samples) per pipeline, values for the text."""


def _dynamic(case: Case) -> bool:
    return case.settings.truth(f"{ACTOR}.use_dynamic_bsz") is not False


def _uneven(case: Case, batch: Batch, workers: int, severity: Severity, size: int, arithmetic: str) -> Finding:
    values: dict[str, object] = {
        "arithmetic": arithmetic,
        "workers": nearest_divisors(size, workers),
    }
    if severity == "hint":
        more = {"batch": batch.place, "batches": nearest_multiples(size, workers)}
        values["do"] = Phrase("NR212.either", {**values, "do": Phrase("NR206.batch", more)})
    elif fits_without_workers(case, batch):
        values["do"] = Phrase("NR212.either", {**values, "do": batch_to_set(case, batch, MINI)})
    else:  # the number of workers that suits this batch may not suit the one that has to be set anyway
        values["do"] = batch_to_set(case, batch, MINI)
    return Finding("NR212", severity, case.settings.place(WORKERS, batch.place, N), str(size), str(workers), values)


def _mini_severity(case: Case, batch: Batch, learner: Learner, *, checked: bool = True) -> Severity:
    """`checked`: verl compares the two at its start, where the batch is not cut by tokens."""
    if checked and case.settings.truth(f"{learner.prefix}.use_dynamic_bsz") is False:
        return batch.sure
    strict = uses_engine(case.settings) or (learner.layout is not None and learner.layout.strategy == "megatron")
    return batch.sure if strict and not batch.pads else "warning"


def _share_severity(case: Case, batch: Batch, learner: Learner, layout: Training) -> Severity:
    share = learner.mini * batch.n // (layout.data_parallel or 1)
    strict = layout.strategy == "megatron" and share and batch.samples // (layout.data_parallel or 1) % share
    return batch.sure if uses_engine(case.settings) or share == 0 or strict else "warning"


def _laid_out(case: Case) -> Iterator[tuple[Learner, Training]]:
    for learner in learners(case):
        if learner.layout is not None:
            yield learner, learner.layout


def _dispatched(case: Case, batch: Batch) -> Iterator[tuple[str, Training]]:
    """Roles that the whole batch is handed to; one per data-parallel size, and not where NR206 and NR209 look."""
    roles = [("actor", ACTOR), *([("ref", REF)] if needs_reference(case.settings) else [])]
    roles += [(CRITIC, CRITIC)] if needs_critic(case.settings) else []
    seen: set[int | None] = set()
    for name, prefix in roles:
        layout = layout_of(case, prefix)
        if layout is None or layout.data_parallel in seen:
            continue
        seen.add(layout.data_parallel)
        if name != "actor" or (_dynamic(case) and batch.flow != "async"):
            yield name, layout


def _log_probs(case: Case) -> Iterator[tuple[str, Training]]:
    """The keys of the passes that only compute probabilities, where they count samples, with their layouts."""
    settings = case.settings
    bypassed = settings.truth("algorithm.rollout_correction.bypass_mode") is True
    wanted = [
        (ROLLOUT, ACTOR, not bypassed),
        (REF, REF, needs_reference(settings) and not reference_in_actor(settings)),
    ]
    for prefix, laid_out_by, used in wanted:
        layout = layout_of(case, laid_out_by)
        if used and layout is not None and settings.truth(f"{prefix}.log_prob_use_dynamic_bsz") is False:
            yield f"{prefix}.{_LOG_PROB}_per_gpu", layout


def _padded(case: Case, batch: Batch, layout: Training) -> int:
    """Samples of the whole batch as it is handed out."""
    if not batch.pads:
        return batch.samples
    unit = lcm(layout.data_parallel or 1, *(learner.mini * batch.n for learner in learners(case)))
    return -(-batch.samples // unit) * unit


def _generated(case: Case, batch: Batch) -> Iterable[tuple[int, str]]:
    """What is handed to the agent workers in one piece, and how it adds up."""
    gen = case.settings.positive(GEN)
    if batch.flow == "other" and gen is not None:
        return [(gen * batch.n, f"gen_batch_size {gen} × n {batch.n} = {gen * batch.n}")]
    sampled = (batch.samples, batch.spelled())
    if case.settings.text("algorithm.adv_estimator") != "remax" or batch.flow != "ray":
        return [sampled]
    if release(case.settings) < _REMAX_JOINED_SINCE:
        return [sampled, (batch.prompts, f"greedy {batch.prompts}")]
    total = batch.samples + batch.prompts
    return [(total, f"{batch.spelled()}; + greedy {batch.prompts} = {total}")]


def _interleaved(layout: Training) -> bool:
    return layout.pipeline > 1 and (layout.virtual_pipeline or 1) > 1


def _training_passes(case: Case, batch: Batch) -> Iterator[_Pass]:
    for learner, layout in _laid_out(case):
        parts, micro = layout.data_parallel or 1, micro_of(case, learner)
        samples = learner.mini * batch.n
        if micro is None and not learner.dynamic:
            continue  # told by NR201
        count, values = _pipelined(
            f"{_mini_samples(batch, learner)}; {layout.spelled()}", samples, samples // parts, micro
        )
        virtual = f"{learner.prefix}.megatron.virtual_pipeline_model_parallel_size"
        if micro is not None and samples // parts % layout.pipeline == 0:
            changed = learner.micro_key, nearest_divisors(samples // parts // layout.pipeline, micro)
        else:
            changed = learner.mini_key, nearest_multiples(learner.mini, step_for(parts * layout.pipeline, batch.n))
        yield (virtual, learner.micro_key, learner.mini_key), layout, count, values | _change(changed)


def _log_prob_passes(case: Case, batch: Batch) -> Iterator[_Pass]:
    for key, layout in _log_probs(case):
        parts, micro, rows = layout.data_parallel or 1, case.settings.positive(key), _padded(case, batch, layout)
        if micro is None:
            continue
        count, values = _pipelined(f"{batch.spelled()}; {layout.spelled()}", rows, rows // parts, micro)
        if rows // parts % layout.pipeline == 0:
            changed = key, nearest_divisors(rows // parts // layout.pipeline, micro)
        else:
            changed = batch.place, nearest_multiples(batch.prompts, step_for(parts * layout.pipeline, batch.n))
        yield (key, batch.place), layout, count, values | _change(changed)


def _change(changed: tuple[str, str]) -> dict[str, object]:
    return {"name": changed[0], "sizes": changed[1]}


def _pipelined(start: str, rows: int, share: int, micro: int | None) -> tuple[int, dict[str, object]]:
    """Micro-batches per pipeline, at most one per sample where they are cut by tokens (`micro` None)."""
    count = share if micro is None else -(-share // micro)
    end = f"{rows} → {share}" if micro is None else f"{rows} → {share}; {share} / micro {micro} = {count}"
    return count, {"arithmetic": f"{start}; {end}", "dynamic": micro is None}


def _mini_samples(batch: Batch, learner: Learner) -> str:
    return f"ppo_mini_batch_size {learner.mini} × n {batch.n} = {learner.mini * batch.n}"


def _quotient(size: int, layout: Training) -> str:
    return f"{size} % {layout.data_parallel} = {size % (layout.data_parallel or 1)}"
