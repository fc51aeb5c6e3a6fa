"""What a job's nodes are looked at for, taken from its settings and flags."""

from __future__ import annotations

import dataclasses
import json

from submitter.gang.probes.wish import Wish
from submitter.job.model import Trainer, Value
from submitter.render.wish import HCCL_BASE_PORT, wish
from tests.support.builders import job, number

REWARD = "reward.custom_reward_function.path"
ROLLOUT = "actor_rollout_ref.rollout"


def of(arguments: dict[str, Value] | None = None, **changes: object) -> Wish:
    return wish(job(groups={"all": arguments or {}}, **changes))  # type: ignore[arg-type]


def test_what_the_engines_import() -> None:
    assert of({"actor_rollout_ref.actor.strategy": "fsdp"}).needs[:3] == ("torch", "transformers", "verl")
    megatron = of({"actor_rollout_ref.actor.strategy": "megatron", f"{ROLLOUT}.name": "vllm"}).needs
    assert {"megatron_core", "mindspeed", "vllm", "vllm_ascend"} <= set(megatron)
    assert "vllm" not in of({"actor_rollout_ref.actor.strategy": "fsdp", f"{ROLLOUT}.name": "sglang"}).needs


def test_modules_of_the_user() -> None:
    arguments: dict[str, Value] = {
        REWARD: "file:///root/rewards.py",
        "data.custom_cls.path": "pkg://mine/data/sets",
        f"{ROLLOUT}.agent.custom_async_server.path": "servers/own.py",
        "actor_rollout_ref.model.external_lib": "mine.models",
    }
    flags = {"VERL_USE_EXTERNAL_MODULES": "mine.platform, npurun_gang.verl_plugin,verl.extra"}
    dotted = ("mine.data.sets", "mine.models", "mine.platform")
    assert of(arguments, flags=flags).modules == ("/root/rewards.py", *dotted)
    with_folder = of(arguments, flags=flags, working_dir="/home/me/code").modules
    assert with_folder == ("/root/rewards.py", "servers/own.py", *dotted)


def test_files_and_folders() -> None:
    arguments: dict[str, Value] = {
        "data.train_files": ["/d/train.parquet", "relative.parquet"],
        "data.val_files": "/d/test.parquet",
        f"{ROLLOUT}.multi_turn.tool_config_path": "/d/tools.yaml",
        "trainer.default_local_dir": "/ckpt",
        "trainer.save_freq": number("15"),
        "trainer.rollout_data_dir": "/logs/rollouts",
    }
    wanted = of(arguments, flags={"TENSORBOARD_DIR": "/logs/tb", "ASCEND_PROCESS_LOG_PATH": "relative"})
    assert wanted.data_files == ("/d/train.parquet", "/d/test.parquet", "/d/tools.yaml")
    assert (wanted.write_dirs, wanted.shared_dirs) == (("/ckpt",), ("/ckpt",))
    assert wanted.log_dirs == ("/logs/rollouts", "/logs/tb")
    assert of(arguments, nodes=1).shared_dirs == ()
    assert of({**arguments, "trainer.save_freq": number("-1")}).write_dirs == ()


def test_weights_that_come_from_a_distributed_checkpoint() -> None:
    key = "actor_rollout_ref.actor.megatron.use_dist_checkpointing"
    assert of({}).weights
    assert not of({key: True}).weights


def test_hccls_ports_only_where_the_trainer_does_not_choose_them() -> None:
    assert of({}).hccl_base_port is None
    own = Trainer("mine.train", "ray")
    assert of({}, trainer=own).hccl_base_port == HCCL_BASE_PORT
    assert of({}, trainer=own, flags={"HCCL_HOST_SOCKET_PORT_RANGE": "auto"}).hccl_base_port is None


def test_a_wish_travels_as_json() -> None:
    wanted = of({REWARD: "/r.py", "data.train_files": "/d.parquet"}, flags={"TENSORBOARD_DIR": "/t"})
    assert Wish.from_json(json.loads(json.dumps(dataclasses.asdict(wanted)))) == wanted
