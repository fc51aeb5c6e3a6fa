"""How the rollout cuts the world into replicas: each rule failing, passing and at the border."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from submitter.checks.finding import Finding
from submitter.checks.rollout_layout import RULES
from submitter.job.model import Job, Trainer
from tests.support.builders import job, raw
from tests.support.checks import findings_of

ROLLOUT, PATH = "actor_rollout_ref.rollout", "actor_rollout_ref.model.path"
NODES, NPUS, NAME = "trainer.nnodes", "trainer.n_gpus_per_node", f"{ROLLOUT}.name"
TP, DP, PP, EP = (f"{ROLLOUT}.{name}_parallel_size" for name in ("tensor_model", "data", "pipeline_model", "expert"))
LOCAL = f"+{ROLLOUT}.engine_kwargs.vllm.data_parallel_size_local"
OLD, MID = "cann-8.5.0", "cann-9.0.0"
"""verl 0.7.1 and 0.8.0."""
MAIN = "verl.trainer.main_ppo"
ONE_STEP = "verl.experimental.one_step_off_policy.main_ppo"
ASYNC = "verl.experimental.fully_async_policy.fully_async_main"

MOE = {NODES: "4", NPUS: "16", NAME: "vllm", PATH: "/models/Qwen3-30B-A3B", TP: "4"}
"""32 heads, 4 key-value heads, 128 experts."""
DENSE = {**MOE, PATH: "/models/Qwen2.5-7B-Instruct"}
"""28 heads, 4 key-value heads."""
OWN = {**MOE, "rollout.nnodes": "2", "rollout.n_gpus_per_node": "8", NPUS: "8"}


def made(changes: Mapping[str, str], base: Mapping[str, str] = MOE, stack: str | None = MID, module: str = MAIN) -> Job:
    groups = {"all": {key: raw(text) for key, text in {**base, **changes}.items()}}
    return job(groups=groups, stack=stack, trainer=Trainer(module, "ray"))


def said(made_job: Job) -> list[Finding]:
    return findings_of(made_job, *(rule.id for rule in RULES))


FAILING = [
    # id, changes, base, severity, key of the place, what the message names
    pytest.param("NR260", {TP: "8"}, DENSE, "error", TP, "28 attention heads, which TP 8", id="F030"),
    pytest.param("NR261", {TP: "6", PATH: "Qwen/Qwen3.5-27B", NPUS: "6"}, MOE, "error", TP, "4 key-value", id="kv"),
    pytest.param("NR262", {TP: "4", NPUS: "6", NODES: "1"}, MOE, "error", TP, "6 NPUs: 2 are left", id="world"),
    pytest.param("NR262", {TP: "16", NPUS: "8", NODES: "1"}, MOE, "error", TP, "TP 16 NPUs", id="world-too-small"),
    pytest.param(
        "NR262", {DP: "3", TP: "1", PATH: "mine"}, MOE, "error", DP, "replicas of DP 3 NPUs", id="world-data-parallel"
    ),
    pytest.param(
        "NR263", {TP: "6", NPUS: "8", NODES: "3", PATH: "mine"}, MOE, "error", TP, "nodes of 8", id="straddles"
    ),
    pytest.param("NR263", {TP: "12", NPUS: "8", NODES: "3", PATH: "mine"}, MOE, "error", TP, "TP 12", id="not-whole"),
    pytest.param("NR264", {EP: "2"}, MOE, "error", EP, "TP 4 × DP 1 = 4", id="expert-size"),
    pytest.param("NR264", {EP: "8", DP: "4"}, MOE, "error", EP, "EP 8", id="expert-size-with-data"),
    pytest.param("NR265", {TP: "12", EP: "12", NPUS: "12"}, MOE, "warning", EP, "128 experts", id="experts"),
    pytest.param("NR266", {DP: "2", EP: "1"}, DENSE, "warning", DP, "DP 2", id="F036-later-verl"),
    pytest.param(
        "NR267",
        {LOCAL: "4", TP: "4", DP: "4", EP: "16", NPUS: "8", NODES: "2"},
        MOE,
        "error",
        LOCAL,
        "= 16",
        id="F073",
    ),
    pytest.param(
        "NR267", {TP: "16", DP: "2", EP: "32", NPUS: "8"}, MOE, "error", TP, "a node of 8 NPUs", id="tensor-over-node"
    ),
    pytest.param("NR268", {TP: "16", NPUS: "8"}, MOE, "warning", TP, "spans 2 nodes of 8 NPUs", id="F152"),
    pytest.param(
        "NR268",
        {TP: "4", DP: "4", EP: "16", NPUS: "8", NODES: "2"},
        MOE,
        "warning",
        None,
        "4 × DP 4 = 16",
        id="F073-spans",
    ),
    pytest.param("NR269", {PP: "2"}, MOE, "error", PP, "NotImplementedError", id="pipeline"),
]


@pytest.mark.parametrize(("rule", "changes", "base", "severity", "key", "message"), FAILING)
def test_failing(
    rule: str, changes: Mapping[str, str], base: Mapping[str, str], severity: str, key: str | None, message: str
) -> None:
    (finding,) = [one for one in said(made(changes, base)) if one.id == rule]
    assert finding.severity == severity
    assert message in finding.message()
    assert finding.place.line is not None
    if key:
        assert finding.place.key == key
    for language in ("en", "zh"):
        assert finding.message(language) and finding.fix(language)


PASSING = [
    pytest.param({}, MOE, id="moe"),
    pytest.param({}, DENSE, id="dense"),
    pytest.param({TP: "16"}, MOE, id="a-whole-node"),
    pytest.param({TP: "16", EP: "16", PATH: "Qwen3.5-122B-A10B"}, MOE, id="shipped"),
    pytest.param({TP: "2", DP: "8", EP: "16"}, MOE, id="experts-of-a-node"),
    pytest.param({TP: "2", DP: "4"}, MOE, id="moe-data-parallel"),
    pytest.param({TP: "14", NPUS: "14"}, {**DENSE, PATH: "Qwen/Qwen2.5-0.5B"}, id="kv-repeated"),
    pytest.param({TP: "8", PATH: "Qwen/Qwen3-8B"}, MOE, id="kv-one-each"),
    pytest.param({TP: "32", NAME: "hf", NODES: "1"}, DENSE, id="no-engine"),
    pytest.param({TP: "16", NPUS: "8", NODES: "1", NAME: "sglang", f"{ROLLOUT}.disaggregation.enabled": "True"}, MOE),
    pytest.param({EP: "2", NAME: "trtllm"}, MOE, id="trtllm-experts"),
]


@pytest.mark.parametrize(("changes", "base"), PASSING)
def test_passing(changes: Mapping[str, str], base: Mapping[str, str]) -> None:
    assert said(made(changes, base)) == []


@pytest.mark.parametrize(
    ("path", "base"), [("Qwen2.5-7B-Instruct", DENSE), ("Qwen3-30B-A3B", MOE)], ids=["F036", "moe"]
)
def test_data_parallel_replicas_hang_before_verl_0_8(path: str, base: Mapping[str, str]) -> None:
    (finding,) = said(made({DP: "2", PATH: path}, base, OLD))
    assert (finding.id, finding.severity) == ("NR266", "error")
    assert "DP 2" in finding.message() and "EP 8" not in finding.message()
    assert said(made({DP: "2", EP: "8", PATH: "Qwen3-30B-A3B"}, base, OLD)) == []


@pytest.mark.parametrize("module", [ONE_STEP, ASYNC])
@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({TP: "4"}, []),
        ({TP: "16"}, [("NR268", "warning")]),
        ({TP: "32"}, [("NR262", "error"), ("NR268", "warning")]),
        ({TP: "4", "rollout.n_gpus_per_node": "6", "rollout.nnodes": "1"}, [("NR262", "warning")]),
        # 3 replicas of 4 from 12 NPUs, but only one fits each node of 6.
        ({TP: "4", "rollout.n_gpus_per_node": "6"}, [("NR263", "error")]),
        ({TP: "4", NPUS: "2", NODES: "1"}, []),  # the trainer's nodes do not matter
    ],
    ids=["fits", "spans", "too-small", "idle", "no-place", "trainer"],
)
def test_a_rollout_with_nodes_of_its_own(module: str, changes: Mapping[str, str], found: list[tuple[str, str]]) -> None:
    findings = said(made(changes, OWN, module=module))
    assert sorted((one.id, one.severity) for one in findings) == found


@pytest.mark.parametrize(
    "mode", [{"actor_rollout_ref.hybrid_engine": "False"}, {"+trainer.v1.trainer_mode": "separate_async"}], ids=str
)
def test_nodes_of_its_own_in_the_main_trainer(mode: Mapping[str, str]) -> None:
    own = {f"{ROLLOUT}.nnodes": "1", f"{ROLLOUT}.n_gpus_per_node": "4", **mode}
    assert said(made({**own, NPUS: "6"})) == []
    assert [one.id for one in said(made({**own, NPUS: "6", TP: "8"}))] == ["NR262", "NR268"]


@pytest.mark.parametrize("text", ["two", "null", "-1", "0", "1.5", "[2]", "{a: 2}", "''", "${nowhere}", "9" * 30])
@pytest.mark.parametrize("keys", [(TP, DP, EP), (PP,), (NODES, NPUS), (NAME, PATH), (LOCAL,)], ids=str)
def test_values_of_a_wrong_kind_are_no_exception(text: str, keys: tuple[str, ...]) -> None:
    for module in (MAIN, ASYNC):
        for finding in said(made(dict.fromkeys(keys, text), module=module)):
            assert finding.message() and finding.fix()


def test_sizes_offered_fit_a_node() -> None:
    """28 attention heads: 28 NPUs are neither in a node nor in the world."""
    (finding,) = [one for one in said(made({TP: "8"}, DENSE)) if one.id == "NR260"]
    assert finding.fix().endswith("one of 1, 2, 4")
