"""What every process of an attempt inherits."""

import json

import pytest

from runtime_env.build import NOSET_FLAG, STOP_WAIT_S, build, delivered_flags
from submitter.errors import UsageError
from tests.support.builders import job, torchrun_job


def test_flags_and_npurun_s_own_variables_travel_as_strings() -> None:
    env = build(job(flags={"VLLM_USE_V1": "1"}), run="night", attempt=3)
    assert env == {
        "env_vars": {
            "NPURUN_ATTEMPT": "night-a3",
            "NPURUN_RUN": "night",
            "RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES": "1",
            "RAY_JOB_STOP_WAIT_TIME_S": str(STOP_WAIT_S),
            "VERL_USE_EXTERNAL_MODULES": "npurun_gang.verl_plugin",
            "VLLM_USE_V1": "1",
        }
    }


def test_stop_wait_outlasts_the_driver_s_own_end() -> None:
    evidence_s, sigterm_grace_s = 3, 20
    assert evidence_s + sigterm_grace_s < STOP_WAIT_S


def test_a_longer_stop_wait_of_the_user_is_kept() -> None:
    env = build(job(flags={"RAY_JOB_STOP_WAIT_TIME_S": "300"}), run="r", attempt=1)
    assert env["env_vars"]["RAY_JOB_STOP_WAIT_TIME_S"] == "300"


@pytest.mark.parametrize(
    ("own", "delivered"),
    [
        ("my.platform", "my.platform,npurun_gang.verl_plugin"),
        ("a,b", "a,b,npurun_gang.verl_plugin"),
        ("", "npurun_gang.verl_plugin"),
        ("npurun_gang.verl_plugin", "npurun_gang.verl_plugin"),
    ],
)
def test_the_user_s_verl_modules_are_kept_before_the_plugin(own: str, delivered: str) -> None:
    made = job(flags={"VERL_USE_EXTERNAL_MODULES": own})
    assert build(made, run="r", attempt=1)["env_vars"]["VERL_USE_EXTERNAL_MODULES"] == delivered
    assert delivered_flags(made)["VERL_USE_EXTERNAL_MODULES"] == delivered  # what a worker really sees is proved


def test_torchrun_gets_no_verl_plugin() -> None:
    env_vars = build(torchrun_job(), run="r", attempt=1)["env_vars"]
    assert "VERL_USE_EXTERNAL_MODULES" not in env_vars
    assert env_vars[NOSET_FLAG] == "1"


def test_secrets_travel_as_references_only_when_there_are_any() -> None:
    made = job(secrets={"WANDB_API_KEY": ("file", "/etc/keys/wandb"), "HF_TOKEN": ("env", "NODE_HF_TOKEN")})
    references = json.loads(build(made, run="r", attempt=1)["env_vars"]["NPURUN_SECRETS"])
    assert references == {"WANDB_API_KEY": {"file": "/etc/keys/wandb"}, "HF_TOKEN": {"env": "NODE_HF_TOKEN"}}
    assert "NPURUN_SECRETS" not in build(job(), run="r", attempt=1)["env_vars"]


def test_pip_is_passed_on() -> None:
    assert build(job(pip=["a==1", "b"]), run="r", attempt=1)["pip"] == ["a==1", "b"]


def test_proved_flags_are_the_job_s_own_and_noset() -> None:
    assert delivered_flags(job(flags={"B": "2", "A": "1"})) == {"A": "1", "B": "2", NOSET_FLAG: "1"}


@pytest.mark.parametrize("run", ["a", "0", "r" * 57, "a-b-1"])
def test_run_names_that_ray_and_kubernetes_take(run: str) -> None:
    assert build(job(), run=run, attempt=1)["env_vars"]["NPURUN_ATTEMPT"] == f"{run}-a1"


@pytest.mark.parametrize("run", ["", "-a", "A", "a_b", "a/b", "a b", "a\n", "ä", "r" * 58, "$(x)"])
def test_other_run_names_are_wrong_usage(run: str) -> None:
    with pytest.raises(UsageError) as refused:
        build(job(), run=run, attempt=1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("run", "attempt", "fits"), [("r" * 57, 9999, True), ("r" * 57, 10_000, False), ("r", 0, False)]
)
def test_a_submission_id_has_at_most_63_characters(run: str, attempt: int, fits: bool) -> None:
    if fits:
        assert len(build(job(), run=run, attempt=attempt)["env_vars"]["NPURUN_ATTEMPT"]) == 63
        return
    with pytest.raises(UsageError):
        build(job(), run=run, attempt=attempt)
