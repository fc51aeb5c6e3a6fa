"""The body of the POST: pure, canonical, and what a reviewer sees change."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from submitter.errors import UsageError
from submitter.job.load import load_job
from submitter.job.model import Job
from submitter.render.plan import plan
from submitter.render.request import (
    HEAD_PLACEHOLDER,
    Facts,
    request,
    request_bytes,
    spec_hash,
    supports_label_selectors,
)
from tests.support.builders import job, torchrun_job

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
FACTS = Facts(
    run="night",
    attempt=2,
    package_uris=("gcs://_ray_pkg_gang.zip",),
    working_dir_uri=None,
    head_node_id="0a1b2c",
    ray_version="2.60.0",
)


def facts(**changes: Any) -> Facts:
    return dataclasses.replace(FACTS, **changes)


def shipped() -> Job:
    return load_job("qwen3_5_122b_a10b_32k", environ={"HOME": "/root"})


def test_golden_request_of_the_shipped_job() -> None:
    written = request_bytes(request(shipped(), FACTS)).decode()
    assert written == (GOLDEN / "qwen3_5_122b_a10b_32k.request.json").read_text(encoding="utf-8")


def test_golden_plan_of_the_shipped_job() -> None:
    assert plan(shipped()).to_json() + "\n" == (GOLDEN / "qwen3_5_122b_a10b_32k.plan.json").read_text(encoding="utf-8")


def test_it_has_only_fields_that_ray_s_own_request_class_takes() -> None:
    from ray.dashboard.modules.job.common import JobSubmitRequest

    for version in ("2.60.0", "2.49.0"):
        body = request(job(pip=["a"]), facts(ray_version=version, working_dir_uri="gcs://_ray_pkg_wd.zip"))
        JobSubmitRequest(**body)  # checks the types too


def test_the_same_facts_give_the_same_bytes() -> None:
    made = job(flags={"B": "2", "A": "1"}, labels={"y": "1", "x": "2"})
    again = job(flags={"A": "1", "B": "2"}, labels={"x": "2", "y": "1"})
    assert request_bytes(request(made, FACTS)) == request_bytes(request(again, FACTS))
    assert json.loads(request_bytes(request(made, FACTS))) == request(made, FACTS)


def test_the_driver_goes_to_the_head_by_label_or_on_an_older_ray_by_resource() -> None:
    new = request(job(), FACTS)
    assert new["entrypoint_label_selector"] == {"ray.io/node-id": "0a1b2c"}
    assert "entrypoint_resources" not in new
    old = request(job(), facts(ray_version="2.53.0"))
    assert old["entrypoint_resources"] == {"node:__internal_head__": 0.001}
    assert "entrypoint_label_selector" not in old


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        *((version, True) for version in ("2.54.0", "2.60.0", "3.0.0.dev0", "2.54.0rc1", "2.100")),
        *((version, False) for version in ("2.53.9", "2.9.3", "1.13.0", "", "unknown")),
    ],
)
def test_which_ray_knows_label_selectors_of_entrypoints(version: str, supported: bool) -> None:
    assert supports_label_selectors(version) is supported


@pytest.mark.parametrize("version", ["2.40.0", "1.13.0", "2.9.3"])
def test_a_ray_below_the_oldest_tested_is_refused(version: str) -> None:
    with pytest.raises(UsageError) as refused:
        request(job(), facts(ray_version=version))
    assert version in str(refused.value) and "2.41" in str(refused.value)
    request(job(), facts(ray_version="2.41.0"))


def test_without_a_cluster_the_request_is_one_for_every_ray() -> None:
    assert "entrypoint_label_selector" not in request(job(), facts(ray_version=""))


def test_packages_and_working_dir_are_uris() -> None:
    env = request(job(), facts(working_dir_uri="gcs://_ray_pkg_wd.zip"))["runtime_env"]
    assert env["py_modules"] == ["gcs://_ray_pkg_gang.zip"]
    assert env["working_dir"] == "gcs://_ray_pkg_wd.zip"
    assert "working_dir" not in request(job(), FACTS)["runtime_env"]


def test_metadata_is_text_without_anything_that_a_user_wrote_but_the_name() -> None:
    made = job(flags={"A": "flag-value"}, groups={"x": {"k": "argument-value"}}, labels={"pool": "label-value"})
    metadata = request(made, FACTS)["metadata"]
    assert {key: value for key, value in metadata.items() if key != "npurun_spec"} == {
        "npurun_run": "night",
        "npurun_attempt": "2",
        "npurun_job": "tiny",
    }
    assert all(isinstance(value, str) for value in metadata.values())


def test_secrets_are_in_it_as_references_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "key"
    key.write_text("the-secret-itself")
    monkeypatch.setenv("NODE_TOKEN", "another-secret")
    made = job(secrets={"WANDB_API_KEY": ("file", str(key)), "HF_TOKEN": ("env", "NODE_TOKEN")})
    sent = request_bytes(request(made, FACTS)).decode() + plan(made).to_json()
    assert str(key) in sent and "NODE_TOKEN" in sent
    assert "the-secret-itself" not in sent and "another-secret" not in sent


@pytest.mark.parametrize(
    "same",
    [
        {"run": "other"},
        {"attempt": 7},
        {"head_node_id": HEAD_PLACEHOLDER},
        {"ray_version": "2.53.0"},
    ],
)
def test_the_spec_hash_is_that_of_every_attempt_on_any_head(same: dict[str, Any]) -> None:
    first, other = request(job(), FACTS), request(job(), facts(**same))
    assert first["metadata"]["npurun_spec"] == other["metadata"]["npurun_spec"] == spec_hash(other)


@pytest.mark.parametrize(
    ("made", "changed"),
    [
        (job(flags={"A": "1"}), {}),
        (job(pip=["a"]), {}),
        (job(name="other"), {}),
        (torchrun_job(), {}),
        (job(secrets={"K": ("env", "X")}), {}),
        (job(), {"package_uris": ("gcs://_ray_pkg_other.zip",)}),
        (job(), {"working_dir_uri": "gcs://_ray_pkg_wd.zip"}),
    ],
)
def test_the_spec_hash_changes_with_the_work(made: Job, changed: dict[str, Any]) -> None:
    assert spec_hash(request(made, facts(**changed))) != spec_hash(request(job(), FACTS))


def test_hashing_does_not_change_the_body() -> None:
    body = request(job(), FACTS)
    before = request_bytes(body)
    spec_hash(body)
    assert request_bytes(body) == before


def test_a_bad_run_name_never_becomes_a_request() -> None:
    with pytest.raises(UsageError):
        request(job(), facts(run="Night"))


def test_the_plan_of_a_torchrun_job() -> None:
    made = plan(torchrun_job(groups={"x": {"a": "b"}}, labels={"pool": "a3"}))
    assert made.launcher == "torchrun"
    assert made.command == ("-m", "verl.trainer.sft_trainer", "a=b")
    assert made.torchrun is not None
    assert (made.torchrun.nproc_per_node, made.torchrun.master_addr, made.torchrun.master_port) == (
        16,
        "10.0.0.1",
        29500,
    )
    assert (made.nodes, made.npus_per_node, made.labels, made.place_wait_s) == (4, 16, {"pool": "a3"}, 600)
