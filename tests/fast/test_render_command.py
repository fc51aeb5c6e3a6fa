"""`ray job submit` lines, given to a shell as a person would paste them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.packages import gang_package, write_folder
from submitter.job.model import Job
from submitter.render.command import command_line
from submitter.render.plan import plan
from submitter.render.request import Facts, request
from tests.support.builders import job

HOSTILE = "it's \"$(touch pwned)\"; `x` \\ 中 \n'; echo x"


def body_of(made: Job, **changes: Any) -> dict[str, Any]:
    package = gang_package(plan(made))
    known = {"working_dir_uri": None, "head_node_id": "0a1b2c", "ray_version": "2.60.0", **changes}
    return request(made, Facts(run="night", attempt=1, package_uris=(package.uri,), **known))


def pasted(line: str, tmp_path: Path) -> list[str]:
    """The argv that `ray` gets when the line is run by bash."""
    stub = tmp_path / "bin" / "ray"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    stub.chmod(0o755)
    env = {"PATH": f"{stub.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, timeout=30, check=True)
    assert not (tmp_path / "pwned").exists()
    return done.stdout.decode().split("\0")[:-1]


def option(argv: list[str], name: str) -> Any:
    (text,) = [word.removeprefix(f"--{name}=") for word in argv if word.startswith(f"--{name}=")]
    return json.loads(text)


@pytest.mark.parametrize("version", ["2.60.0", "2.53.0"])
def test_it_says_the_same_as_the_request(tmp_path: Path, version: str) -> None:
    made = job(flags={"HOSTILE": HOSTILE}, pip=["a==1"], secrets={"K": ("file", f"/etc/{HOSTILE}")})
    body = body_of(made, ray_version=version)
    argv = pasted(command_line(body, tmp_path / HOSTILE.replace("\n", " ").replace("/", "")), tmp_path)
    assert argv[:4] == ["job", "submit", "--no-wait", "--submission-id=night-a1"]
    assert argv[argv.index("--") + 1 :] == body["entrypoint"].split()
    env = option(argv, "runtime-env-json")
    assert {**env, "py_modules": None} == {**body["runtime_env"], "py_modules": None}
    assert option(argv, "metadata-json") == body["metadata"]
    head = {"entrypoint_label_selector": "entrypoint-label-selector", "entrypoint_resources": "entrypoint-resources"}
    assert [option(argv, head[key]) for key in head if key in body] == [body[key] for key in head if key in body]


def test_its_package_is_the_folder_that_was_written(tmp_path: Path) -> None:
    made = job()
    folder = write_folder(gang_package(plan(made)), tmp_path / "out dir")
    argv = pasted(command_line(body_of(made), folder), tmp_path)
    (module,) = option(argv, "runtime-env-json")["py_modules"]
    assert Path(module).name == "npurun_gang"  # Ray names the module as its folder
    assert (Path(module) / "plan.json").is_file()


def test_the_working_dir_is_the_zip_beside_it(tmp_path: Path) -> None:
    made = job(working_dir=".", excludes=["*.json"])
    line = command_line(body_of(made, working_dir_uri="gcs://_ray_pkg_wd.zip"), tmp_path)
    env = option(pasted(line, tmp_path), "runtime-env-json")
    assert env["working_dir"] == str(tmp_path / "_ray_pkg_wd.zip")
    assert "excludes" not in env  # Ray would take plan.json out of npurun_gang


def test_an_address_is_named_when_it_is_known(tmp_path: Path) -> None:
    address = "http://head;x:8265"
    argv = pasted(command_line(body_of(job()), tmp_path, address), tmp_path)
    assert f"--address={address}" in argv[: argv.index("--")]
