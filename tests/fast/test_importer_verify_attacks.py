"""The sandbox of `npurun import --verify`, attacked by real scripts.

The attackers are bash and perl: Python is one of the recorded commands in there. What they find out they tell as
arguments of such a command.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import psutil
import pytest

from submitter.importer.verify import (
    sandbox,
)
from submitter.importer.verify.inside import kernel, seccomp
from tests.support.importer_verify import PERL, Box, facts, told
from tests.support.processes import carrying, wait_for, wait_gone

PLACES = ("/", "/etc", "/usr", "/usr/bin", "/var", "/var/lib", "/opt", "/sys", "/proc/sys/kernel", "/sys/fs/cgroup")
SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/1/oom_score_adj",
    "/proc/self/timerslack_ns",
)


def test_it_writes_nothing_outside(box: Box, tmp_path: Path) -> None:
    """What it tries would do no harm if it could."""
    for folder in (box.work, box.home):
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
    assert facts(box.run(script)) == {"made": "1", "kept": ""}
    assert sorted(tmp_path.rglob("*")) == before
    assert not any(Path(place, name).exists() for place in (*PLACES, "/tmp", "/var/tmp", "/dev/shm"))


def test_it_reads_no_secrets_of_homes_and_of_other_processes(box: Box) -> None:
    (box.home / ".ssh").mkdir()
    (box.home / ".ssh" / "id").write_text("secret")
    (box.home / "plain").write_text("secret")
    others = " ".join(f"{place}/*" for place in ("/root", "/home", "/run", "/dev/shm", "/var/tmp"))
    script = f"""shopt -s nullglob dotglob
    python3 home=$(cat ~/.ssh/id ~/plain) others="$(echo {others})"
    for f in environ mem maps fd/0 root/etc cwd/run.sh; do cat /proc/1/$f > /dev/null 2>&1 && python3 read=$f; done
    python3 outside=$(ls -d /proc/{os.getpid()} 2>/dev/null) processes=$(ls -d /proc/[0-9]* | wc -l)
    """
    found = facts(box.run(script))
    assert found.pop("processes") in {"3", "4", "5"}
    assert found == {"home": "", "others": "", "outside": ""}


@pytest.mark.skipif(os.getuid() != 0, reason="of root alone")
def test_root_is_nobody_outside(box: Box) -> None:
    found = facts(
        box.run('python3 id=$(id -u) shadow="$(cat /etc/shadow 2>/dev/null)" owner=$(stat -c %u /etc/passwd)')
    )
    assert found == {"id": "0", "shadow": "", "owner": "65534"}


@pytest.mark.parametrize("kind", ["user", "mnt", "pid", "net", "ipc", "uts"])
def test_each_namespace_is_a_new_one(box: Box, kind: str) -> None:
    found = facts(box.run(f"python3 inside=$(readlink /proc/self/ns/{kind})"))["inside"]
    assert found.startswith(f"{kind}:[") and found != str(Path(f"/proc/self/ns/{kind}").readlink())


def test_it_has_no_network(box: Box) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        script = (
            f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && python3 connected=1\npython3 devices=$(ls /sys/class/net | wc -l)"
        )
        assert "connected" not in facts(box.run(script))
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()


NUMBERS = {
    "x86_64": {"mount": 165, "ptrace": 101, "unshare": 272, "pivot_root": 155, "io_uring_setup": 425, "keyctl": 250},
    "aarch64": {"mount": 40, "ptrace": 117, "unshare": 97, "pivot_root": 41, "io_uring_setup": 425, "keyctl": 219},
}
CLONE = {"x86_64": "56", "aarch64": "220"}
CALLS = """use Socket;
my ($none, $tmp, $tmpfs, $zeros) = ("none", "/tmp", "tmpfs", "\\0" x 200);
my %given = (
  mount => [$none, $tmp, $tmpfs, 0, 0], ptrace => [16, 1, 0, 0], unshare => [0x10000000],
  pivot_root => [$tmp, $tmp], io_uring_setup => [8, $zeros], keyctl => [1, 0],
);
my %numbers = (NUMBERS);
sub fork_into_namespace {
  my $pid = syscall(CLONE, 0x10000000 | 17, 0, 0, 0, 0);
  exit 0 if $pid == 0;
  $! = 1 if $! == 28;  # ENOSPC: no more of them
  return $pid != -1;
}
sub told { system("python3", "$_[0]=" . ($_[1] ? "done" : $!{EPERM} ? "refused" : $!+0)); }
for my $name (keys %numbers) { told($name, syscall($numbers{$name}, @{$given{$name}}) != -1); }
for my $family (PF_INET, PF_INET6, PF_UNIX, 16) { told("socket$family", socket(my $s, $family, SOCK_STREAM, 0)); }
told("namespace", fork_into_namespace());
told("raw", socket(my $s, PF_INET, SOCK_RAW, 1));
"""


@PERL
def test_system_calls_that_could_lead_out_are_refused(box: Box) -> None:
    """Sockets of each kind too: those of the host in a folder would take connections although it is read-only."""
    numbers = ", ".join(f"{name} => {number}" for name, number in NUMBERS[os.uname().machine].items())
    (box.work / "calls.pl").write_text(CALLS.replace("NUMBERS", numbers).replace("CLONE", CLONE[os.uname().machine]))
    found = facts(box.run("perl calls.pl; python3 status=$?"))
    assert found.pop("status") == "0"
    assert set(found.values()) == {"refused"} and len(found) == 12, found


def answer(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the filter says to a system call: the few instructions of BPF that it is made of."""
    whole = struct.pack(
        "<iIQ6Q", number, arch or kernel.MACHINES[machine].audit_arch, 0, *arguments, *[0] * (6 - len(arguments))
    )
    at = value = 0
    instructions = seccomp.program(machine)
    while True:
        code, true, false, operand = instructions[at]
        at += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            value = struct.unpack_from("<I", whole, operand)[0]
        else:
            at += true if (value == operand if code == 0x15 else value >= operand) else false


ALLOWED, DENIED, PRETENDED = 0x7FFF0000, 0x00050001, 0x00050000
LIMITS = {"x86_64": (160, 302), "aarch64": (164, 261)}


@pytest.mark.parametrize("machine", NUMBERS)
def test_the_filter_of_each_machine(machine: str) -> None:
    assert {answer(machine, number) for number in NUMBERS[machine].values()} == {DENIED}
    assert {answer(machine, number) for number in (0, 1, 57, 59, 221)} == {ALLOWED}
    assert answer(machine, 0, arch=0x40000003) == DENIED
    assert answer(machine, 0x40000000 + 41) == DENIED
    setrlimit, prlimit64 = LIMITS[machine]
    assert answer(machine, setrlimit) == PRETENDED
    assert answer(machine, prlimit64, 0, 7, 0, 0x7FFF0000) == ALLOWED
    assert {answer(machine, prlimit64, 0, 7, limit) for limit in (1, 1 << 32)} == {PRETENDED}


def test_no_capability_is_left_and_none_comes_back(box: Box) -> None:
    script = """caps() { grep -h '^Cap' /proc/self/status | cut -f2 | sort -u; }
    python3 caps="$(caps)" privileges="$(grep -h NoNewPrivs /proc/self/status | cut -f2)"
    unshare -Ur true 2> /dev/null && python3 unshared=1
    """
    assert facts(box.run(script)) == {"caps": "0" * 16, "privileges": "1"}


def test_processes_outside_cannot_be_killed(box: Box) -> None:
    outside = subprocess.Popen(["sleep", "60"])
    try:
        script = f"kill -9 {outside.pid} {os.getpid()} && python3 killed=1\nkill -TERM 1; kill -9 1\npython3 x=1"
        assert told(box.run(script)) == ["x=1"]
        assert outside.poll() is None
    finally:
        outside.kill()
        outside.wait()


def test_its_own_group_is_not_that_of_the_one_who_asks(box: Box) -> None:
    recording = box.run("trap 'exit 5' TERM\npython3 before\nkill 0\nsleep 1\n")
    assert recording.exit_code == 5 and told(recording) == ["before"]


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
def test_without_an_end_it_is_ended_with_all_that_it_started(box: Box, name: str) -> None:
    before = mounts()
    begin = time.monotonic()
    recording = box.run(f"python3 before\n{ENDLESS[name]}", timeout_s=1)
    assert recording.ended == "timeout" or name == "recursion"
    assert told(recording)[0] == "before"
    assert time.monotonic() - begin < 6
    wait_gone(box.mark, bound_s=5)
    assert mounts() == before
    assert len(recording.stderr_tail) <= 4000


def test_a_fork_bomb_stays_within_its_bound(box: Box) -> None:
    most = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal most
        while not ended.wait(0.05):
            most = max(most, len(carrying(box.mark)))

    counting = threading.Thread(target=count)
    counting.start()
    try:
        box.run("mkfifo f\nfor i in $(seq 600); do bash -c 'read x < f' & done", timeout_s=2)
    finally:
        ended.set()
        counting.join()
    assert 100 < most <= 256 + 44  # what its user runs outside is allowed on top


def test_disk_and_memory_are_bounded(box: Box) -> None:
    script = """head -c 100M /dev/zero > big; python3 file=$(stat -c %s big)
    for i in $(seq 20); do head -c 50M /dev/zero > /tmp/$i || break; done 2> /dev/null
    python3 files=$(du -sm /tmp | cut -f1)
    """
    found = facts(box.run(script))
    assert int(found["file"]) <= 64_000_000
    assert int(found["files"]) <= 256


@PERL
def test_one_process_has_bounded_memory(box: Box) -> None:
    assert facts(box.run("perl -e '$x = \"a\" x 9e9' 2> /dev/null; python3 status=$?"))["status"] != "0"


@PERL
def test_all_together_have_bounded_memory(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_MEMORY_BYTES", 300_000_000)
    script = """python3 before
    for i in 1 2 3 4; do perl -e '$x = "a" x 1e8; <STDIN>' < <(read x < /dev/zero) & done; wait
    """
    begin = time.monotonic()
    found = box.run(script)
    assert (found.ended, found.exit_code, told(found)) == ("memory", None, ["before"])
    assert time.monotonic() - begin < 10


def test_forged_records_break_nothing(box: Box) -> None:
    script = """R=/.npurun/records
    python3 real=1
    mkfifo $R/fifo; ln -s /etc/passwd $R/link; mkdir $R/folder; head -c 300 /dev/urandom > $R/noise; : > $R/empty
    printf '/w\\0007\\000x\\000' > $R/short
    printf '%s\\n' fifo link folder noise empty short ../../etc/passwd /etc/passwd '' . gone >> $R/order
    printf '/w\\0001\\000x\\000forged=1\\000' > /tmp/whole
    truncate -s 60M $R/large
    printf '%s\\n' ../../tmp/whole large large large large >> $R/order
    python3 real=2
    """
    recording = box.run(script)
    assert not recording.complete
    assert told(recording) == ["real=1", "real=2"]


def test_records_that_are_taken_away_are_missed(box: Box) -> None:
    recording = box.run("python3 a=1\nrm -rf /.npurun/records/*\npython3 b=1")
    assert told(recording) == ["b=1"]
    filled = box.run(
        "head -c 63M /dev/zero > /.npurun/records/x; head -c 5M /dev/zero > /.npurun/records/y; python3 a=1"
    )
    assert not filled.complete


def test_the_commands_cannot_be_replaced(box: Box) -> None:
    script = """rm -rf /.npurun/bin
    echo 'exit 1' > /.npurun/bin/python3
    cp /bin/true /.npurun/bin/npurun-stub
    mv /.npurun /gone; mv /.npurun/records /gone; chmod 0 /.npurun /.npurun/bin
    python3 still=1
    """
    assert told(box.run(script)) == ["still=1"]


def test_when_the_one_who_asks_is_killed_nothing_stays(box: Box) -> None:
    endless = "while :; do :; done"
    (box.work / "run.sh").write_text(
        f"trap '' TERM HUP\nsetsid bash -c '{endless}' &\nbash -c '{endless}'\n{endless}\n"
    )
    process = box.asking()
    wait_for(lambda: len(carrying(box.mark)) >= 3, bound_s=20, what="the script's start")
    inside = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=20)
    _, alive = psutil.wait_procs(inside, timeout=5)
    assert len(inside) > 4 and alive == []
