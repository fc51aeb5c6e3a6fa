"""The first job and the torchrun form: arguments and flags as published, and what overrides what."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import jobs
from submitter.arguments.assemble import arguments, argv, command, flags
from submitter.errors import UsageError
from submitter.job.load import load_job
from submitter.job.model import Job, OnReason, Recovery, Secret, Torchrun

DATA = Path(__file__).parents[1] / "data"
MAIN = "qwen3_5_122b_a10b_32k"
HOME = {"HOME": "/root"}
SEED = (DATA / "seed_argv.txt").read_bytes()
TORCHRUN = str(DATA / "jobs" / "torchrun_reward.yaml")
FLAGS = {
    "CPU_AFFINITY_CONF": "1",
    "VLLM_ALLREDUCE_USE_SYMM_MEM": "0",
    "VLLM_ASCEND_ENABLE_FLASHCOMM1": "1",
    "VLLM_ASCEND_ENABLE_PREFETCH_MLP": "1",
    "VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE": "1",
    "VLLM_USE_V1": "1",
}


def printed(job: Job) -> bytes:
    return "".join(f"{argument}\n" for argument in argv(job)).encode()


def value(job: Job, key: str) -> str:
    (found,) = [text.partition("=")[2] for text in arguments(job) if text.startswith(f"{key}=")]
    return found


class TestPublishedJob:
    def test_argv_is_the_published_one_byte_for_byte(self) -> None:
        assert printed(load_job(MAIN, environ=HOME)) == SEED

    def test_flags_are_exactly_the_six(self) -> None:
        found = flags(load_job(MAIN, environ=HOME))
        assert found == FLAGS
        assert list(found) == sorted(FLAGS)

    @pytest.mark.parametrize("text", ["True", "true", '"1"'])
    def test_survives_safe_load_and_safe_dump(self, tmp_path: Path, text: str) -> None:
        path = jobs.find(MAIN)
        dumped = tmp_path / "dumped.yaml"
        source = path.read_text().replace("ALL_OFFLOAD: True ", f"ALL_OFFLOAD: {text} ")
        original = tmp_path / "original.yaml"
        original.write_text(source)
        dumped.write_text(yaml.safe_dump(yaml.safe_load(source), sort_keys=False))
        assert argv(load_job(str(dumped), environ=HOME)) == argv(load_job(str(original), environ=HOME))

    def test_empty_variables_of_the_environment_count_as_unset(self) -> None:
        empty = dict.fromkeys(load_job(MAIN, environ=HOME).variables, "")
        assert printed(load_job(MAIN, environ={**HOME, **empty})) == SEED

    @pytest.mark.parametrize("name", sorted(load_job(MAIN, environ=HOME).variables))
    def test_each_variable_is_overridden_by_environment_and_set(self, name: str) -> None:
        text = "3" if name in ("NNODES", "NPUS_PER_NODE") else "it's [x], ${y}"
        by_environment = load_job(MAIN, environ={**HOME, name: text})
        by_set = load_job(MAIN, environ={**HOME, name: "5"}, sets=[f"{name}={text}"])
        assert by_environment.variables[name].text == by_set.variables[name].text == text
        assert (by_environment.variables[name].origin, by_set.variables[name].origin) == ("environment", "set")
        assert argv(by_environment) == argv(by_set)
        assert (argv(by_set), flags(by_set)) != (argv(load_job(MAIN, environ=HOME)), FLAGS)

    def test_variables_reach_every_place_that_names_them(self) -> None:
        job = load_job(
            MAIN, environ={**HOME, "NNODES": "8", "RAY_DATA_HOME": "/data", "VLLM_USE_V1": "0"}, sets=["TP=4"]
        )
        assert job.cluster.nodes == 8
        assert value(job, "trainer.nnodes") == "8"
        assert value(job, "data.train_files") == "/data/datasets/geo3k/train.parquet"
        assert value(job, "actor_rollout_ref.ref.megatron.tensor_model_parallel_size") == "4"
        assert flags(job)["VLLM_USE_V1"] == "0"

    def test_trailing_arguments_come_last_and_unchanged(self) -> None:
        extra = ["trainer.nnodes=2", "+x='; echo \\ \n", "--help"]
        job = load_job(MAIN, environ={**HOME, "NNODES": "8"}, sets=["NNODES=6"], extra=extra)
        assert argv(job)[-3:] == extra
        assert "trainer.nnodes=6" in argv(job)
        assert printed(load_job(MAIN, environ=HOME)) == SEED

    def test_is_found_by_name_file_name_and_path(self) -> None:
        for name in (MAIN, f"{MAIN}.yaml", str(jobs.find(MAIN))):
            assert load_job(name, environ=HOME).name == MAIN

    def test_whose_home_is_unset_is_told_so(self) -> None:
        with pytest.raises(UsageError) as error:
            load_job(MAIN, environ={})
        assert error.value.text_id == "job.environment_lacks"
        assert f"{MAIN}.yaml:" in str(error.value)


class TestTorchrunJob:
    def test_rendezvous_is_left_out_when_not_given(self) -> None:
        job = load_job(TORCHRUN, environ=HOME)
        assert argv(job)[:5] == ["torchrun", "--nnodes=2", "--nproc_per_node=8", "-m", "reward.trainer"]
        assert job.trainer.torchrun == Torchrun(8)

    def test_rendezvous_is_passed_when_given(self) -> None:
        job = load_job(TORCHRUN, environ={**HOME, "MASTER_ADDR": "10.0.0.1"}, sets=["MASTER_PORT=29500"])
        assert argv(job)[3:6] == ["--master_addr=10.0.0.1", "--master_port=29500", "-m"]
        assert job.trainer.torchrun == Torchrun(8, "10.0.0.1", 29500)

    def test_command_starts_after_torchruns_options(self) -> None:
        job = load_job(TORCHRUN, environ=HOME)
        assert command(job) == ["-m", "reward.trainer", *arguments(job)]

    def test_reward_group(self) -> None:
        job = load_job(TORCHRUN, environ=HOME)
        assert [group.name for group in job.groups] == ["data", "reward", "trainer"]
        assert arguments(job) == [
            "data.train_batch_size=64",
            "custom_reward_function.path=/root/reward.py",
            "custom_reward_function.name=score",
            "+custom_reward_function.reward_kwargs={weights:[1.0,0.5],note:'a, b',threshold:1e-3}",
            "reward_model.enable=False",
            "trainer.nnodes=2",
            "trainer.n_gpus_per_node=8",
            "~trainer.rollout_data_dir",
        ]

    def test_optional_sections(self) -> None:
        job = load_job(TORCHRUN, environ=HOME)
        assert (job.cluster.on_unfit, job.cluster.place_wait_s, job.cluster.labels) == ("fail", 60, {"pool": "a2"})
        assert job.recovery == Recovery(
            True, 3, 48.0, 45, resume=False, on_reason={"node_frozen": OnReason("exclude_node")}
        )
        assert job.runtime_env.working_dir == str(DATA / "jobs")
        assert (job.runtime_env.excludes, job.runtime_env.pip) == (("*.ckpt",), ("math-verify",))
        wandb, token = job.secrets
        assert wandb == Secret("WANDB_API_KEY", "file", "/etc/keys/wandb", wandb.place)
        assert (token.source, token.target) == ("env", "NODE_HF_TOKEN")
        assert (wandb.place.line, token.place.line) == (56, 57)


class TestFinding:
    def test_a_name_that_is_not_there_lists_the_nearest(self) -> None:
        with pytest.raises(UsageError, match=MAIN):
            load_job("qwen3_5_122b_a10b_3k", environ=HOME)

    def test_a_bare_name_is_the_shipped_job_and_a_file_name_the_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for name in (MAIN, f"{MAIN}.yaml"):
            Path(name).write_text(
                "name: mine\ncluster: {nodes: 1, npus_per_node: 1}\ntrainer: {module: m}\narguments:\n"
            )
        assert load_job(MAIN, environ=HOME).name == MAIN
        assert load_job(f"{MAIN}.yaml", environ=HOME).name == "mine"
        assert load_job(f"./{MAIN}", environ=HOME).name == "mine"
