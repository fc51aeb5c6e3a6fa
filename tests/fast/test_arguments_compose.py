"""Composition: agrees with Hydra's own, tells every bad argument, leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.arguments.assemble import arguments
from submitter.arguments.compose import REFUSED, Composition, Problem, compose
from submitter.arguments.trees import DEFAULT_RELEASES, FolderPackage, Tree, find_tree, install
from submitter.job.load import load_job
from tests.support.job_files import HOME

PPO = "verl.trainer.main_ppo"
ASYNC = "verl.experimental.fully_async_policy.fully_async_main"
NAME = "actor_rollout_ref.rollout.name=vllm"
ACTOR = "actor_rollout_ref.actor"
MANY_KEYS_S = 20
"""Of 2000 unknown keys: 0.7 s on an idle machine, 15 s when each is compared with every key."""

POOL = (
    NAME,
    "model_engine=megatron",
    "model_engine=dp",
    "model_engine=nope",
    "+model_engine=dp",
    "actor@actor_rollout_ref.actor=dp_actor",
    "nope@trainer=x",
    "data/nope=x",
    "trainer.nnodes=4",
    "+trainer.nnodes=4",
    "++trainer.nnodes=4",
    "trainer.nnode=4",
    "+trainer.nnode=4",
    "+trainer.nnode=5",
    "trainer.nnodes.x=4",
    "trainer={nnodes: 3}",
    "+trainer={a: {b: 1}}",
    "trainer.logger=[console,file]",
    "~trainer.nnodes",
    "~trainer.nnodes=7",
    "~trainer.nothing",
    "~trainer",
    "trainer",
    "data.seed=1,2",
    "data.seed=choice(1,2)",
    "data.seed=[",
    "data.train_files='it''s'",
    r"data.train_files='\${x}'",
    "data.train_files=${data.val_files}",
    "data.train_files=${nowhere}",
    "data.val_files=???",
    f"{ACTOR}.megatron.grad_offload=True",
    f"{ACTOR}.optim=adam",
    f"{ACTOR}.optim=null",
    f"{ACTOR}.optim.lr=1e-6",
    f"+{ACTOR}.foo.bar=1",
    f"{ACTOR}.checkpoint.save_contents.0=model",
    "hydra.run.dir=/tmp/x",
    "hydra.run.dirr=/tmp/x",
    "=",
    "+",
    "a.b.c",
)


def tree_of(trees: Path, release: str = "0.8.0") -> Tree:
    tree = find_tree(trees, release)
    assert tree is not None
    return tree


def composed(trees: Path, *words: str, release: str = "0.8.0", module: str = PPO) -> Composition:
    return compose(tree_of(trees, release), module, words)


def problems(trees: Path, *words: str, release: str = "0.8.0", module: str = PPO) -> list[Problem]:
    """But for what verl's configuration itself leaves open."""
    return [one for one in composed(trees, *words, release=release, module=module).problems if one.index is not None]


def hydra_takes(tree: Tree, module: str, words: Sequence[str]) -> bool:
    """Hydra's public API on the same files, as verl's own process would call it."""
    from hydra import compose as public
    from hydra import initialize_config_dir

    config = tree.modules[module]
    path = [f"hydra.searchpath=[file://{tree.folder / 'verl/trainer/config'}]"] if "experimental" in module else []
    with initialize_config_dir(str(tree.folder / config.folder), version_base=None):
        try:
            public(config.name, overrides=[*path, *words], return_hydra_config=True)
        except Exception:  # Hydra lets OmegaConf's and Python's own through: each ends the trainer
            return False
    return True


SMALL = {
    "verl/trainer/main_ppo.py": '@hydra.main(config_path="config", config_name="ppo_trainer")\ndef main(c): ...\n',
    "verl/trainer/config/ppo_trainer.yaml": """
defaults:
  - model_engine: dp
  - actor@actor_rollout_ref.actor: ${model_engine}_actor
  - data@data: legacy
  - _self_
actor_rollout_ref: {rollout: {name: "???"}}
trainer: {nnodes: 1, logger: [console]}
""",
    "verl/trainer/config/model_engine/dp.yaml": "# @package _global_\nmodel_engine: dp\n",
    "verl/trainer/config/model_engine/megatron.yaml": "# @package _global_\nmodel_engine: megatron\n",
    "verl/trainer/config/actor/dp_actor.yaml": "optim: {lr: 1e-6}\ncheckpoint: {save_contents: [model]}\n",
    "verl/trainer/config/actor/megatron_actor.yaml": "optim: {lr: 1e-6}\nmegatron: {grad_offload: false}\n",
    "verl/trainer/config/data/legacy.yaml": "seed: null\ntrain_files: x\nval_files: ${.train_files}\n",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A tree in which Hydra's own, slow loader is quick."""
    root = tmp_path_factory.mktemp("small")
    for name, text in SMALL.items():
        (root / "package" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "package" / name).write_text(text)
    return install(FolderPackage(root / "package"), "1.2.3", "here", root / "trees")


def agrees(tree: Tree, module: str, words: Sequence[str]) -> None:
    refused = [one for one in compose(tree, module, words).problems if one.kind in REFUSED]
    assert (not refused) == hydra_takes(tree, module, words), (words, refused)


@settings(max_examples=40)
@given(words=st.lists(st.sampled_from(POOL), max_size=6))
def test_there_is_no_problem_exactly_when_hydra_composes_all(small: Tree, words: list[str]) -> None:
    agrees(small, PPO, words)


@settings(max_examples=60)
@given(
    words=st.lists(st.text(alphabet="atx.=[]{}'\"$,:+~@/-? 1\\²\n", max_size=12) | st.sampled_from(POOL), max_size=4)
)
def test_any_words_give_problems_and_no_exception(small: Tree, words: list[str]) -> None:
    assert isinstance(compose(small, PPO, words), Composition)


@pytest.mark.parametrize("word", POOL)
def test_each_alone(small: Tree, word: str) -> None:
    agrees(small, PPO, [word])


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (PPO, [NAME, "model_engine=megatron", f"{ACTOR}.megatron.grad_offload=True", "hydra.run.dir=/tmp/x"]),
        (ASYNC, [NAME, "rollout.nnodes=1", "+trainer.x=1"]),
        (ASYNC, [NAME, "+rollout.nnodes=1"]),
    ],
)
def test_agrees_on_verls_own_trees(trees: Path, module: str, words: list[str]) -> None:
    agrees(tree_of(trees), module, words)


def test_every_bad_argument_is_told_at_its_place(trees: Path) -> None:
    words = ["trainer.nnode=1", NAME, "~data.foo", "+trainer.nnodes=2", "data.x=[", "trainer.test_freq=abc"]
    assert [(one.kind, one.index) for one in problems(trees, *words)] == [
        ("unknown", 0),
        ("absent", 2),
        ("exists", 3),
        ("grammar", 4),
        ("type", 5),
    ]


def test_the_shipped_job_composes(trees: Path) -> None:
    words = arguments(load_job("qwen3_5_122b_a10b_32k", environ=HOME))
    assert problems(trees, *words) == []
    assert problems(trees, *words, release="0.9.0") == []
    gone = problems(trees, *words, release="0.9.1")
    assert [(one.kind, one.key) for one in gone] == [("unknown", f"{ACTOR}.megatron.grad_offload")]
    old = problems(trees, *words, release="0.7.1")
    assert [(one.kind, one.key) for one in old] == [
        ("unknown", f"{ACTOR}.checkpoint.strict"),
        ("group", "model_engine"),
    ]


@pytest.mark.parametrize("release", [DEFAULT_RELEASES[0], DEFAULT_RELEASES[-1]])
def test_every_trainer_composes(trees: Path, release: str) -> None:
    tree = tree_of(trees, release)
    assert {PPO, "verl.trainer.sft_trainer", ASYNC, "verl.trainer.main_generation_server"} <= set(tree.modules)
    for module, config in {config: (module, config) for module, config in tree.modules.items()}.values():
        found = compose(tree, module, [])
        assert found.config == config.name
        assert not [one for one in found.problems if one.kind in REFUSED]


def test_a_damaged_tree_is_a_reason(small: Tree, tmp_path: Path) -> None:
    tree = install(FolderPackage(small.folder), "1.2.3", "here", tmp_path)
    (tree.folder / "verl/trainer/config/data/legacy.yaml").write_text("a: [")
    assert compose(tree, PPO, ["trainer.nnodes=2"]).reason == "damaged"


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("trainer.nnode=1", "trainer.nnodes"),
        ("actor_rolout_ref.actor.ppo_epoch=1", "actor_rollout_ref.actor.ppo_epochs"),
        ("actor_rollout_ref.rollout.ppo_mini_batch_size=1", "actor_rollout_ref.actor.ppo_mini_batch_size"),
        ("zzzzzzz=1", "-"),
    ],
)
def test_the_nearest_key(trees: Path, word: str, nearest: str) -> None:
    [problem] = problems(trees, word)
    assert (problem.kind, problem.values["nearest"]) == ("unknown", nearest)


@pytest.mark.parametrize(
    "word",
    [
        "actor_rollout_ref.rollout.limit_images=4",
        "actor_rollout_ref.rollout.engine_kwargs.vllm.async_scheduling=True",
        f"{ACTOR}.megatron.override_transformer_config.moe_grouped_gemm=True",
        f"{ACTOR}.optim.override_optimizer_config.x=1",
    ],
)
def test_a_plus_is_missing(trees: Path, word: str) -> None:
    assert [one.kind for one in problems(trees, "model_engine=megatron", word)] == ["add"]
    assert problems(trees, "model_engine=megatron", f"+{word}") == []
    assert problems(trees, "model_engine=megatron", f"++{word}") == []


def test_a_plus_is_missing_in_a_dict_that_another_argument_began(trees: Path) -> None:
    extra = "actor_rollout_ref.rollout.engine_kwargs.vllm.additional_config"
    [problem] = problems(trees, f"++{extra}.a=1", f"{extra}.b=1")
    assert (problem.kind, problem.index) == ("add", 1)


@pytest.mark.parametrize(
    ("word", "field"),
    [
        (f"+{ACTOR}.grad_ofload=1", "grad_ofload"),
        (f"++{ACTOR}.policy_loss.tau_pos=1.0", "tau_pos"),
        ("++actor_rollout_ref.rollout.val_kwargs.foo=1", "foo"),
        (f"++{ACTOR}.megatron.x.y=1", "megatron"),  # the FSDP actor has none
    ],
)
def test_a_field_that_verl_would_refuse(trees: Path, word: str, field: str) -> None:
    [problem] = problems(trees, word)
    assert (problem.kind, problem.values["field"]) == ("refused_field", field)


@pytest.mark.parametrize(
    ("word", "how"),
    [
        ("data.train_batch_size=abc", "fails"),
        ("data.train_batch_size=[1]", "fails"),
        ("trainer.nnodes='4'", "odd"),
        ("trainer.nnodes=True", "odd"),
        (f"{ACTOR}.ppo_mini_batch_size=2.5", "fraction"),
        (f"{ACTOR}.ppo_mini_batch_size=1e2", "odd"),
        ("data.train_batch_size=2.5", "fraction"),
        ("trainer.ray_wait_register_center_timeout=2.5", "odd"),
        (f"{ACTOR}.optim=adam", "fails"),
        (f"{ACTOR}.optim.lr=fast", "fails"),
        (f"{ACTOR}.use_kl_loss=no", "truthy"),
        (f"{ACTOR}.use_kl_loss='False'", "truthy"),
        (f"{ACTOR}.use_kl_loss=maybe", "odd"),
        ("actor_rollout_ref.rollout.max_model_len=long", "fails"),
        ("actor_rollout_ref.rollout.engine_kwargs=5", "fails"),
    ],
)
def test_wrong_types(trees: Path, word: str, how: str) -> None:
    [problem] = problems(trees, word)
    assert (problem.kind, problem.values["how"]) == ("type", how)


@pytest.mark.parametrize(
    "word",
    [
        f"{ACTOR}.optim.lr=1",
        f"{ACTOR}.entropy_coeff=0.001",
        f"{ACTOR}.use_kl_loss=yes",
        f"{ACTOR}.use_kl_loss=1",
        "actor_rollout_ref.rollout.max_model_len=null",
        "actor_rollout_ref.rollout.max_model_len=${data.max_prompt_length}",
        "actor_rollout_ref.rollout.cudagraph_capture_sizes=[1,2]",
        "actor_rollout_ref.rollout.quantization=fp8",
        "trainer.logger=console",
        "trainer.experiment_name=123",
        "data.train_files=[a,b]",
        "algorithm.rollout_correction.rollout_is_threshold=0.5_4.0",
        "trainer.total_training_steps=5",
        f"{ACTOR}.fsdp_config.wrap_policy.min_num_params=10",
    ],
)
def test_types_that_fit(trees: Path, word: str) -> None:
    assert problems(trees, word) == []


@pytest.mark.parametrize(
    ("words", "config"),
    [
        (["--config-name=ppo_megatron_trainer.yaml"], "ppo_megatron_trainer"),
        (["--config-name", "ppo_megatron_trainer", "trainer.nnodes=2"], "ppo_megatron_trainer"),
        (["--config-path=config", "--config-name=ppo_trainer"], "ppo_trainer"),
        (["--config-path=./config"], "ppo_trainer"),
        (["--config-path=/opt/verl/verl/trainer/config", "--config-name=ppo_trainer"], "ppo_trainer"),
    ],
)
def test_options_choose_the_config(trees: Path, words: list[str], config: str) -> None:
    found = composed(trees, *words, release="0.7.1")
    assert (found.config, found.reason) == (config, "")
    assert [one for one in found.problems if one.kind in REFUSED] == []


@pytest.mark.parametrize(
    ("module", "words", "reason"),
    [
        ("my.trainer", [], "module"),
        (PPO, ["--config-path=/home/me/config"], "config_folder"),
        (PPO, ["--config-path=../../.."], "config_folder"),
        (PPO, ["--config-dir=mine"], "config_folder"),
        (PPO, ["hydra.searchpath=[file:///mine]"], "config_folder"),
        (PPO, ["model_engine=mindspeed"], "engine"),
    ],
)
def test_what_cannot_be_composed(trees: Path, module: str, words: list[str], reason: str) -> None:
    assert composed(trees, *words, release="0.7.1", module=module).reason == reason


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (["trainer.nnodes=1", "--config-name=ppo_trainer", "trainer.nnodes=2"], [("between", 1)]),
        (["trainer.nnodes=1", "--config-name", "ppo_trainer"], []),
        (["--config-name=ppo_trainer", "trainer.nnodes=1"], []),
        (["--multirun"], [("option", 0)]),
        (["--cfg", "job"], [("option", 0), ("grammar", 1)]),
    ],
)
def test_options_stand_before_or_after(trees: Path, words: list[str], kinds: list[tuple[str, int]]) -> None:
    assert [(one.kind, one.index) for one in problems(trees, *words)] == kinds


def test_a_config_that_does_not_exist(trees: Path) -> None:
    [problem] = problems(trees, "--config-name=../../tree")
    assert problem.kind == "config_name"
    assert "ppo_trainer" in problem.values["choices"]


def test_references_that_lead_nowhere(trees: Path) -> None:
    words = ["data.train_files=${data.nothing}", "data.val_files=${oc.env:NOT_SET_HERE}", "trainer.nnodes=${x:1}"]
    assert [(one.kind, one.index) for one in problems(trees, *words)] == [("interpolation", 0), ("interpolation", 2)]


def test_a_cold_process_imports_neither_torch_nor_verl(trees: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from submitter.arguments.compose import compose\n"
        "from submitter.arguments.trees import find_tree\n"
        "assert 'hydra' not in sys.modules\n"
        f"found = compose(find_tree(pathlib.Path({str(trees)!r}), '0.8.0'), {PPO!r}, ['trainer.nnode=1'])\n"
        "assert found.problems\n"
        "print([name for name in ('torch', 'verl', 'ray', 'transformers') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout.strip() == "[]"


def test_hydra_is_left_as_it_was(trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hydra import version
    from hydra.core.global_hydra import GlobalHydra

    before = version.VersionBase.instance().version_base
    monkeypatch.chdir(tmp_path)
    first = composed(trees, "trainer.nnode=1")
    assert composed(trees, "trainer.nnode=1") == first
    assert version.VersionBase.instance().version_base is before
    assert not GlobalHydra.instance().is_initialized()
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_two_threads_do_not_meet(trees: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    words = [(release, f"trainer.nnode{index}=1") for index, release in enumerate(DEFAULT_RELEASES)]
    with ThreadPoolExecutor(len(words)) as pool:
        found = list(pool.map(lambda one: composed(trees, one[1], release=one[0]), words))
    assert [one.release for one in found] == list(DEFAULT_RELEASES)
    assert all([one.kind for one in composition.problems if one.index == 0] == ["unknown"] for composition in found)


def test_many_unknown_keys_are_told_in_little_time(trees: Path) -> None:
    """The last of them still gets what needs no comparison of letters: the same last name elsewhere."""
    words = [f"data.zz{number}=1" for number in range(2000)] + ["trainer.train_batch_size=1"]
    started = time.monotonic()
    found = [problem for problem in problems(trees, *words) if problem.kind == "unknown"]
    assert len(found) == len(words)
    assert found[-1].values["nearest"] == "data.train_batch_size"
    assert time.monotonic() - started < MANY_KEYS_S
