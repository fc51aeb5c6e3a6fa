"""The overlay: what of a job stays, what changes and why, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from submitter.arguments.assemble import arguments, flags
from submitter.errors import UsageError
from submitter.job.load import load_job
from submitter.job.model import Job
from submitter.rehearsal.overlay import OVERLAY, Change, apply_overlay, bare, load_overlay
from submitter.rehearsal.rehearse import memory_needed, node_specs
from submitter.texts import TABLE, text

MAIN_JOB = "qwen3_5_122b_a10b_32k"
WORKDIR = Path("/tmp/work dir/it's; $HOME")
TINY_JOB = """
name: tiny
cluster: {{nodes: 2, npus_per_node: 8}}
env: {env}
trainer: {{module: {module}, launcher: ray}}
arguments:
  all: {arguments}
"""


def main_job(*, extra: Sequence[str] = (), sets: Sequence[str] = ()) -> Job:
    return load_job(MAIN_JOB, environ={"HOME": "/root"}, sets=sets, extra=extra)


def tiny_job(
    tmp_path: Path, arguments: dict[str, Any], *, module: str = "verl.trainer.main_ppo", env: str = "{}"
) -> Job:
    path = tmp_path / "tiny.yaml"
    rendered = yaml.safe_dump(arguments, default_flow_style=True, width=10_000).strip()
    path.write_text(TINY_JOB.format(arguments=rendered, module=module, env=env))
    return load_job(str(path), environ={"HOME": "/root"})


def composed(job: Job) -> Any:
    """As verl composes it: Hydra against the installed config tree; verl itself is not imported."""
    from hydra import compose, initialize_config_dir

    spec = find_spec("verl")
    assert spec is not None and spec.submodule_search_locations is not None
    tree = Path(spec.submodule_search_locations[0]) / "trainer" / "config"
    with initialize_config_dir(str(tree), version_base=None):
        return compose("ppo_trainer", overrides=arguments(job))


def by_key(changes: Sequence[Change]) -> dict[str, Change]:
    return {bare(change.key): change for change in changes}


def test_the_overlaid_main_job_composes_and_holds_what_the_rehearsal_needs() -> None:
    job, _ = apply_overlay(main_job(), WORKDIR)
    config = composed(job)
    assert config.trainer.default_local_dir == f"{WORKDIR}/checkpoints"
    assert config.data.train_files == f"{WORKDIR}/assets/train.parquet"
    assert (config.trainer.nnodes, config.trainer.n_gpus_per_node) == (4, 1)
    assert list(config.trainer.logger) == ["console", "file"]
    assert config.actor_rollout_ref.actor._target_ == "verl.workers.config.FSDPActorConfig"
    assert config.actor_rollout_ref.rollout.name == "hf_cpu"
    assert config.trainer.total_training_steps >= 6
    assert config.trainer.total_training_steps % config.trainer.save_freq == 0


def test_what_a_cpu_can_do_stays_the_job_s() -> None:
    job, _ = apply_overlay(main_job(), WORKDIR)
    config = composed(job)
    assert config.algorithm.adv_estimator == "grpo"
    assert config.actor_rollout_ref.actor.use_kl_loss is True
    assert config.actor_rollout_ref.actor.kl_loss_coef == 0.01
    assert config.actor_rollout_ref.rollout.calculate_log_probs is True
    assert list(config.actor_rollout_ref.actor.checkpoint.save_contents) == ["model"]
    assert flags(main_job()).items() <= flags(job).items()
    assert job.cluster.npus_per_node == 16 and job.cluster.nodes == 4


def test_every_difference_is_told_and_nothing_else_is() -> None:
    before, (job, changes) = main_job(), apply_overlay(main_job(), WORKDIR)
    told = by_key(changes)
    old, new = values(before), values(job)
    differing = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    assert differing == {key for key in told if key in old or key in new}
    for key in differing:
        assert (told[key].before, told[key].after) == (old.get(key), new.get(key))


def values(job: Job) -> dict[str, str]:
    return {bare(key): value for key, _, value in (argument.partition("=") for argument in arguments(job))}


def test_every_reason_and_refusal_has_its_words() -> None:
    rules = load_overlay()
    reasons = {setting.because for setting in rules.settings.values()} | {because for _, because in rules.drops}
    assert {f"rehearsal.because.{because}" for because in reasons | {"flag"}} <= TABLE.keys()
    assert {f"rehearsal.refused.{refusal.because}" for refusal in rules.refusals} <= TABLE.keys()


def test_a_change_reads_as_a_line() -> None:
    changes = by_key(apply_overlay(main_job(), WORKDIR)[1])
    shown = {key: text(f"rehearsal.because.{change.because}", change=change) for key, change in changes.items()}
    assert shown["trainer.total_training_steps"].startswith("  trainer.total_training_steps: 100 -> 6  (")
    assert shown["actor_rollout_ref.actor.megatron.dtype"].startswith(
        "- actor_rollout_ref.actor.megatron.dtype=bfloat16  ("
    )
    assert shown["trainer.device"].startswith("+ trainer.device=cpu  (")


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_nodes_changes_the_number_of_nodes_and_keeps_batches_divisible(nodes: int) -> None:
    job, _ = apply_overlay(main_job(), WORKDIR, nodes=nodes)
    config = composed(job)
    assert (job.cluster.nodes, config.trainer.nnodes) == (nodes, nodes)
    assert config.data.train_batch_size % nodes == 0
    assert config.actor_rollout_ref.actor.ppo_mini_batch_size % nodes == 0
    specs = node_specs(job)
    assert [spec.npus for spec in specs] == [16] * nodes
    assert all(spec.cpus > 3 * spec.npus for spec in specs)


def test_arguments_after_the_dashes_follow_the_same_rules() -> None:
    extra = [
        "trainer.total_training_steps=900",
        "+actor_rollout_ref.actor.megatron.extra=1",
        "algorithm.norm_adv_by_std_in_grpo=False",
    ]
    job, changes = apply_overlay(main_job(extra=extra), WORKDIR)
    assert job.extra_arguments == ("algorithm.norm_adv_by_std_in_grpo=False",)
    assert by_key(changes)["trainer.total_training_steps"].before == "900"
    assert "actor_rollout_ref.actor.megatron.extra" in by_key(changes)
    assert composed(job).trainer.total_training_steps == 6


def test_a_job_s_own_flag_gives_way_to_the_rehearsal_s_and_is_told(tmp_path: Path) -> None:
    job = tiny_job(tmp_path, {"algorithm.adv_estimator": "grpo"}, env="{VERL_USE_EXTERNAL_MODULES: other, MINE: 'x y'}")
    rehearsed, changes = apply_overlay(job, WORKDIR)
    assert flags(rehearsed)["VERL_USE_EXTERNAL_MODULES"] == "npurun_verl_cpu"
    assert flags(rehearsed)["MINE"] == "x y"
    assert by_key(changes)["VERL_USE_EXTERNAL_MODULES"].before == "other"


def test_a_job_of_the_fsdp_kind_composes_too(tmp_path: Path) -> None:
    job = tiny_job(
        tmp_path,
        {
            "algorithm.adv_estimator": "rloo",
            "actor_rollout_ref.actor.fsdp_config.param_offload": True,
            "actor_rollout_ref.actor.optim.weight_decay": 0.1,
            "actor_rollout_ref.rollout.max_num_batched_tokens": 40960,
            "actor_rollout_ref.model.lora_rank": 32,
            "reward.custom_reward_function.path": "/home/me/reward.py",
            "data.custom_cls.path": "/home/me/data.py",
            "trainer.logger": ["console", "swanlab"],
        },
    )
    rehearsed, _ = apply_overlay(job, WORKDIR)
    config = composed(rehearsed)
    assert config.algorithm.adv_estimator == "rloo"
    assert config.reward.custom_reward_function.path == "pkg://npurun_verl_cpu.reward"
    assert config.data.custom_cls.path is None
    assert "/home/me" not in " ".join(arguments(rehearsed))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "algorithm.adv_estimator=gae needs a critic"),
        ({"algorithm.adv_estimator": "gae"}, "needs a critic"),
        ({"algorithm.adv_estimator": "grpo", "critic.enable": True}, "needs a critic"),
        ({"algorithm.adv_estimator": "grpo", "trainer.v1.trainer_mode": "separate_async"}, "asynchronous mode"),
        ({"algorithm.adv_estimator": "grpo", "actor_rollout_ref.rollout.nnodes": 2}, "asynchronous mode"),
        ({"algorithm.adv_estimator": "grpo", "actor_rollout_ref.hybrid_engine": False}, "asynchronous mode"),
        ({"algorithm.adv_estimator": "grpo", "reward.reward_model.enable": True}, "reward model"),
        ({"algorithm.adv_estimator": "grpo", "distillation.enabled": True}, "teacher model"),
        ({"algorithm.adv_estimator": "grpo", "actor_rollout_ref.rollout.multi_turn.enable": True}, "single-turn"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused_in_words(tmp_path: Path, arguments: dict[str, Any], words: str) -> None:
    job = tiny_job(tmp_path, arguments or {"trainer.save_freq": 5})
    with pytest.raises(UsageError, match=words):
        apply_overlay(job, WORKDIR)


def test_a_refusal_names_the_line_of_the_job_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        apply_overlay(tiny_job(tmp_path, {"algorithm.adv_estimator": "gae"}), WORKDIR)
    assert caught.value.place is not None and caught.value.place.line == 7


def test_sft_is_refused(tmp_path: Path) -> None:
    job = tiny_job(tmp_path, {"trainer.save_freq": 5}, module="verl.trainer.sft_trainer")
    with pytest.raises(UsageError, match=r"verl\.trainer\.sft_trainer"):
        apply_overlay(job, WORKDIR)


def test_an_overlay_with_a_split_rollout_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "overlay.yaml"
    changed.write_text(
        OVERLAY.read_text().replace("rollout.tensor_model_parallel_size: 1", "rollout.tensor_model_parallel_size: 2")
    )
    with pytest.raises(UsageError, match="one process per rank"):
        apply_overlay(main_job(), WORKDIR, overlay=load_overlay(changed))


def test_more_ranks_per_node_grow_batch_and_memory(tmp_path: Path) -> None:
    changed = tmp_path / "overlay.yaml"
    changed.write_text(OVERLAY.read_text().replace("ranks_per_node: 1", "ranks_per_node: 2"))
    rules = load_overlay(changed)
    config = composed(apply_overlay(main_job(), WORKDIR, nodes=2, overlay=rules)[0])
    assert (config.trainer.n_gpus_per_node, config.data.train_batch_size) == (2, 16)
    assert memory_needed(2, rules) > memory_needed(2, load_overlay())


def test_four_nodes_need_less_than_nine_gigabytes() -> None:
    assert memory_needed(4, load_overlay()) <= 9e9
