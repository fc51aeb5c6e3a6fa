"""The next attempt's request from an earlier one's body: what differs, what must not, and whose files are whose."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime_env.build import delivered_flags
from submitter.errors import UsageError
from submitter.gang.__main__ import plan_of
from submitter.gang.attempt_safe import (
    LOGGER_PATH,
    LOGGER_ROOT,
    as_in_job,
    attempt_safe,
    left_to_process,
)
from submitter.job.model import Job
from submitter.render.next_attempt import next_request
from submitter.render.plan import plan
from submitter.render.request import Facts, request, request_bytes, spec_hash
from tests.support.builders import job, torchrun_job

HOSTILE = ("a b", "'q\"uote", "new\nline", "; rm -rf ~", "$HOME", "back\\slash", "中文")


def first(made: Job, version: str = "2.60.0", run: str = "night") -> dict[str, Any]:
    uris = ("gcs://_ray_pkg_gang.zip",)
    return request(made, Facts(run, 1, uris, "gcs://_ray_pkg_wd.zip", "head-1", version))


def following(body: dict[str, Any], attempt: int = 2, **given: Any) -> dict[str, Any]:
    defaults: dict[str, Any] = {"head_node_id": "head-2", "quarantine": (), "changes": (), "trained": 0}
    return next_request(body, attempt=attempt, **{**defaults, **given})


def env_of(body: dict[str, Any]) -> dict[str, str]:
    env: dict[str, str] = body["runtime_env"]["env_vars"]
    return env


def test_what_differs_and_nothing_else() -> None:
    made = job(flags={"VLLM_USE_V1": "1"}, secrets={"WANDB_API_KEY": ("env", "NODE_KEY")})
    body = first(made)
    after = following(body, quarantine=("10.0.0.1", "10.0.0.2"), changes=("a.b=0.6", "+c='x y'"), trained=7)
    assert after["submission_id"] == "night-a2"
    assert after["entrypoint_label_selector"] == {"ray.io/node-id": "head-2"}
    assert after["metadata"] == {**body["metadata"], "npurun_attempt": "2"}
    assert env_of(after) == {
        **env_of(body),
        "NPURUN_ATTEMPT": "night-a2",
        "NPURUN_QUARANTINE": "10.0.0.1,10.0.0.2",
        "NPURUN_CHANGES": '["a.b=0.6", "+c=\'x y\'"]',
        "NPURUN_TRAINED": "7",
    }
    same = ("entrypoint",)
    assert {name: after[name] for name in same} == {name: body[name] for name in same}
    rest = [{**one["runtime_env"], "env_vars": None} for one in (body, after)]
    assert rest[0] == rest[1] and set(after) == set(body)


def test_it_is_what_the_job_itself_would_make_of_that_attempt() -> None:
    made = job(flags={LOGGER_PATH: "/shared/m.jsonl", "WANDB_RUN_ID": "r"})
    facts = Facts("night", 3, ("gcs://_ray_pkg_gang.zip",), "gcs://_ray_pkg_wd.zip", "head-2", "2.60.0")
    after = following(first(made), 3)
    assert env_of(after).pop("NPURUN_TRAINED") == "0"
    assert after == request(made, facts)


def test_an_older_ray_keeps_its_resource_instead_of_a_label() -> None:
    after = following(first(job(), "2.53.0"))
    assert after["entrypoint_resources"] == {"node:__internal_head__": 0.001}
    assert "entrypoint_label_selector" not in after


def test_ray_s_own_request_class_takes_it() -> None:
    from ray.dashboard.modules.job.common import JobSubmitRequest

    JobSubmitRequest(**following(first(job(pip=["a"])), changes=("a=1",), quarantine=("10.0.0.1",)))


def test_the_body_it_is_made_from_stays_as_it_is() -> None:
    body = first(job(flags={LOGGER_ROOT: "/shared"}))
    before = copy.deepcopy(body)
    following(body, changes=("a=1",))
    assert body == before


@pytest.mark.parametrize("made", [job(), torchrun_job(), job(flags={LOGGER_PATH: "m.jsonl", LOGGER_ROOT: "/x/"})])
def test_any_earlier_attempt_will_do_and_the_spec_stays(made: Job) -> None:
    body = first(made)
    third = following(body, 3, changes=("a=1",), trained=4, quarantine=("10.0.0.9",))
    second = following(body, 2, changes=("b=1",), trained=2, quarantine=("10.0.0.8",))
    assert following(second, 3, changes=("a=1",), trained=4, quarantine=("10.0.0.9",)) == third
    assert "NPURUN_CHANGES" not in env_of(following(third, 4)) and "NPURUN_QUARANTINE" not in env_of(
        following(third, 4)
    )
    stored = json.loads(request_bytes(third))
    assert following(stored, 4) == following(body, 4)
    assert {spec_hash(one) for one in (body, second, third)} == {body["metadata"]["npurun_spec"]}
    assert third["metadata"]["npurun_spec"] == body["metadata"]["npurun_spec"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_changes_and_flags_travel_unharmed(hostile: str) -> None:
    after = following(first(job(flags={"A": hostile, LOGGER_ROOT: f"/x/{hostile}"})), changes=(f"k={hostile}",))
    sent = env_of(json.loads(request_bytes(after)))
    assert json.loads(sent["NPURUN_CHANGES"]) == [f"k={hostile}"]
    assert (sent["A"], sent[LOGGER_ROOT]) == (hostile, f"/x/{hostile}/a2")


def test_an_id_that_is_too_long_is_never_posted() -> None:
    body = first(job(), run="r" * 57)
    assert following(body, 9999)["submission_id"].endswith("-a9999")
    with pytest.raises(UsageError):
        following(body, 10_000)
    with pytest.raises(UsageError):
        following(body, 0)


@pytest.mark.parametrize(
    ("name", "value", "second"),
    [
        (LOGGER_PATH, "/shared/x.jsonl", "/shared/x.a2.jsonl"),
        (LOGGER_PATH, "x", "x.a2"),
        (LOGGER_PATH, "a.b/x", "a.b/x.a2"),
        (LOGGER_PATH, "/a/.jsonl", "/a/.jsonl.a2"),
        (LOGGER_PATH, "x.tar.gz", "x.tar.a2.gz"),
        (LOGGER_PATH, "/shared/x.a2.jsonl", "/shared/x.a2.a2.jsonl"),
        (LOGGER_PATH, "/dev/null", "/dev/null"),
        (LOGGER_PATH, "", ""),
        (LOGGER_PATH, "/a/", "/a/"),
        (LOGGER_ROOT, "/shared", "/shared/a2"),
        (LOGGER_ROOT, "~/logs", "~/logs/a2"),
        (LOGGER_ROOT, ".", "./a2"),
        (LOGGER_ROOT, "", "a2"),
        ("TENSORBOARD_DIR", "/tb", "/tb"),
    ],
)
def test_logger_files_of_two_attempts(name: str, value: str, second: str) -> None:
    assert attempt_safe({name: value}, 2) == {name: second}
    assert attempt_safe({name: value}, 1) == {name: value}


texts = st.text(st.sampled_from("ab./a2~ "), max_size=12)


@given(texts, st.sampled_from([LOGGER_PATH, LOGGER_ROOT]), st.integers(1, 30))
def test_the_way_back_gives_the_job_s_own_value(value: str, name: str, attempt: int) -> None:
    assert as_in_job(attempt_safe({name: value}, attempt), attempt) == {name: value}


def test_the_driver_proves_what_the_request_carries() -> None:
    made = job(flags={LOGGER_PATH: "/x.jsonl", LOGGER_ROOT: "/shared", "A": "1"})
    sent = env_of(following(first(made), 4, quarantine=("10.0.0.1", "10.0.0.2")))
    carried_out = plan_of(plan(made).to_json(), sent)
    wanted = carried_out.flags
    assert wanted[LOGGER_PATH] == "/x.a4.jsonl" and set(wanted) == set(delivered_flags(made))
    assert {name: sent[name] for name in wanted} == wanted
    assert carried_out.quarantine == ("10.0.0.1", "10.0.0.2")


@pytest.mark.parametrize(
    ("environ", "attempt", "sets"),
    [
        ({}, 1, {}),
        ({}, 2, {LOGGER_ROOT: "a2"}),
        ({LOGGER_ROOT: "/node"}, 2, {LOGGER_ROOT: "/node/a2"}),
        ({LOGGER_PATH: "/node/m.jsonl"}, 3, {LOGGER_PATH: "/node/m.a3.jsonl"}),
        ({LOGGER_ROOT: "/shared/a2"}, 2, {}),
        ({LOGGER_PATH: "/shared/m.a2.jsonl", LOGGER_ROOT: "/node"}, 2, {}),
        ({LOGGER_ROOT: "a2"}, 2, {}),
    ],
)
def test_what_the_request_could_not_know_is_set_in_the_process(
    environ: dict[str, str], attempt: int, sets: dict[str, str]
) -> None:
    assert left_to_process(environ, attempt) == sets
    assert left_to_process({**environ, **sets}, attempt) == {}


def test_a_run_of_weights_and_biases_goes_on_instead_of_being_replaced() -> None:
    named = following(first(job(flags={"WANDB_RUN_ID": "abc"})))
    assert env_of(named)["WANDB_RESUME"] == "allow"
    assert spec_hash(named) == named["metadata"]["npurun_spec"]
    assert (
        env_of(following(first(job(flags={"WANDB_RUN_ID": "abc", "WANDB_RESUME": "must"}))))["WANDB_RESUME"] == "must"
    )
    assert "WANDB_RESUME" not in env_of(following(first(job())))
    assert "WANDB_RESUME" not in env_of(first(job(flags={"WANDB_RUN_ID": "abc"})))
