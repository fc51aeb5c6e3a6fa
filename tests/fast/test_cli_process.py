"""`npurun` as a process of its own: what it imports, and streams that are closed, full or not read to the end."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import COMMAND, MAIN_JOB, cold, environment
from tests.support.fake_ray import FakeRay, hang

HEAVY = ("ray", "hydra", "omegaconf", "torch", "verl", "aiohttp", "numpy", "antlr4", "pydantic")
SHOWS_IMPORTS = "import atexit, sys; atexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))\n"


def imported(*words: str, home: Path) -> set[str]:
    """Top-level modules that `npurun` has loaded when it ends."""
    code = f"{SHOWS_IMPORTS}{COMMAND[2]}"
    done = subprocess.run(
        [*COMMAND[:2], code, *words], env=environment(home), capture_output=True, text=True, timeout=30, check=True
    )
    return {name.split(".")[0] for name in done.stderr.splitlines()[-1].split(" ")}


@pytest.mark.parametrize(
    ("words", "also"),
    [
        (["--help"], {"rich", "yaml", "sqlite3", "ssl", "http", "asyncio"}),
        (["submit", "--help"], {"rich", "yaml", "sqlite3", "ssl", "http", "asyncio"}),
        (["jobs"], {"sqlite3", "ssl", "http", "asyncio"}),
        (["render", MAIN_JOB, "--as", "argv"], {"rich", "sqlite3", "ssl", "http", "asyncio"}),
        (["render", MAIN_JOB, "--as", "bash"], {"rich", "sqlite3", "ssl", "http", "asyncio"}),
        (["render", MAIN_JOB, "--as", "request"], {"rich", "asyncio"}),
    ],
)
def test_nothing_heavy_is_imported(words: list[str], also: set[str], tmp_path: Path) -> None:
    assert not imported(*words, home=tmp_path) & {*HEAVY, *also}


def test_submitting_and_asking_import_nothing_heavy(tmp_path: Path) -> None:
    with FakeRay() as ray:
        where = ["--address", ray.address]
        assert not imported("submit", MAIN_JOB, "--detach", "--run", "mine", *where, home=tmp_path) & {*HEAVY, "rich"}
        for words in (["list"], ["status", "mine"], ["logs", "mine"], ["stop", "mine"]):
            assert not imported(*words, *where, home=tmp_path) & set(HEAVY)


def shell(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    """`line` in bash, with `npurun` as a function."""
    command = " ".join(f"'{word}'" for word in COMMAND)
    return subprocess.run(
        ["bash", "-c", f'npurun() {{ {command} "$@"; }}; {line}'],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    done = shell(f"set -o pipefail; npurun render {MAIN_JOB} --as request | head -c 1", tmp_path)
    assert done.returncode == 0 and done.stdout == "{" and "Error" not in done.stderr
    gone = shell(f"npurun render {MAIN_JOB} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert gone.stdout == "0\n" and "Error" not in gone.stderr


def test_a_reader_of_the_log_that_leaves_is_no_success_of_the_run(tmp_path: Path) -> None:
    with FakeRay() as ray:
        ray.add_job("theirs-a1", "RUNNING", b"line\n" * 100_000, metadata={"npurun_run": "theirs"})
        line = f"npurun logs theirs -f --address {ray.address} | head -n 1; echo ${{PIPESTATUS[0]}}"
        done = shell(line, tmp_path)
    assert done.stdout == "line\n130\n" and "the run goes on" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams(closed: str, tmp_path: Path) -> None:
    for words in ("jobs", f"render {MAIN_JOB}", f"render {MAIN_JOB} --as request", "--help"):
        done = shell(f"npurun {words} {closed}", tmp_path)
        assert done.returncode == 0 and "Traceback" not in done.stderr and "Error" not in done.stderr


def test_errors_with_a_closed_stderr_keep_their_code(tmp_path: Path) -> None:
    assert shell("npurun render nowhere 2>&-", tmp_path).returncode == 2
    assert shell("npurun render nowhere 2>/dev/full", tmp_path).returncode == 2
    assert shell("npurun status nobody --json --address http://127.0.0.1:1 >/dev/full", tmp_path).returncode == 4


@pytest.mark.parametrize(
    "words", ["jobs", f"render {MAIN_JOB}", f"render {MAIN_JOB} --as request", "jobs --json", "", "--help", "--version"]
)
def test_a_full_disk_is_told(words: str, tmp_path: Path) -> None:
    done = shell(f"npurun {words} >/dev/full", tmp_path)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("npurun: cannot write to stdout")
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_a_terminal_without_utf8(tmp_path: Path) -> None:
    for env in (
        {"PYTHONIOENCODING": "ascii"},
        {"LANG": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ):
        for words in (
            ["jobs"],
            ["jobs", "--lang", "zh"],
            ["render", "世界", "--lang", "zh"],
            ["--help", "--lang", "zh"],
        ):
            result = cold(*words, home=tmp_path, env=env)
            assert result.code in (0, 2) and "Error" not in result.err and "Traceback" not in result.err


def test_ctrl_c_at_a_cold_process(tmp_path: Path) -> None:
    with FakeRay() as ray:
        ray.add_job("theirs-a1", "RUNNING", b"first\n", metadata={"npurun_run": "theirs"})
        words = ["logs", "theirs", "-f", "--address", ray.address]
        with subprocess.Popen(
            [*COMMAND, *words], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            assert process.stdout.readline() == b"first\n"
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(20) == 130
            assert b"Traceback" not in process.stderr.read()
        assert ray.jobs["theirs-a1"].status == "RUNNING"


def test_ctrl_c_while_a_cluster_hangs(tmp_path: Path) -> None:
    with FakeRay() as ray:
        asked = threading.Event()

        def hangs(handler: Any, answer: Callable[[], None]) -> None:
            asked.set()
            hang(handler, answer)

        ray.fail_next("GET", "/api/jobs/", hangs)
        words = ["list", "--json", "--address", ray.address]
        with subprocess.Popen(
            [*COMMAND, *words], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert asked.wait(20)
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert process.returncode == 130 and b"error" in out and b"Traceback" not in err
