"""The bash script: run by bash, the trainer gets exactly the job's argv and flags."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from submitter.arguments.assemble import argv
from submitter.job.load import load_job
from submitter.job.model import Job
from submitter.render.bash import bash_script
from tests.support.builders import job, raw, torchrun_job
from tests.support.job_files import load_text

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
HOSTILE = [
    "'; echo x",
    '"$(touch pwned)"',
    "`touch pwned`",
    "back\\slash",
    "new\nline",
    "a b\t!*?[]{}~#&|<>",
    "中文",
    "",
]
STUB = '#!/bin/sh\nprintf "%s\\0" "${0##*/}" "$@" >"$OUT/argv"\nenv -0 >"$OUT/env"\n'


def ran(made: Job, folder: Path) -> tuple[list[str], dict[str, str]]:
    """(argv, environment) of the trainer when bash runs the script."""
    for name in ("python3", "torchrun"):
        stub = folder / "bin" / name
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(STUB)
        stub.chmod(0o755)
    env = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "OUT": str(folder), "NODE_TOKEN": "from the node"}
    script = folder / "script.sh"
    script.write_bytes(bash_script(made).encode())
    subprocess.run(["bash", str(script)], cwd=folder, env=env, capture_output=True, timeout=30, check=True)
    assert not (folder / "pwned").exists()
    words = (folder / "argv").read_bytes().decode().split("\0")[:-1]
    pairs = (folder / "env").read_bytes().decode().split("\0")[:-1]
    return words, dict(pair.split("=", 1) for pair in pairs)


def test_golden_script_of_the_shipped_job() -> None:
    shipped = load_job("qwen3_5_122b_a10b_32k", environ={"HOME": "/root"})
    assert bash_script(shipped) == (GOLDEN / "qwen3_5_122b_a10b_32k.sh").read_text(encoding="utf-8")


def test_the_shipped_job_as_a_script_is_the_published_command(tmp_path: Path) -> None:
    shipped = load_job("qwen3_5_122b_a10b_32k", environ={"HOME": "/root"})
    published = (Path(__file__).parents[1] / "data" / "seed_argv.txt").read_text(encoding="utf-8")
    assert "\n".join(ran(shipped, tmp_path)[0]) == published.rstrip("\n")


def test_hostile_values_arrive_as_they_are(tmp_path: Path) -> None:
    made = job(
        flags={f"F{number}": value for number, value in enumerate(HOSTILE)},
        groups={
            "data": {f"a.v{number}": value for number, value in enumerate(HOSTILE)},
            "raw": {f"a.r{number}": raw(value) for number, value in enumerate(HOSTILE)},
        },
        extra=[f"+x={value}" for value in HOSTILE],
        summary="two\nlines; $(touch pwned)",
    )
    words, env = ran(made, tmp_path)
    assert words == argv(made)
    assert {name: env[name] for name in env if name.startswith("F") and name[1:].isdigit()} == {
        flag.name: flag.value for flag in made.flags
    }


def test_groups_of_any_name_touch_no_variable(tmp_path: Path) -> None:
    names = ["path", "ifs", "a-b", "a_b", "a b", "2nd", "数据", "", "two\nlines; touch pwned", "home"]
    made = job(flags={"PATH_ARGS": "flag", "A_B_ARGS": "flag"}, groups={name: {"k": name} for name in names})
    words, env = ran(made, tmp_path)
    assert words == argv(made)
    assert (env["PATH_ARGS"], env["A_B_ARGS"]) == ("flag", "flag")


def test_a_job_without_arguments_and_an_empty_group(tmp_path: Path) -> None:
    made = job(groups={"empty": {}})
    assert ran(made, tmp_path)[0] == ["python3", "-m", "verl.trainer.main_ppo"]


def test_torchrun(tmp_path: Path) -> None:
    made = torchrun_job(groups={"data": {"a": "b c"}}, extra=["+x=1"])
    assert ran(made, tmp_path)[0] == argv(made)


def test_secrets_are_read_where_the_script_runs(tmp_path: Path) -> None:
    key = tmp_path / "it's $(touch pwned)"
    key.write_text("from the file\n")
    made = job(secrets={"WANDB_API_KEY": ("file", str(key)), "HF_TOKEN": ("env", "NODE_TOKEN")})
    assert "from the" not in bash_script(made)
    env = ran(made, tmp_path)[1]
    assert (env["WANDB_API_KEY"], env["HF_TOKEN"]) == ("from the file", "from the node")


@pytest.mark.parametrize("reference", [("file", "/does/not/exist"), ("env", "NOT_SET")])
def test_a_missing_secret_ends_the_script_before_the_trainer(tmp_path: Path, reference: tuple[str, str]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        ran(job(secrets={"K": reference}), tmp_path)
    assert not (tmp_path / "argv").exists()


def test_it_reads_as_one_argument_a_line() -> None:
    lines = bash_script(job(groups={"data": {"a.b": True, "c": "d e"}})).splitlines()
    assert [line for line in lines if "=" in line and line.startswith("  ")] == [
        "  a.b=True",
        "  'c='\"'\"'d e'\"'\"''",
    ]
    assert "# data" in lines and "DATA_ARGS=(" in lines


_TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(_TEXTS, max_size=5), trailing=st.lists(_TEXTS.filter(bool), max_size=3))
def test_any_text_arrives_as_it_is(tmp_path: Path, values: list[str], trailing: list[str]) -> None:
    made = job(groups={"x": {f"k{number}": raw(value) for number, value in enumerate(values)}}, extra=trailing)
    assert ran(made, tmp_path)[0] == argv(made)


TEXT = """\
name: imported
cluster: {nodes: 2, npus_per_node: 8}
quoting: verbatim
variables: {DIR: "/data/it's a dir", LR: '1e-6'}
constants: {PROJECT: '"$(touch pwned)"', RUN: '${PROJECT} in ${DIR}'}
imported: {script: run.sh, launch_line: 3, decided: {DEVICE: npu}, unquoted: [LR]}
trainer: {script: "my dir/it's;touch pwned.py", launcher: LAUNCHER}
env: {NAME: '${RUN}'}
arguments:
  options: {--config-name: own, a.b: '["console"]'}
  words: ['data.files=${DIR}', --lr, '${LR}', '', '${DEVICE} `touch pwned`', 'data.files=${RUN}', --config-path=x]
  last: {data.files: '$(touch pwned)'}
"""


@pytest.mark.parametrize("launcher", ["ray", "torchrun"])
@pytest.mark.parametrize("outside", [{}, {"PROJECT": "no", "DIR": "a  b*"}])
def test_an_imported_job(tmp_path: Path, launcher: str, outside: dict[str, str]) -> None:
    made = load_text(TEXT.replace("LAUNCHER", launcher), tmp_path, environ=outside)
    words, env = ran(made, tmp_path)
    folder = outside.get("DIR", "/data/it's a dir")
    project = '"$(touch pwned)"'
    assert words == argv(made)
    assert words[-11:] == [
        *("my dir/it's;touch pwned.py", "--config-name=own", 'a.b=["console"]', f"data.files={folder}", "--lr", "1e-6"),
        *("", "npu `touch pwned`", f"data.files={project} in {folder}", "--config-path=x", "data.files=$(touch pwned)"),
    ]
    assert words[:-11] == (["python3"] if launcher == "ray" else ["torchrun", "--nnodes=2", "--nproc_per_node=8"])
    assert env["NAME"] == f"{project} in {folder}"
