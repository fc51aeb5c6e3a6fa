"""The sandbox of `npurun import --verify`, attacked by real scripts; what it records, and how that is compared.

The attackers are bash and perl: Python is one of the recorded commands in there. What they find out they tell as
arguments of such a command.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from submitter.importer.verify import (
    Difference,
    Recorded,
    Recording,
    SandboxError,
    compare,
    exported,
    launches,
    normalised,
    record,
    sandbox,
    submitted,
)
from submitter.importer.verify.places import folders, hidden
from submitter.importer.verify.recording import parsed
from submitter.texts import text
from tests.support.processes import carrying, wait_for, wait_gone

ROOT = Path(__file__).parents[2]
Run = Callable[..., Recording]


@pytest.fixture(scope="module")
def possible(tmp_path_factory: pytest.TempPathFactory) -> None:
    script = tmp_path_factory.mktemp("probe") / "probe.sh"
    script.write_text("exit 0\n")
    try:
        record(script, arguments=[], environ={}, cwd=script.parent)
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def run(possible: None, work: Path, home: Path) -> Run:
    def run(script: str, *arguments: str, timeout_s: float = 20, **environ: str) -> Recording:
        (work / "run.sh").write_text(script)
        environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", **environ}
        return record(Path("run.sh"), arguments=arguments, environ=environ, cwd=work, timeout_s=timeout_s)

    return run


def told(recording: Recording) -> list[str]:
    """The arguments of all recorded commands."""
    return [word for one in recording.commands for word in one.argv[1:]]


def facts(recording: Recording) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in told(recording))


PERL = pytest.mark.skipif(shutil.which("perl", path="/usr/bin:/bin") is None, reason="no perl to attack with")


# ── what is recorded ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_launch_is_recorded_as_bash_makes_it(run: Run, work: Path) -> None:
    script = """set -euo pipefail
    A=(data.x=1 "data.y=[1, 2]")
    export VLLM_USE_V1=1
    mkdir -p logs
    HCCL_X="a
b" python3 -m verl.trainer.main_ppo "${A[@]}" "$@" 2>&1 | tee logs/x.log
    """
    recording = run(script, "trainer.z=last one", GIVEN="1")
    assert (recording.exit_code, recording.ended, recording.complete) == (0, "exited", True)
    (launch,) = launches(recording)
    assert launch.argv == (
        *("python3", "-m", "verl.trainer.main_ppo", "data.x=1", "data.y=[1, 2]", "trainer.z=last one"),
    )
    assert exported(recording, launch) == {"VLLM_USE_V1": "1", "HCCL_X": "a\nb"}
    assert launch.environ["GIVEN"] == "1" and launch.environ["PATH"] == "/usr/bin:/bin"
    assert launch.cwd == str(work)


def test_the_environment_is_the_one_handed_in_and_what_bash_adds(run: Run) -> None:
    recording = run("python3 x.py", ODD="a b\n*'\"", EMPTY="")
    assert set(recording.commands[0].environ) - set(recording.handed) == {"_", "SHLVL", "PWD", "OLDPWD"} & set(
        recording.commands[0].environ
    )
    assert {name: recording.commands[0].environ[name] for name in recording.handed} == dict(recording.handed)
    assert exported(recording, recording.commands[0]) == {}


def test_what_a_variable_of_bash_means_does_not_change_the_recording(run: Run, work: Path) -> None:
    (work / "rc").write_text("exit 3\n")
    recording = run("unset BASH_ENV\nexport BASH_ENV=rc SHELLOPTS\nset -u\npython3 x.py a.b=1\n")
    assert told(recording) == ["x.py", "a.b=1"]


def test_commands_come_in_their_order(run: Run) -> None:
    recording = run("for i in $(seq 100); do python3 x.py $i; done")
    assert [one.argv[-1] for one in recording.commands] == [str(i) for i in range(1, 101)]


def test_commands_at_once_are_all_recorded_whole(run: Run) -> None:
    recording = run('for i in $(seq 40); do python3 "$(printf %0100000d $i)" & done; wait')
    assert sorted(one.argv[1] for one in recording.commands) == [f"{number:0100000d}" for number in range(1, 41)]


def test_what_stays_in_the_background_is_recorded(run: Run) -> None:
    recording = run("nohup python3 -m a x.y=1 > log 2>&1 &\n(setsid python3 -m b x.y=2 &)\nexit 0")
    assert sorted(one.argv[2] for one in launches(recording)) == ["a", "b"]


HOSTILE = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=20)
ARGUMENTS = st.lists(
    HOSTILE | st.binary(max_size=9).map(lambda data: os.fsdecode(data.replace(b"\0", b""))), max_size=9
)


def test_hostile_arguments_arrive_byte_for_byte(run: Run) -> None:
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
    recording = run('python3 x.py "$@"', *nasty, *["y" * 100_000] * 3)
    assert list(recording.commands[0].argv) == ["python3", "x.py", *nasty, *["y" * 100_000] * 3]


@given(ARGUMENTS, st.dictionaries(HOSTILE.filter(lambda name: name and "=" not in name), HOSTILE, max_size=5))
@example(["\udcff"], {"BASH_FUNC_x%%": "() { :; }"})
def test_a_record_is_read_as_it_was_written(arguments: list[str], environ: dict[str, str]) -> None:
    words = ["/w", str(len(arguments)), "/.npurun/bin/python3", *arguments, *(f"{k}={v}" for k, v in environ.items())]
    found = parsed(b"".join(os.fsencode(word) + b"\0" for word in words))
    assert found is not None
    assert (found.argv, dict(found.environ), found.cwd) == (("python3", *map(_as_read, arguments)), environ, "/w")


def _as_read(argument: str) -> str:
    return os.fsdecode(os.fsencode(argument))


@given(
    st.binary(max_size=200) | st.lists(st.sampled_from([b"\0", b"1", b"-1", b"999999", b"a=b", b"\xff"])).map(b"".join)
)
def test_no_bytes_break_the_reading_of_records(data: bytes) -> None:
    found = parsed(data)
    assert found is None or found.argv


def test_neighbours_are_run_too(run: Run, work: Path) -> None:
    (work / "lib").mkdir()
    (work / "lib" / "common.sh").write_text("export FROM=neighbour\n")
    (work / "other.sh").write_text('cd "$(dirname "$0")" && mkdir made && exec torchrun --nnodes=2 x.py a.b=$1\n')
    recording = run("source lib/common.sh\nexec bash other.sh 7\n")
    assert recording.commands[0].argv == ("torchrun", "--nnodes=2", "x.py", "a.b=7")
    assert exported(recording, recording.commands[0]) == {"FROM": "neighbour"}
    assert not (work / "made").exists()


def test_the_whole_project_of_the_script_can_be_written_to(possible: None, tmp_path: Path) -> None:
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


def test_a_machine_with_npus(run: Run) -> None:
    recording = run(
        "set -e\npython3 -c 'import torch_npu'\ncommand -v npu-smi > /dev/null\n"
        "if command -v nvidia-smi > /dev/null || nvidia-smi || nvcc; then DEVICE=gpu; fi\n"
        "ulimit -n 1048576; ulimit -c unlimited; sleep 1000; pkill -9 python; ray stop --force\n"
        "python3 x.py device=${DEVICE:-npu}"
    )
    assert told(recording)[-1] == "device=npu"
    assert [one.argv[0] for one in recording.commands] == ["python3", "pkill", "ray", "python3"]


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no Python of the system")
def test_full_paths_and_another_search_path_lead_to_the_same_commands(run: Run) -> None:
    recording = run("/usr/bin/python3 x.py a.b=1\nexport PATH=/opt/x/bin:/usr/bin:/bin\npython3 x.py a.b=2")
    assert told(recording) == ["x.py", "a.b=1", "x.py", "a.b=2"]
    assert exported(recording, recording.commands[1]) == {"PATH": "/opt/x/bin:/usr/bin:/bin"}


def test_an_interpreter_that_only_the_script_names_is_not_run(run: Run, tmp_path: Path) -> None:
    interpreter = tmp_path / "venv" / "bin" / "python3"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    interpreter.chmod(0o755)
    recording = run(f"{ROOT}/no/bin/python3 x; {interpreter} x.py a.b=1; [ ! -e ran ] && python3 not=ran")
    assert "not=ran" in told(recording)


def test_the_exit_code_and_the_end_of_stderr_are_told(run: Run) -> None:
    recording = run("set -u\necho before >&2\necho $NOT_THERE\npython3 x.py")
    assert recording.exit_code == 1 and recording.commands == ()
    assert "before" in recording.stderr_tail and "NOT_THERE: unbound variable" in recording.stderr_tail
    assert run("kill -9 $$").exit_code == -9


def test_it_takes_less_than_a_second(run: Run) -> None:
    run("python3 x.py")
    begin = time.monotonic()
    run("python3 x.py")
    assert time.monotonic() - begin < 1


# ── what the script cannot do ────────────────────────────────────────────────────────────────────────────────────────


PLACES = ("/", "/etc", "/usr", "/usr/bin", "/var", "/var/lib", "/opt", "/sys", "/proc/sys/kernel", "/sys/fs/cgroup")
SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/1/oom_score_adj",
    "/proc/self/timerslack_ns",
)


def test_it_writes_nothing_outside(run: Run, work: Path, home: Path, tmp_path: Path) -> None:
    """What it tries would do no harm if it could."""
    for folder in (work, home):
        (folder / "kept").write_text("kept")
    name = f"npurun-attack-{os.getpid()}"
    before = sorted(tmp_path.rglob("*"))
    script = f"""for place in {" ".join(PLACES[1:])}; do touch $place/{name} && python3 wrote=$place; done
    for file in {" ".join(SETTINGS)}; do ( cat $file > /tmp/is && cat /tmp/is > $file ) && python3 wrote=$file; done
    ( echo h > /proc/sysrq-trigger ) && python3 wrote=sysrq
    touch -c /etc/passwd && python3 wrote=time
    touch /{name} /tmp/{name} /var/tmp/{name} /dev/shm/{name} ~/made made && python3 made=1
    rm -rf kept ~/kept "{tmp_path}"/* ; python3 kept=$(cat kept ~/kept)
    """
    assert facts(run(script)) == {"made": "1", "kept": ""}
    assert sorted({*tmp_path.rglob("*")} - {work / "run.sh"}) == before
    assert not any(Path(place, name).exists() for place in (*PLACES, "/tmp", "/var/tmp", "/dev/shm"))


def test_it_reads_no_secrets_of_homes_and_of_other_processes(run: Run, home: Path) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id").write_text("secret")
    (home / "plain").write_text("secret")
    others = " ".join(f"{place}/*" for place in ("/root", "/home", "/run", "/dev/shm", "/var/tmp"))
    script = f"""shopt -s nullglob dotglob
    python3 home=$(cat ~/.ssh/id ~/plain) others="$(echo {others})"
    for f in environ mem maps fd/0 root/etc cwd/run.sh; do cat /proc/1/$f > /dev/null 2>&1 && python3 read=$f; done
    python3 outside=$(ls -d /proc/{os.getpid()} 2>/dev/null) processes=$(ls -d /proc/[0-9]* | wc -l)
    """
    found = facts(run(script))
    assert found.pop("processes") in {"3", "4", "5"}
    assert found == {"home": "", "others": "", "outside": ""}


@pytest.mark.skipif(os.getuid() != 0, reason="of root alone")
def test_root_is_nobody_outside(run: Run) -> None:
    found = facts(run('python3 id=$(id -u) shadow="$(cat /etc/shadow 2>/dev/null)" owner=$(stat -c %u /etc/passwd)'))
    assert found == {"id": "0", "shadow": "", "owner": "65534"}


def test_it_has_no_network(run: Run) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        script = (
            f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && python3 connected=1\npython3 devices=$(ls /sys/class/net | wc -l)"
        )
        assert "connected" not in facts(run(script))
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()


NUMBERS = {
    "x86_64": {"mount": 165, "ptrace": 101, "unshare": 272, "pivot_root": 155, "io_uring_setup": 425, "keyctl": 250},
    "aarch64": {"mount": 40, "ptrace": 117, "unshare": 97, "pivot_root": 41, "io_uring_setup": 425, "keyctl": 219},
}
CALLS = """use Socket;
my ($none, $tmp, $tmpfs, $zeros) = ("none", "/tmp", "tmpfs", "\\0" x 200);
my %given = (
  mount => [$none, $tmp, $tmpfs, 0, 0], ptrace => [16, 1, 0, 0], unshare => [0x10000000],
  pivot_root => [$tmp, $tmp], io_uring_setup => [8, $zeros], keyctl => [1, 0],
);
my %numbers = (NUMBERS);
sub told { system("python3", "$_[0]=" . ($_[1] ? "done" : $!{EPERM} ? "refused" : $!+0)); }
for my $name (keys %numbers) { told($name, syscall($numbers{$name}, @{$given{$name}}) != -1); }
for my $family (PF_INET, PF_INET6, PF_UNIX, 16) { told("socket$family", socket(my $s, $family, SOCK_STREAM, 0)); }
told("raw", socket(my $s, PF_INET, SOCK_RAW, 1));
"""


@PERL
def test_system_calls_that_could_lead_out_are_refused(run: Run, work: Path) -> None:
    """Sockets of each kind too: those of the host in a folder would take connections although it is read-only."""
    numbers = ", ".join(f"{name} => {number}" for name, number in NUMBERS[os.uname().machine].items())
    (work / "calls.pl").write_text(CALLS.replace("NUMBERS", numbers))
    found = facts(run("perl calls.pl; python3 status=$?"))
    assert found.pop("status") == "0"
    assert set(found.values()) == {"refused"} and len(found) == 11, found


def test_no_capability_is_left_and_none_comes_back(run: Run) -> None:
    script = """caps() { grep -h '^Cap' /proc/self/status | cut -f2 | sort -u; }
    python3 caps="$(caps)" privileges="$(grep -h NoNewPrivs /proc/self/status | cut -f2)"
    unshare -Ur true 2> /dev/null && python3 unshared=1
    """
    assert facts(run(script)) == {"caps": "0" * 16, "privileges": "1"}


def test_processes_outside_cannot_be_killed(run: Run) -> None:
    outside = subprocess.Popen(["sleep", "60"])
    try:
        script = f"kill -9 {outside.pid} {os.getpid()} && python3 killed=1\nkill -TERM 1; kill -9 1\npython3 x=1"
        assert told(run(script)) == ["x=1"]
        assert outside.poll() is None
    finally:
        outside.kill()
        outside.wait()


def test_its_own_group_is_not_that_of_the_one_who_asks(run: Run) -> None:
    recording = run("trap 'exit 5' TERM\npython3 before\nkill 0\nsleep 1\n")
    assert recording.exit_code == 5 and told(recording) == ["before"]


@pytest.fixture
def mark() -> Iterator[str]:
    """`NAME=value` in the environment of what the script starts; at the end none of it may live."""
    mark = f"NPURUN_TEST_VERIFY={uuid.uuid4().hex}"
    yield mark
    wait_gone(mark, bound_s=5)
    assert [one for one in psutil.Process().children() if "inside.main" in " ".join(one.cmdline())] == []


def as_variable(mark: str) -> dict[str, str]:
    name, _, value = mark.partition("=")
    return {name: value}


def mounts() -> str:
    return re.sub(r"^\d+ ", "", Path("/proc/self/mountinfo").read_text())


ENDLESS = {
    "loop": "while :; do :; done",
    "trap": "trap '' TERM INT HUP QUIT\nwhile :; do :; done",
    "daemons": "for i in 1 2 3; do setsid bash -c 'trap \"\" TERM; while :; do read -t 1 < <(:) ; done' & done\nwait",
    "stopped": "kill -STOP $$",
    "recursion": "bash $0",
    "bomb": "f() { f | f & }; f; while :; do :; done",
    "output": "yes >&2",
    "input": "cat /dev/zero > /dev/null",
    "calls": "while :; do python3 x.py; done",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_without_an_end_it_is_ended_with_all_that_it_started(run: Run, mark: str, name: str) -> None:
    before = mounts()
    begin = time.monotonic()
    recording = run(f"python3 before\n{ENDLESS[name]}", timeout_s=1, **as_variable(mark))
    assert recording.ended == "timeout" or name == "recursion"
    assert told(recording)[0] == "before"
    assert time.monotonic() - begin < 6
    wait_gone(mark, bound_s=5)
    assert mounts() == before
    assert len(recording.stderr_tail) <= 4000


def test_a_fork_bomb_stays_within_its_bound(run: Run, mark: str) -> None:
    most = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal most
        while not ended.wait(0.05):
            most = max(most, len(carrying(mark)))

    counting = threading.Thread(target=count)
    counting.start()
    try:
        run("mkfifo f\nfor i in $(seq 600); do bash -c 'read x < f' & done", timeout_s=2, **as_variable(mark))
    finally:
        ended.set()
        counting.join()
    assert 100 < most <= 256


def test_disk_and_memory_are_bounded(run: Run) -> None:
    script = """head -c 100M /dev/zero > big; python3 file=$(stat -c %s big)
    for i in $(seq 20); do head -c 50M /dev/zero > /tmp/$i || break; done 2> /dev/null
    python3 files=$(du -sm /tmp | cut -f1)
    """
    found = facts(run(script))
    assert int(found["file"]) <= 64_000_000
    assert int(found["files"]) <= 256


@PERL
def test_one_process_has_bounded_memory(run: Run) -> None:
    assert facts(run("perl -e '$x = \"a\" x 9e9' 2> /dev/null; python3 status=$?"))["status"] != "0"


def test_forged_records_break_nothing(run: Run) -> None:
    script = """R=/.npurun/records
    python3 real=1
    mkfifo $R/fifo; ln -s /etc/passwd $R/link; mkdir $R/folder; head -c 300 /dev/urandom > $R/noise; : > $R/empty
    printf '/w\\0007\\000x\\000' > $R/short
    printf '%s\\n' fifo link folder noise empty short ../../etc/passwd /etc/passwd '' . gone >> $R/order
    python3 real=2
    """
    recording = run(script)
    assert not recording.complete
    assert told(recording)[0] == "real=1"


def test_records_that_are_taken_away_are_missed(run: Run) -> None:
    recording = run("python3 a=1\nrm -rf /.npurun/records/*\npython3 b=1")
    assert told(recording) == ["b=1"]
    filled = run("head -c 63M /dev/zero > /.npurun/records/x; head -c 5M /dev/zero > /.npurun/records/y; python3 a=1")
    assert not filled.complete


def test_the_commands_cannot_be_replaced(run: Run) -> None:
    script = """rm -rf /.npurun/bin
    echo 'exit 1' > /.npurun/bin/python3
    cp /bin/true /.npurun/bin/npurun-stub
    mv /.npurun /gone; mv /.npurun/records /gone; chmod 0 /.npurun /.npurun/bin
    python3 still=1
    """
    assert told(run(script)) == ["still=1"]


ASKING = """
import sys
from pathlib import Path
from submitter.importer.verify import SandboxError, record
try:
    record(Path("run.sh"), arguments=[], environ=dict([sys.argv[2].split("=")]), cwd=Path(sys.argv[1]), timeout_s=50)
except SandboxError as error:
    print(error)
"""


def asking(before: str, work: Path, mark: str = "A=b") -> subprocess.Popen[str]:
    """Another process that runs `before` and then asks for `run.sh` to be recorded."""
    command = [sys.executable, "-c", before + ASKING, str(work), mark]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_when_the_one_who_asks_is_killed_nothing_stays(possible: None, work: Path, mark: str) -> None:
    endless = "while :; do :; done"
    (work / "run.sh").write_text(f"trap '' TERM HUP\nsetsid bash -c '{endless}' &\nbash -c '{endless}'\n{endless}\n")
    process = asking("", work, mark)
    wait_for(lambda: len(carrying(mark)) >= 3, bound_s=20, what="the script's start")
    inside = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=20)
    _, alive = psutil.wait_procs(inside, timeout=5)
    assert len(inside) > 4 and alive == []


# ── where it refuses ─────────────────────────────────────────────────────────────────────────────────────────────────


AS_DOCKER_DOES = """
import os
from submitter.importer.verify.inside import kernel, seccomp
kernel._prctl("no_new_privs", kernel._PR_SET_NO_NEW_PRIVS, 1)
seccomp.install(seccomp.program(os.uname().machine), os.uname().machine)
"""


def test_where_namespaces_are_forbidden_it_refuses_and_runs_nothing(possible: None, work: Path) -> None:
    (work / "run.sh").write_text("touch ran\n")
    said = asking(AS_DOCKER_DOES, work).communicate(timeout=30)[0]
    assert said.startswith("no sandbox can be made on this machine (unshare: Operation not permitted)")
    assert "so the script was not run" in said and "--security-opt" in said and said.count("\n") == 1
    assert not (work / "ran").exists()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare command")
def test_root_that_cannot_become_nobody_is_refused(possible: None, work: Path) -> None:
    (work / "run.sh").write_text("touch ran\n")
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", ASKING, str(work), "A=b"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False).stdout
    assert re.match(r"no sandbox can be made on this machine \((setgroups|uid_map): Operation not permitted\)", said), (
        said
    )
    assert not (work / "ran").exists()


def test_elsewhere_than_on_linux_it_refuses(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="darwin"):
        record(work / "x.sh", arguments=[], environ={}, cwd=work)


def test_without_bash_it_refuses(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    monkeypatch.setattr(sandbox, "_SYSTEM_PATH", str(work))
    with pytest.raises(SandboxError, match="bash"):
        record(work / "x.sh", arguments=[], environ={}, cwd=work)


@pytest.mark.parametrize("code", ["raise SystemExit", "import os; os.kill(os.getpid(), 9)", "1/0"])
def test_a_helper_that_dies_is_told(monkeypatch: pytest.MonkeyPatch, work: Path, code: str) -> None:
    monkeypatch.setattr(sandbox, "_BOOT", code)
    with pytest.raises(SandboxError, match="nothing was verified"):
        record(work / "x.sh", arguments=[], environ={"LONG": "x" * 500_000}, cwd=work)


def test_a_helper_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, work: Path) -> None:
    monkeypatch.setattr(sandbox, "_BOOT", "import time; time.sleep(50)")
    monkeypatch.setattr(sandbox, "_SET_UP_S", 0.5)
    with pytest.raises(SandboxError, match="nothing was verified"):
        record(work / "x.sh", arguments=[], environ={}, cwd=work, timeout_s=0)


# ── which folders it gets ────────────────────────────────────────────────────────────────────────────────────────────


def test_of_homes_and_temporary_folders_only_the_files_in_them_are_laid_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "repo" / ".git").mkdir(parents=True)
    (home / "repo" / "a").mkdir()
    assert folders(home / "repo" / "a" / "x.sh", home, str(home)) == [(str(home), False), (str(home / "repo"), True)]
    assert folders(Path("/usr/bin/x.sh"), Path("/"), str(home)) == []
    assert folders(tmp_path / "x.sh", Path("/usr"), None) == [(str(tmp_path), True)]


@pytest.mark.parametrize("home", ["/", "/usr", "/etc", "/proc", "relative", ""])
def test_a_strange_home_hides_nothing_of_the_system(run: Run, home: str) -> None:
    assert not {"/", "/usr", "/etc", "/proc"} & set(hidden(home))
    assert told(run("python3 x=1", HOME=home)) == ["x=1"]


def test_hidden_files_of_a_home_are_not_laid_out_when_it_is_the_working_directory(possible: None, home: Path) -> None:
    (home / ".token").write_text("secret")
    (home / "run.sh").write_text("python3 seen=$(ls -A | tr '\\n' ' ')\n")
    recording = record(Path("run.sh"), arguments=[], environ={"HOME": str(home)}, cwd=home)
    assert told(recording) == ["seen=run.sh"] or told(recording) == ["seen=run.sh "]


# ── pure: what a command is, and how two launches differ ─────────────────────────────────────────────────────────────

TORCH = "torchrun --nnodes 2 --nproc_per_node=8 --standalone"


@pytest.mark.parametrize(
    ("command", "runner", "target", "is_module"),
    [
        ("python3 -m verl.x a.b=1", "python3", "verl.x", True),
        ("python3 -u -X dev -m verl.x a.b=1", "python3 -u -X dev", "verl.x", True),
        ("/opt/bin/python3.11 -um verl.x a.b=1", "/opt/bin/python3.11", "verl.x", True),
        ("python x/y.py a.b=1", "python", "x/y.py", False),
        ("uv run --frozen --extra npu python -m verl.x a.b=1", "uv run --frozen --extra npu python", "verl.x", True),
        ("uv run train.py a.b=1", "uv run", "train.py", False),
        (f"{TORCH} -m verl.x a.b=1", TORCH, "verl.x", True),
        (f"{TORCH} --module --tee 3 verl.x a.b=1", f"{TORCH} --tee 3", "verl.x", True),
        (f"{TORCH} x.py a.b=1", TORCH, "x.py", False),
        (
            "python -m torch.distributed.run --nnodes=1 x.py a.b=1",
            "python -m torch.distributed.run --nnodes=1",
            "x.py",
            False,
        ),
        (
            "ray job submit --no-wait --address http://h --working-dir . -- python3 -m verl.x a.b=1",
            *("ray job submit --no-wait --address http://h --working-dir . -- python3", "verl.x", True),
        ),
        (
            "ray job submit -- env A=b.py python3 -m verl.x a.b=1",
            "ray job submit -- env A=b.py python3",
            "verl.x",
            True,
        ),
        ("nsys profile -o out.py.rep python3 -m verl.x a.b=1", "nsys profile -o out.py.rep python3", "verl.x", True),
        ("nohup env A=b torchrun x.py a.b=1", "nohup env A=b torchrun", "x.py", False),
    ],
)
def test_a_command_is_taken_apart(command: str, runner: str, target: str, is_module: bool) -> None:
    found = normalised(command.split())
    assert (" ".join(found.runner), found.target, found.is_module) == (runner, target, is_module)
    assert found.arguments == ("a.b=1",)


@pytest.mark.parametrize(
    "command", ["python3", "python3 -", "python3 -c x.py", "python3 -m", "ray start", "uv sync", "git x"]
)
def test_a_command_that_starts_nothing(command: str) -> None:
    assert normalised(command.split()).target is None
    assert normalised([]).target is None


def recording(*commands: str, handed: Mapping[str, str] | None = None) -> Recording:
    found = tuple(Recorded(tuple(command.split()), {}, "/") for command in commands)
    return Recording(found, 0, "exited", "", handed or {}, complete=True, left_out=0)


def test_launches_are_those_with_overrides() -> None:
    found = recording(
        "pip install x", "python3 prepare.py --x=1.5", "python3 -m a x.y=1", "torchrun b.py +c.d=2", "ray stop"
    )
    assert [one.argv[-1] for one in launches(found)] == ["x.y=1", "+c.d=2"]
    assert [one.argv[1] for one in launches(recording("ray stop", "python3 a.py --x", "python3 -c x"))] == ["a.py"]


def test_the_environment_of_a_submission_is_read_from_its_runtime_env() -> None:
    argv = ("ray", "job", "submit", '--runtime-env-json={"env_vars": {"A": "1", "B": 2}}', "--", "python3", "x.py")
    assert submitted(Recorded(argv, {}, "/")) == {"A": "1", "B": "2"}
    apart = (*argv[:3], "--runtime-env-json", '{"env_vars": {"A": "1"}}', *argv[4:])
    assert submitted(Recorded(apart, {}, "/")) == {"A": "1"}
    for broken in ("--runtime-env-json={", "--runtime-env-json=[]", "--runtime-env-json", "--x"):
        assert submitted(Recorded((*argv[:3], broken), {}, "/")) is None


def test_differences_are_told_item_by_item() -> None:
    found = compare(
        ["data.x=1", "a=b", "gone=1", "z=1"],
        ["data.x=2", "a=b", "z=1", "new=1"],
        {"A": "1", "B": "1", "SAME": "x"},
        {"A": "2", "C": "1", "SAME": "x"},
    )
    assert found == (
        Difference("data.x=1", "data.x=2", position=1),
        Difference("gone=1", None, position=3),
        Difference(None, "new=1", position=4),
        Difference("1", "2", name="A"),
        Difference("1", None, name="B"),
        Difference(None, "1", name="C"),
    )
    told = [
        text("importer.verify_argument", "en", **found[0].told().values),
        text(found[2].told().id, "zh", **found[2].told().values),
    ]
    assert told[0] == "argument 1: bash data.x=1, the import data.x=2"
    assert told[1] == "参数 4：导入为 new=1，bash 没有"


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_only_equal_arguments_have_no_difference(bash: list[str], imported: list[str]) -> None:
    found = compare(bash, imported, {}, {})
    assert (found == ()) == (bash == imported)
    assert all(one.bash is None or bash[(one.position or 0) - 1] == one.bash for one in found)


def test_many_arguments_are_compared_at_once() -> None:
    begin = time.monotonic()
    bash = [f"a{number % 7}={number}" for number in range(50_000)]
    assert len(compare(bash, [*bash[:-1], "x"], {}, {})) == 1
    assert time.monotonic() - begin < 2


def test_a_real_comparison(run: Run) -> None:
    found = run("export A=1 B=2\npython3 -m verl.trainer.main_ppo data.x=1 'data.y=a b' c.d=$PWD")
    (launch,) = launches(found)
    differences = compare(
        normalised(launch.argv).arguments, ["data.x=1", "data.y='a b'"], exported(found, launch), {"A": "1"}
    )
    assert [(one.position, one.name, one.bash) for one in differences] == [
        (2, None, "data.y=a b"),
        (3, None, f"c.d={launch.cwd}"),
        (None, "B", "2"),
    ]
