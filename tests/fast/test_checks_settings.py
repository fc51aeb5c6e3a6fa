"""Settings: the job over verl's defaults, references followed, places kept."""

from submitter.checks.parallel import rollout, training
from submitter.checks.settings import Settings
from submitter.job.load import load_job
from submitter.job.model import Job
from tests.support.builders import job, number, raw
from tests.support.job_files import HOME


def settings(made: Job, release: str | None = "0.8.0") -> Settings:
    return Settings(made, release)


def test_the_shipped_job() -> None:
    read = settings(load_job("qwen3_5_122b_a10b_32k", environ=HOME))
    assert read.integer("data.max_response_length") == 32768
    assert read.integer("actor_rollout_ref.rollout.agent.num_workers") == 8  # verl's default
    assert read.text("actor_rollout_ref.actor.strategy") == "megatron"
    assert read.items("trainer.logger") == ["console"]
    assert read.items("actor_rollout_ref.actor.checkpoint.load_contents") == ["model"]  # ${.save_contents}
    assert read.text("trainer.default_local_dir") == (
        "checkpoints/verl_grpo_qwen3_5_122b_geo3k/qwen3_5_122b_megatron_npu_4k_32k"
    )
    layout = training(read)
    assert layout is not None
    assert layout.spelled() == "world 64 / (TP 2 × PP 4 × CP 4) = DP 2"
    engine = rollout(read)
    assert engine is not None
    assert engine.replica == 16


def test_references_follow_the_job() -> None:
    read = settings(job(groups={"actor": {"actor_rollout_ref.actor.use_dynamic_bsz": True}}))
    assert read.truth("actor_rollout_ref.ref.log_prob_use_dynamic_bsz") is True
    assert read.truth("actor_rollout_ref.rollout.log_prob_use_dynamic_bsz") is True


def test_the_last_of_several_values_counts_with_its_place() -> None:
    made = job(
        groups={"a": {"data.train_batch_size": number("8")}, "b": {"++data.train_batch_size": raw("16")}},
        extra=["trainer.nnodes=2"],
    )
    read = settings(made)
    assert read.integer("data.train_batch_size") == 16
    assert read.place("data.train_batch_size").line == 2
    assert read.place("trainer.nnodes").key == "-- trainer.nnodes"
    assert not read.is_set("trainer.n_gpus_per_node")
    assert read.place("trainer.n_gpus_per_node").file == "job.yaml"


def test_dicts_are_their_leaves_however_they_are_written() -> None:
    typed = job(groups={"a": {"+x.y": {"a": number("1"), "b": {"c": "two"}}}})
    text = job(extra=["+x.y={a: 1, b: {c: two}}"])
    for made in (typed, text):
        assert settings(made).below("x.y") == {"a": 1, "b.c": "two"}


def test_what_cannot_be_known_is_none() -> None:
    made = job(extra=["a=1,2", "b=${nowhere}", "c=${oc.env:HOME}", "d=[", "e=${e}", "f=${f}-x"])
    read = settings(made)
    assert [read.value(name) for name in "abcde"] == [None] * 5
    read.value("f")


def test_a_trainer_that_is_not_verls_has_no_defaults() -> None:
    import dataclasses

    made = job()
    other = dataclasses.replace(made, trainer=dataclasses.replace(made.trainer, module="my.sft"))
    assert not settings(other).ppo
    assert not settings(other).has("trainer.nnodes")
