"""Completion of commands, options, jobs and runs: quick, quiet, and nothing is made or asked on a Tab."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from submitter.cli.completion import SHELLS
from submitter.cli.main import COMMANDS
from tests.support.cli import MAIN_JOB, Result, cold, english, npurun
from tests.support.fake_ray import FakeRay


def complete(line: str, home: Path, lang: str = "en") -> list[str]:
    """The candidates for the last word of `line`, which starts with `npurun`."""
    result = _complete(line, home, lang)
    assert (result.code, result.err) == (0, "")
    words = result.out.split("\n")
    return [words[index + 1] for index in range(0, len(words) - 2, 3)]


def _complete(line: str, home: Path, lang: str = "en") -> Result:
    words = line.split(" ")
    env = {
        "_NPURUN_COMPLETE": "zsh_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "NPURUN_LANG": lang,
    }
    return cold(home=home, env=env)


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_shell_that_parses(shell: str, tmp_path: Path) -> None:
    result = npurun("completion", shell, home=tmp_path)
    assert result.code == 0 and "_NPURUN_COMPLETE" in result.out and "npurun" in result.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=result.out, text=True, timeout=10, check=True)


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    script = npurun("completion", "bash", home=tmp_path).out
    (tmp_path / "npurun").write_text('#!/bin/sh\necho "plain,seen $COMP_CWORD"\n')
    (tmp_path / "npurun").chmod(0o700)
    probe = "COMP_WORDS=(npurun re); COMP_CWORD=1; _npurun_completion npurun; echo ${COMPREPLY[0]}"
    done = subprocess.run(
        ["bash", "--norc", "-c", f'PATH="{tmp_path}:$PATH"\n{script}\n{probe}'],
        capture_output=True,
        text=True,
        timeout=10,
    )
    assert done.stdout == "seen 1\n"


def test_commands_options_and_choices(tmp_path: Path) -> None:
    assert complete("npurun ", tmp_path) == list(COMMANDS)
    assert complete("npurun re", tmp_path) == [name for name in COMMANDS if name.startswith("re")]
    assert "--set" in complete(f"npurun submit {MAIN_JOB} --", tmp_path)
    assert complete(f"npurun render {MAIN_JOB} --as r", tmp_path) == ["request"]
    assert complete("npurun completion z", tmp_path) == ["zsh"]


def test_descriptions_are_in_the_users_language(tmp_path: Path) -> None:
    for line in ("npurun ", f"npurun submit {MAIN_JOB} --"):
        result = _complete(line, tmp_path, lang="zh")
        assert "cli." not in result.out and not english(result.out)


def test_jobs_by_name_else_files(tmp_path: Path) -> None:
    assert complete("npurun submit qwen3_5_122b_a10b_", tmp_path) == [MAIN_JOB]
    assert _complete("npurun submit ./x", tmp_path).out.split("\n")[0] == "file"
    assert complete(f"npurun submit {MAIN_JOB} extra ", tmp_path) == []
    assert complete(f"npurun submit {MAIN_JOB} -- tr", tmp_path) == []


def test_runs_of_this_machine_without_asking_a_cluster(tmp_path: Path) -> None:
    with FakeRay() as ray:
        for run in ("mine", "more"):
            assert (
                npurun("submit", MAIN_JOB, "--detach", "--run", run, "--address", ray.address, home=tmp_path).code == 0
            )
    for command in ("status", "logs", "stop", "resume", "diff", "diff more/a1"):
        assert complete(f"npurun {command} mi", tmp_path) == ["mine"]
    assert set(complete("npurun status ", tmp_path)) == {"mine", "more"}


def test_no_ledger_is_made(tmp_path: Path) -> None:
    assert complete("npurun status ", tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"junk" * 1000])
def test_a_broken_ledger_is_silence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "npurun").mkdir(mode=0o700)
    (tmp_path / "npurun" / "ledger.db").write_bytes(content)
    assert complete("npurun status ", tmp_path) == []
    (tmp_path / "npurun").chmod(0o755)
    (tmp_path / "npurun" / "other").touch()
    assert complete("npurun status ", tmp_path) == []


@pytest.mark.parametrize("line", ["npurun bogus ", "npurun render --as ", "npurun status --zzz ", "npurun --lang xx "])
def test_wrong_lines_complete_to_nothing_without_a_word(line: str, tmp_path: Path) -> None:
    result = _complete(line, tmp_path)
    assert (result.code, result.err) == (0, "")
