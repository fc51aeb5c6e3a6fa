"""What `npurun import --verify` records of a script, where it refuses, and which folders a script gets."""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from submitter.importer.verify import (
    SandboxError,
    exported,
    launches,
    record,
    sandbox,
)
from submitter.importer.verify.places import folders, hidden
from tests.support.importer_verify import Box, told


def test_the_launch_is_recorded_as_bash_makes_it(box: Box) -> None:
    script = """set -euo pipefail
    A=(data.x=1 "data.y=[1, 2]")
    export VLLM_USE_V1=1
    mkdir -p logs
    HCCL_X="a
b" python3 -m verl.trainer.main_ppo "${A[@]}" "$@" 2>&1 | tee logs/x.log
    """
    recording = box.run(script, "trainer.z=last one", GIVEN="1")
    assert (recording.exit_code, recording.ended, recording.complete) == (0, "exited", True)
    (launch,) = launches(recording)
    assert launch.argv == (
        *("python3", "-m", "verl.trainer.main_ppo", "data.x=1", "data.y=[1, 2]", "trainer.z=last one"),
    )
    assert exported(recording, launch) == {"VLLM_USE_V1": "1", "HCCL_X": "a\nb"}
    assert launch.environ["GIVEN"] == "1" and launch.environ["PATH"] == "/usr/bin:/bin"
    assert launch.cwd == str(box.work)


def test_the_environment_is_the_one_handed_in_and_what_bash_adds(box: Box) -> None:
    recording = box.run("python3 x.py", ODD="a b\n*'\"", EMPTY="")
    assert set(recording.commands[0].environ) - set(recording.handed) == {"_", "SHLVL", "PWD", "OLDPWD"} & set(
        recording.commands[0].environ
    )
    assert {name: recording.commands[0].environ[name] for name in recording.handed} == dict(recording.handed)
    assert exported(recording, recording.commands[0]) == {}


def test_what_a_variable_of_bash_means_does_not_change_the_recording(box: Box) -> None:
    (box.work / "rc").write_text("exit 3\n")
    recording = box.run("unset BASH_ENV\nexport BASH_ENV=rc SHELLOPTS\nset -u\npython3 x.py a.b=1\n")
    assert told(recording) == ["x.py", "a.b=1"]


def test_commands_come_in_their_order(box: Box) -> None:
    recording = box.run("for i in $(seq 100); do python3 x.py $i; done")
    assert [one.argv[-1] for one in recording.commands] == [str(i) for i in range(1, 101)]


def test_commands_at_once_are_all_recorded_whole(box: Box) -> None:
    recording = box.run('for i in $(seq 40); do python3 "$(printf %0100000d $i)" & done; wait')
    assert sorted(one.argv[1] for one in recording.commands) == [f"{number:0100000d}" for number in range(1, 41)]


def test_what_stays_in_the_background_is_recorded(box: Box) -> None:
    recording = box.run("nohup python3 -m a x.y=1 > log 2>&1 &\n(setsid python3 -m b x.y=2 &)\nexit 0")
    assert sorted(one.argv[2] for one in launches(recording)) == ["a", "b"]


def test_hostile_arguments_arrive_byte_for_byte(box: Box) -> None:
    nasty = [
        "",
        " ",
        "\n",
        "a\nb\n",
        "'\"\\`$(id)",
        "*",
        "é",
        "\udcff\udc80",
        "\x01\x1b[2J",
        "-n",
        "--",
        "%s\\0",
        "x" * 120_000,
    ]
    recording = box.run('python3 x.py "$@"', *nasty, *["y" * 100_000] * 3)
    assert list(recording.commands[0].argv) == ["python3", "x.py", *nasty, *["y" * 100_000] * 3]


def test_neighbours_are_run_too(box: Box) -> None:
    (box.work / "lib").mkdir()
    (box.work / "lib" / "common.sh").write_text("export FROM=neighbour\n")
    (box.work / "other.sh").write_text('cd "$(dirname "$0")" && mkdir made && exec torchrun --nnodes=2 x.py a.b=$1\n')
    recording = box.run("source lib/common.sh\nexec bash other.sh 7\n")
    assert recording.commands[0].argv == ("torchrun", "--nnodes=2", "x.py", "a.b=7")
    assert exported(recording, recording.commands[0]) == {"FROM": "neighbour"}
    assert not (box.work / "made").exists()


def test_the_whole_project_of_the_script_can_be_written_to(box: Box, tmp_path: Path) -> None:
    for folder in (".git", "examples/npu", "data"):
        (tmp_path / "repo" / folder).mkdir(parents=True)
    (tmp_path / "repo" / "data" / "large").write_bytes(bytes(2_000_000))
    script = tmp_path / "repo" / "examples" / "npu" / "run.sh"
    script.write_text(
        'set -e\ncd "$(dirname "${BASH_SOURCE[0]}")/../.."\nmkdir -p out && touch out/x\n'
        "[ -s data/large ]\npython3 x.py a.b=$(stat -c %s data/large)\n"
    )
    recording = record(script, arguments=[], environ={}, cwd=tmp_path)
    assert told(recording) == ["x.py", "a.b=2000000"]
    assert recording.left_out == 1
    assert not (tmp_path / "repo" / "out").exists()


def test_a_machine_with_npus(box: Box) -> None:
    recording = box.run(
        "set -e\npython3 -c 'import torch_npu'\ncommand -v npu-smi > /dev/null\n"
        "if command -v nvidia-smi > /dev/null || nvidia-smi || nvcc; then DEVICE=gpu; fi\n"
        "ulimit -n 1048576; ulimit -c unlimited; sleep 1000; pkill -9 python; ray stop --force\n"
        "python3 x.py device=${DEVICE:-npu}"
    )
    assert told(recording)[-1] == "device=npu"
    assert [one.argv[0] for one in recording.commands] == ["python3", "pkill", "ray", "python3"]


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no Python of the system")
def test_full_paths_and_another_search_path_lead_to_the_same_commands(box: Box) -> None:
    recording = box.run("/usr/bin/python3 x.py a.b=1\nexport PATH=/opt/x/bin:/usr/bin:/bin\npython3 x.py a.b=2")
    assert told(recording) == ["x.py", "a.b=1", "x.py", "a.b=2"]
    assert exported(recording, recording.commands[1]) == {"PATH": "/opt/x/bin:/usr/bin:/bin"}


def test_an_interpreter_that_only_the_script_names_is_not_run(box: Box) -> None:
    interpreter = box.work / "venv" / "bin" / "python3"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text("#!/bin/sh\ntouch ran\n")
    interpreter.chmod(0o755)
    recording = box.run(f"{interpreter} x.py a.b=1; python3 ran=$(ls ran)")
    assert told(recording) == ["x.py", "a.b=1", "ran="]
    assert recording.commands[0].argv[0] == str(interpreter)


def test_the_exit_code_and_the_end_of_stderr_are_told(box: Box) -> None:
    recording = box.run("set -u\necho before >&2\necho $NOT_THERE\npython3 x.py")
    assert recording.exit_code == 1 and recording.commands == ()
    assert "before" in recording.stderr_tail and "NOT_THERE: unbound variable" in recording.stderr_tail
    assert box.run("kill -9 $$").exit_code == -9


def test_it_takes_less_than_a_second(box: Box) -> None:
    box.run("python3 x.py")
    begin = time.monotonic()
    box.run("python3 x.py")
    assert time.monotonic() - begin < 1


# ── where it refuses ─────────────────────────────────────────────────────────────────────────────────────────────────


AS_DOCKER_DOES = """
import os
from submitter.importer.verify.inside import kernel, seccomp
kernel._prctl("no_new_privs", kernel._PR_SET_NO_NEW_PRIVS, 1)
seccomp.install(seccomp.program(os.uname().machine), os.uname().machine)
"""


def test_where_namespaces_are_forbidden_it_refuses_and_runs_nothing(box: Box) -> None:
    (box.work / "run.sh").write_text("touch ran\n")
    said = box.asking(AS_DOCKER_DOES).communicate(timeout=30)[0]
    assert said.startswith("no sandbox can be made on this machine (unshare: Operation not permitted)")
    assert "so the script was not run" in said and "--security-opt" in said and said.count("\n") == 1
    assert not (box.work / "ran").exists()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare command")
def test_root_that_cannot_become_nobody_is_refused(box: Box) -> None:
    (box.work / "run.sh").write_text("touch ran\n")
    said = box.asking(wrapper=("unshare", "--user", "--map-root-user")).communicate(timeout=30)[0]
    assert re.match(r"no sandbox can be made on this machine \((setgroups|uid_map): Operation not permitted\)", said), (
        said
    )
    assert not (box.work / "ran").exists()


def test_elsewhere_than_on_linux_it_refuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="darwin"):
        record(tmp_path / "x.sh", arguments=[], environ={}, cwd=tmp_path)


def test_without_bash_it_refuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "_SYSTEM_PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="bash"):
        record(tmp_path / "x.sh", arguments=[], environ={}, cwd=tmp_path)


@pytest.mark.parametrize("code", ["raise SystemExit", "import os; os.kill(os.getpid(), 9)", "1/0"])
def test_a_helper_that_dies_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    monkeypatch.setattr(sandbox, "_BOOT", code)
    with pytest.raises(SandboxError, match="nothing was verified"):
        record(tmp_path / "x.sh", arguments=[], environ={"LONG": "x" * 500_000}, cwd=tmp_path)


def test_a_helper_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "_BOOT", "import time; time.sleep(50)")
    monkeypatch.setattr(sandbox, "_SET_UP_S", 0.5)
    begin = time.monotonic()
    with pytest.raises(SandboxError, match="nothing was verified"):
        record(tmp_path / "x.sh", arguments=[], environ={}, cwd=tmp_path, timeout_s=0)
    assert time.monotonic() - begin < 10


# ── which folders it gets ────────────────────────────────────────────────────────────────────────────────────────────


def test_of_homes_and_temporary_folders_only_the_files_in_them_are_laid_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "repo" / ".git").mkdir(parents=True)
    (home / "repo" / "a").mkdir()
    assert folders(home / "repo" / "a" / "x.sh", home, str(home)) == [
        (str(home), False),
        (str(home / "repo"), True),
    ]
    assert folders(Path("/usr/bin/x.sh"), Path("/"), str(home)) == []
    assert folders(tmp_path / "x.sh", Path("/usr"), None) == [(str(tmp_path), True)]


@pytest.mark.parametrize("home", ["/", "/usr", "/etc", "/proc", "relative", ""])
def test_a_strange_home_hides_nothing_of_the_system(box: Box, home: str) -> None:
    assert not {"/", "/usr", "/etc", "/proc"} & set(hidden(home))
    assert told(box.run("python3 x=1", HOME=home)) == ["x=1"]


def test_a_home_that_is_not_there_takes_nothing_else_away(box: Box) -> None:
    (found,) = told(box.run("python3 $(ls -A /usr/share | wc -l)", HOME="/usr/share/npurun-not-there"))
    assert int(found) == len(list(Path("/usr/share").iterdir()))
    assert told(box.run("mkdir -p ~/a && python3 made=1", HOME="/npurun-not-there/b")) == ["made=1"]


def test_hidden_files_of_a_home_are_not_laid_out_when_it_is_the_working_directory(box: Box) -> None:
    (box.home / ".token").write_text("secret")
    (box.home / "run.sh").write_text("python3 seen=$(ls -A | tr '\\n' ' ')\n")
    recording = record(Path("run.sh"), arguments=[], environ={"HOME": str(box.home)}, cwd=box.home)
    assert " ".join(told(recording)).strip() == "seen=run.sh"
