"""`trainer.script`: a Python file in place of a module, whatever is in its path."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from submitter.arguments.assemble import argv, command
from submitter.checks.examine import examine
from submitter.errors import UsageError
from submitter.gang import torchrun_node
from submitter.job.model import Job
from submitter.rehearsal.overlay import apply_overlay
from submitter.render.plan import plan
from tests.support.job_files import load_text

HEAD = "name: tiny\nsummary: a script\ncluster: {nodes: 2, npus_per_node: 4}\n"
ARGUMENTS = "arguments: {w: [--lr, '1e-6', 'a=b c']}\n"
SCRIPT = 'my dir/it\'s "$HOME"; touch pwned.py'
TRAINER = "import json, pathlib, sys; pathlib.Path('out').write_text(json.dumps(sys.argv))"
DRIVER = """
import json, sys
from submitter.gang.launch_ray import Child
child = Child(json.loads(sys.argv[1]))
while (result := child.poll(1.0)) is None: pass
sys.exit(result.code)
"""


def made(folder: Path, trainer: dict[str, object], **given: dict[str, str]) -> Job:
    return load_text(f"{HEAD}trainer: {json.dumps(trainer)}\n{ARGUMENTS}", folder, **given)  # type: ignore[arg-type]


def test_it_takes_the_place_of_the_module(tmp_path: Path) -> None:
    words = [SCRIPT, "--lr", "1e-6", "a=b c"]
    under_ray = made(tmp_path, {"script": SCRIPT})
    assert argv(under_ray) == ["python3", *words]
    under_torchrun = made(tmp_path, {"script": SCRIPT, "launcher": "torchrun"})
    assert argv(under_torchrun) == ["torchrun", "--nnodes=2", "--nproc_per_node=4", *words]
    assert plan(under_torchrun).command == tuple(command(under_torchrun)) == tuple(words)


def test_variables_fill_it(tmp_path: Path) -> None:
    text = f"{HEAD}variables: {{DIR: a}}\ntrainer: {{script: '${{DIR}}/x.py'}}\narguments: {{}}\n"
    assert load_text(text, tmp_path, environ={"DIR": "/b c"}).trainer.script == "/b c/x.py"


@pytest.mark.parametrize(
    ("trainer", "text_id"),
    [
        ({}, "job.missing"),
        ({"script": "a.py", "module": "a"}, "job.script_and_module"),
        ({"script": "-x.py"}, "job.want_script"),
        ({"script": "train"}, "job.want_script"),
        ({"script": ".py"}, "job.want_script"),
        ({"script": "a\nb.py"}, "job.want_script"),
        ({"script": ["a.py"]}, "job.not_a_scalar"),
        ({"script": 5}, "job.want_text"),
    ],
)
def test_refused(tmp_path: Path, trainer: dict[str, object], text_id: str) -> None:
    with pytest.raises(UsageError) as error:
        made(tmp_path, trainer)
    assert error.value.text_id == text_id


def test_the_driver_runs_it(tmp_path: Path) -> None:
    (tmp_path / "my dir").mkdir()
    (tmp_path / SCRIPT).write_text(TRAINER)
    words = json.dumps(command(made(tmp_path, {"script": SCRIPT})))
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads((tmp_path / "out").read_text()) == [SCRIPT, "--lr", "1e-6", "a=b c"]
    assert f"python3 {SCRIPT} and 3 arguments" in done.stdout
    assert not (tmp_path / "pwned.py").exists()


def test_each_rank_of_torchrun_runs_it(tmp_path: Path) -> None:
    words = command(made(tmp_path, {"script": SCRIPT, "launcher": "torchrun"}))
    start = torchrun_node.agent_argv(["--nnodes", "2"], words)
    assert [word.replace("$$", "$") for word in start[-5:]] == ["-u", *words]


def test_checks_and_rehearsal_name_it(tmp_path: Path) -> None:
    job = made(tmp_path, {"script": "mine.py"})
    assert "NR385" not in {finding.id for finding in examine(job).findings}
    with pytest.raises(UsageError, match=r"cannot be rehearsed: mine\.py"):
        apply_overlay(job, tmp_path)
