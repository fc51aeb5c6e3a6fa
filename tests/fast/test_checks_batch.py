"""Batch arithmetic: each rule failing, passing and at the border, per verl release where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from submitter.checks.batch_facts import batch_of
from submitter.checks.batch_sizes import sizes_of
from tests.support.batch_jobs import (
    ACTOR,
    ASYNC,
    DYNAMIC,
    FULLY,
    LAYOUT,
    LOG_PROB,
    MAIN,
    MEGATRON,
    MICRO,
    MID,
    MINI,
    NEW,
    OLD,
    ONE_STEP,
    REF,
    REFERENCE,
    REWARD,
    ROLLOUT,
    SANE,
    SEPARATE,
    TOKENS,
    TRAIN,
    VIRTUAL,
    WORKERS,
    N,
    line,
    made,
    said,
)
from tests.support.checks import case_of, not_checked

BAD = [
    # NR201 to NR204: the keys by themselves
    pytest.param({MICRO: "null"}, MID, MAIN, "NR201", "error", MICRO, [MICRO], id="F018"),
    pytest.param({LOG_PROB: "null"}, OLD, MAIN, "NR201", "error", LOG_PROB, [LOG_PROB], id="F018-rollout"),
    pytest.param({f"{ACTOR}.use_kl_loss": "True"}, MID, MAIN, "NR201", "error", None, ["ref.log_prob"], id="F018-ref"),
    pytest.param(
        {"algorithm.adv_estimator": "gae"}, NEW, MAIN, "NR201", "error", None, ["critic.ppo_micro"], id="F018-critic"
    ),
    pytest.param({MICRO: "null"}, MID, "recipe.mine.main", "NR201", "warning", MICRO, [MICRO], id="own-trainer"),
    pytest.param({"--config-name": "mine", MICRO: "null"}, MID, MAIN, "NR201", "warning", MICRO, [], id="own-config"),
    pytest.param(
        {f"{ACTOR}.ppo_micro_batch_size": "64"},
        NEW,
        MAIN,
        "NR202",
        "error",
        f"{ACTOR}.ppo_micro_batch_size",
        [],
        id="both",
    ),
    pytest.param(
        {"critic.enable": "True", "critic.ppo_micro_batch_size": "64"},
        OLD,
        MAIN,
        "NR202",
        "error",
        "critic.ppo_micro_batch_size",
        [],
        id="both-critic",
    ),
    pytest.param(
        {MICRO: "null", f"{ACTOR}.ppo_micro_batch_size": "64"},
        MID,
        MAIN,
        "NR203",
        "error",
        f"{ACTOR}.ppo_micro_batch_size",
        ["0.8.0"],
        id="deprecated",
    ),
    pytest.param(
        {MICRO: "null", f"{ACTOR}.ppo_micro_batch_size": "64"},
        OLD,
        MAIN,
        "NR203",
        "hint",
        f"{ACTOR}.ppo_micro_batch_size",
        [],
        id="deprecated-old",
    ),
    pytest.param(
        {**TOKENS, f"{ROLLOUT}.log_prob_use_dynamic_bsz": "False"},
        MID,
        MAIN,
        "NR204",
        "error",
        f"{ROLLOUT}.log_prob_use_dynamic_bsz",
        ["False", "True"],
        id="dynamic-differs",
    ),
    # NR205, NR208: mini-batches of the batch
    pytest.param({MINI: "128"}, OLD, MAIN, "NR205", "error", MINI, ["128", "64 prompts"], id="mini-over-train"),
    pytest.param({MINI: "128", **TOKENS}, MID, MAIN, "NR205", "error", MINI, ["128"], id="mini-over-train-dynamic"),
    pytest.param({MINI: "128", **TOKENS}, NEW, MAIN, "NR205", "warning", MINI, ["128"], id="mini-over-train-padded"),
    pytest.param(
        {MINI: "128", **TOKENS}, OLD, MAIN, "NR205", "warning", MINI, ["128"], id="mini-over-train-fsdp-0.7.1"
    ),
    pytest.param({MINI: "48"}, MID, MAIN, "NR208", "error", MINI, ["64 % 48 = 16", "32 / 64"], id="train-by-mini"),
    pytest.param({MINI: "48"}, OLD, MAIN, "NR208", "warning", MINI, ["64 % 48 = 16"], id="train-by-mini-0.7.1"),
    pytest.param({MINI: "48", **TOKENS}, NEW, MAIN, "NR208", "warning", MINI, ["64 % 48"], id="train-by-mini-padded"),
    # NR206, NR207: the batch over the NPUs
    pytest.param(
        {TRAIN: "16", MINI: "16", N: "1", "trainer.nnodes": "3"},
        MID,
        MAIN,
        "NR206",
        "error",
        TRAIN,
        ["16 × n 1 = 16", "world 48", "16 % 48", "to 96"],
        id="F008",
    ),
    pytest.param({TRAIN: "32", N: "1"}, NEW, MAIN, "NR206", "error", TRAIN, ["32 × n 1 = 32", "world 64"], id="F009"),
    pytest.param(
        {TRAIN: "512", N: "1", "trainer.nnodes": "1", "trainer.n_gpus_per_node": "6"},
        OLD,
        MAIN,
        "NR206",
        "error",
        TRAIN,
        ["512 % 6 = 2", "to 36", "504 / 576"],
        id="F011",
    ),
    pytest.param(
        {**LAYOUT, TRAIN: "62", N: "1", MINI: "62", MICRO: "4"},
        MID,
        MAIN,
        "NR206",
        "error",
        TRAIN,
        ["DP 2 × micro 4 = 8", "62 % 8 = 6"],
        id="F014-dp-micro",
    ),
    pytest.param(
        {**TOKENS, TRAIN: "72", N: "1", MINI: "72"},
        MID,
        MAIN,
        "NR207",
        "error",
        TRAIN,
        ["72 × n 1 = 72", "DP 64", "64 / 128", "72 % 64 = 8"],
        id="F008-dynamic",
    ),
    pytest.param(
        {**TOKENS, "data.gen_batch_size": "72", N: "1"},
        MID,
        MAIN,
        "NR207",
        "error",
        "data.gen_batch_size",
        ["gen_batch_size 72"],
        id="gen-batch-over-dp",
    ),
    pytest.param(
        {**TOKENS, TRAIN: "72", N: "1", MINI: "72"},
        MID,
        ONE_STEP,
        "NR207",
        "error",
        TRAIN,
        ["72 % 64"],
        id="one-step-dp",
    ),
    # NR209 to NR211: shares of a rank
    pytest.param({MINI: "4"}, MID, MAIN, "NR209", "error", MINI, ["4 × n 8 = 32", "DP 64", "to 16"], id="F014-mini-dp"),
    pytest.param({MINI: "4", **TOKENS}, NEW, MAIN, "NR209", "error", MINI, ["32 % 64 = 32"], id="mini-dp-queue"),
    pytest.param({MINI: "4"}, OLD, MAIN, "NR209", "error", MINI, ["32 % 64"], id="mini-of-nothing"),
    pytest.param(
        {MINI: "12", TRAIN: "48", **TOKENS}, OLD, MAIN, "NR209", "warning", MINI, ["96 % 64"], id="mini-floored"
    ),
    pytest.param(
        {**FULLY, MINI: "12"}, MID, ASYNC, "NR209", "error", MINI, ["12 × n 8 = 96", "to 16"], id="mini-dp-async"
    ),
    pytest.param(
        {MINI: "20", N: "1", TRAIN: "40", MICRO: "4", "trainer.nnodes": "1", "trainer.n_gpus_per_node": "8"},
        OLD,
        MAIN,
        "NR210",
        "error",
        MICRO,
        ["20 × n 1 = 20", "DP 8", "2 % 4 = 2"],
        id="F019",
    ),
    pytest.param(
        {MINI: "20", N: "1", TRAIN: "40", MICRO: "4", "trainer.nnodes": "1", "trainer.n_gpus_per_node": "8"},
        MID,
        MAIN,
        "NR209",
        "error",
        MINI,
        ["20 % 8 = 4", "to 32"],
        id="F019-engine",
    ),
    pytest.param(
        {MICRO: "3"}, NEW, MAIN, "NR210", "error", MICRO, ["256 / 64 = 4", "4 % 3 = 1", "2 / 4"], id="F019-micro"
    ),
    pytest.param(
        {**LAYOUT, MICRO: "3"}, OLD, MAIN, "NR210", "warning", MICRO, ["128 % 3 = 2"], id="micro-megatron-0.7.1"
    ),
    pytest.param(
        {LOG_PROB: "3"}, MID, MAIN, "NR211", "error", LOG_PROB, ["512 / 64 = 8", "8 % 3", "2 / 4"], id="log-prob"
    ),
    pytest.param(
        {
            **TOKENS,
            **REFERENCE,
            f"{REF}.log_prob_use_dynamic_bsz": "False",
            f"{REF}.log_prob_micro_batch_size_per_gpu": "3",
        },
        NEW,
        MAIN,
        "NR211",
        "error",
        f"{REF}.log_prob_micro_batch_size_per_gpu",
        ["8 % 3"],
        id="log-prob-ref",
    ),
    # NR212, NR219: workers that are no NPUs
    pytest.param(
        {
            TRAIN: "60",
            N: "1",
            MINI: "60",
            "trainer.nnodes": "1",
            "trainer.n_gpus_per_node": "2",
            MICRO: "30",
            LOG_PROB: "30",
        },
        MID,
        MAIN,
        "NR212",
        "error",
        TRAIN,
        ["60 × n 1 = 60", "60 % 8 = 4", "6 / 10", "both to 120"],
        id="F012",
    ),
    pytest.param(
        {
            TRAIN: "4",
            N: "1",
            MINI: "4",
            "trainer.nnodes": "1",
            "trainer.n_gpus_per_node": "4",
            MICRO: "1",
            LOG_PROB: "1",
        },
        OLD,
        MAIN,
        "NR212",
        "error",
        TRAIN,
        ["4 % 8 = 4"],
        id="F013",
    ),
    pytest.param({TRAIN: "4", MINI: "4", N: "16"}, NEW, MAIN, "NR212", "hint", TRAIN, ["4 < 8"], id="F013-queue"),
    pytest.param({WORKERS: "7"}, MID, ONE_STEP, "NR212", "error", WORKERS, ["512 % 7 = 1"], id="F012-one-step"),
    pytest.param(
        {"algorithm.adv_estimator": "remax", N: "1", WORKERS: "3"},
        MID,
        MAIN,
        "NR212",
        "error",
        WORKERS,
        ["+ greedy 64 = 128", "128 % 3"],
        id="F012-remax",
    ),
    pytest.param(
        {**REWARD, "reward.num_workers": "7"},
        MID,
        MAIN,
        "NR219",
        "error",
        "reward.num_workers",
        ["512 % 7"],
        id="reward-workers",
    ),
    # NR213 to NR215, NR218: trainers that generate beside training
    pytest.param(
        {"data.gen_batch_size": "48"},
        NEW,
        MAIN,
        "NR213",
        "error",
        "data.gen_batch_size",
        ["48", "32 / 64"],
        id="gen-batch",
    ),
    pytest.param(
        {"data.gen_batch_size": "128"},
        MID,
        MAIN,
        "NR213",
        "warning",
        "data.gen_batch_size",
        ["128"],
        id="gen-batch-classic",
    ),
    pytest.param({**FULLY, TRAIN: "64"}, MID, ASYNC, "NR214", "error", TRAIN, ["64", "it is 0"], id="async-train"),
    pytest.param(
        {**FULLY, "data.gen_batch_size": "8"},
        OLD,
        ASYNC,
        "NR214",
        "error",
        "data.gen_batch_size",
        ["it is 1"],
        id="async-gen",
    ),
    pytest.param(
        {**FULLY, "async_training.staleness_threshold": "-1"},
        NEW,
        ASYNC,
        "NR214",
        "error",
        "async_training.staleness_threshold",
        ["-1"],
        id="async-staleness",
    ),
    pytest.param(
        {"actor_rollout_ref.hybrid_engine": "True"},
        MID,
        ONE_STEP,
        "NR214",
        "error",
        "actor_rollout_ref.hybrid_engine",
        [],
        id="one-step-hybrid",
    ),
    pytest.param(
        {**FULLY, "trainer.use_legacy_worker_impl": "auto"},
        OLD,
        ASYNC,
        "NR214",
        "error",
        "trainer.use_legacy_worker_impl",
        ["disable"],
        id="async-older-workers",
    ),
    pytest.param(
        SEPARATE, NEW, MAIN, "NR215", "error", TRAIN, ["64", "4 × ppo_mini_batch_size 32 = 128"], id="separate"
    ),
    pytest.param(
        {**FULLY, "rollout.total_rollout_steps": "100"},
        MID,
        ASYNC,
        "NR218",
        "warning",
        "rollout.total_rollout_steps",
        ["prompts 64 × trigger_parameter_sync_step 4 = 256"],
        id="async-steps",
    ),
    # NR216, NR217
    pytest.param(
        {
            **VIRTUAL,
            f"{MEGATRON}.pipeline_model_parallel_size": "2",
            f"{MEGATRON}.context_parallel_size": "1",
            MINI: "16",
            N: "1",
            MICRO: "1",
            LOG_PROB: "1",
        },
        MID,
        MAIN,
        "NR216",
        "error",
        f"{MEGATRON}.virtual_pipeline_model_parallel_size",
        ["16 → 1", "1 / micro 1 = 1", "PP 2", f"{MINI} to 32"],
        id="F014",
    ),
    pytest.param(
        {**VIRTUAL, LOG_PROB: "128"},
        OLD,
        MAIN,
        "NR216",
        "error",
        LOG_PROB,
        ["256 / micro 128 = 2", "PP 4", "to 64"],
        id="F014-log-prob",
    ),
    pytest.param(
        {**VIRTUAL, **TOKENS, MINI: "4", N: "1"},
        MID,
        MAIN,
        "NR216",
        "error",
        None,
        ["4 → 2", "PP 4"],
        id="F014-dynamic",
    ),
    pytest.param(
        {**VIRTUAL, "data.train_batch_size": "6", N: "2", MINI: "6", LOG_PROB: "1", MICRO: "1", WORKERS: "1"},
        MID,
        MAIN,
        "NR216",
        "error",
        None,
        ["12 → 6", "PP 4", "to 4 / 8"],
        id="F014-no-micro-will-do",
    ),
    pytest.param({N: "0"}, MID, MAIN, "NR217", "error", N, ["is 0"], id="zero"),
    pytest.param({TRAIN: "0"}, NEW, MAIN, "NR217", "error", TRAIN, ["is 0"], id="zero-train"),
]


@pytest.mark.parametrize(("changes", "stack", "module", "rule", "severity", "key", "words"), BAD)
def test_it_is_found(
    changes: dict[str, str], stack: str, module: str, rule: str, severity: str, key: str | None, words: list[str]
) -> None:
    found = [finding for finding in said(changes, stack, module) if finding.id == rule]
    assert found, [finding.message() for finding in said(changes, stack, module)]
    finding = found[0]
    assert finding.severity == severity
    if key is not None:
        assert finding.place.key == key
        assert finding.place.line == line(changes, key)
    whole = f"{finding.message()} {finding.fix()}"
    assert [word for word in words if word not in whole] == [], whole
    assert finding.message("zh") != finding.message()


GOOD = [
    pytest.param({}, OLD, MAIN, id="sane-0.7.1"),
    pytest.param({}, MID, MAIN, id="sane-0.8.0"),
    pytest.param({}, NEW, MAIN, id="sane-main"),
    pytest.param(TOKENS | {MICRO: "null", LOG_PROB: "null"}, MID, MAIN, id="dynamic-needs-no-micro"),
    pytest.param(REFERENCE, MID, MAIN, id="reference"),
    pytest.param({MINI: "64"}, MID, MAIN, id="mini-is-the-batch"),
    pytest.param(LAYOUT, MID, MAIN, id="megatron"),
    pytest.param(LAYOUT, OLD, MAIN, id="megatron-0.7.1"),
    pytest.param(VIRTUAL, MID, MAIN, id="virtual"),
    pytest.param({**VIRTUAL, **TOKENS, MINI: "8", N: "1"}, NEW, MAIN, id="virtual-dynamic-border"),
    pytest.param({**TOKENS, TRAIN: "72", N: "1", MINI: "64"} | {MINI: "24", N: "8"}, NEW, MAIN, id="queue-pads"),
    pytest.param({TRAIN: "8", MINI: "8", N: "64"}, NEW, MAIN, id="as-many-prompts-as-workers"),
    pytest.param({WORKERS: "32"}, MID, MAIN, id="more-workers"),
    pytest.param({"actor_rollout_ref.hybrid_engine": "False"}, MID, ONE_STEP, id="one-step"),
    pytest.param(FULLY, MID, ASYNC, id="async"),
    pytest.param(FULLY | TOKENS, NEW, ASYNC, id="async-main"),
    pytest.param({**FULLY, "rollout.total_rollout_steps": "256"}, MID, ASYNC, id="async-one-sync"),
    pytest.param({**SEPARATE, TRAIN: "128"}, NEW, MAIN, id="separate"),
    pytest.param({"data.gen_batch_size": "16"}, NEW, MAIN, id="gen-batch-divides"),
    pytest.param(
        {"data.gen_batch_size": "48", "algorithm.filter_groups.enable": "True"}, NEW, MAIN, id="refilled-by-one"
    ),
    pytest.param({"trainer.use_v1": "False"}, NEW, MAIN, id="classic-in-main"),
    pytest.param({f"{ACTOR}.ulysses_sequence_parallel_size": "16", MINI: "4"}, MID, MAIN, id="sequence-parallel"),
    pytest.param({f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size": "16", MINI: "4"}, MID, MAIN, id="engine-key"),
    pytest.param({LOG_PROB: "3"}, OLD, MAIN, id="older-workers-split"),
    pytest.param({LOG_PROB: "3", "algorithm.rollout_correction.bypass_mode": "True"}, MID, MAIN, id="bypassed"),
    pytest.param(
        {WORKERS: "7", f"{ROLLOUT}.agent.agent_loop_manager_class": "my.Manager"}, MID, MAIN, id="own-manager"
    ),
    pytest.param({**REWARD, "reward.num_workers": "7"}, NEW, MAIN, id="reward-workers-pad"),
    pytest.param({"trainer.nnodes": "3", MINI: "7"}, MID, "verl.trainer.main_generation_server", id="generation"),
    pytest.param({f"{ACTOR}.strategy": "automodel", **TOKENS, MINI: "4"}, MID, MAIN, id="layout-unknown"),
    pytest.param({MICRO: "${oc.env:MICRO}"}, MID, MAIN, id="unknown-is-not-null"),
]


@pytest.mark.parametrize(("changes", "stack", "module"), GOOD)
def test_nothing_is_said(changes: dict[str, str], stack: str, module: str) -> None:
    assert [finding.message() for finding in said(changes, stack, module)] == []


def test_a_layout_that_cannot_be_told_is_not_silently_passed() -> None:
    (told,) = not_checked(made({f"{ACTOR}.strategy": "automodel", **TOKENS}), "NR207")
    assert "automodel" in told.message() and "automodel" in told.message("zh")
    assert not not_checked(made({}), "NR207")


@pytest.mark.parametrize("module", [MAIN, ONE_STEP])
@pytest.mark.parametrize("stack", [OLD, MID, NEW])
@pytest.mark.parametrize("base", [{}, TOKENS, LAYOUT, {**LAYOUT, **TOKENS}], ids=["fsdp", "tokens", "megatron", "both"])
def test_what_the_fixes_say_passes_every_rule(base: dict[str, str], stack: str, module: str) -> None:
    """Whichever of the sizes offered is taken: a fix never leads to the next error."""
    for train, mini, n, micro, nodes in product((4, 50, 64), (4, 50, 64), (1, 5), (1, 4), ("1", "3")):
        bad = {**base, TRAIN: str(train), MINI: str(mini), N: str(n), MICRO: str(micro), "trainer.nnodes": nodes}
        if not {one.id for one in said(bad, stack, module)} & FIXED:
            continue
        for fixed in _fixed(bad, stack, module):
            left = [one.message() for one in said(fixed, stack, module) if one.id in FIXED and one.severity != "hint"]
            assert left == [], (bad, fixed)


FIXED = {"NR205", "NR206", "NR207", "NR208", "NR209", "NR210", "NR212"}


def _fixed(bad: dict[str, str], stack: str, module: str) -> Iterator[dict[str, str]]:
    case = case_of(made(bad, stack, module))
    batch = batch_of(case)
    assert batch is not None
    sizes = sizes_of(case, batch)
    batches, minis = sizes.batches.split(" / "), sizes.minis.split(" / ")
    if sizes.both and batches == minis:
        yield from ({**bad, TRAIN: one, MINI: one} for one in batches)
    elif sizes.both:
        yield from ({**bad, TRAIN: one, MINI: other} for one, other in product(batches, minis))
    else:
        yield from ({**bad, TRAIN: one} for one in batches if one)
        yield from ({**bad, MINI: one} for one in minis if one)


def test_two_rules_on_one_batch_say_the_same() -> None:
    changes = {TRAIN: "32", MINI: "32", N: "5", MICRO: "4", "trainer.nnodes": "3", "trainer.n_gpus_per_node": "8"}
    found = [one for one in said(changes, OLD) if one.id in FIXED]
    assert {one.id for one in found} == {"NR206", "NR209", "NR210"}
    assert {one.fix() for one in found} == {f"Set {TRAIN} and {MINI} both to 96"}


@pytest.mark.parametrize("text", ["yes", "[1]", "{a: 1}", "1.5", "-3", "null", "''", "1e3", "'8'", "9" * 30])
@pytest.mark.parametrize("stack", [OLD, MID, NEW])
def test_values_of_a_wrong_kind_end_in_no_exception(text: str, stack: str) -> None:
    for key in (*SANE, WORKERS, DYNAMIC, "data.gen_batch_size", f"{MEGATRON}.pipeline_model_parallel_size"):
        for module in (MAIN, ASYNC, ONE_STEP):
            for finding in said({**LAYOUT, key: text}, stack, module):
                assert finding.message() and finding.fix("zh")
