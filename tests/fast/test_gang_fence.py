"""What belongs to an earlier attempt, and how long the fence looks: on made-up hosts, nodes and clocks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang import fence as room
from submitter.gang import processes
from submitter.gang.ask import Bound, LostError
from submitter.gang.ended import Ended, Stop
from submitter.gang.fence import FENCE_S, Hosts, Remain, clear, earlier_actors, earlier_groups, split
from submitter.gang.placement import Need, NodeFacts, never_fitting
from submitter.gang.probes import devices
from submitter.gang.probes.measure import Facts, NotMeasuredError
from submitter.gang.probes.wish import Wish
from submitter.gang.remains import Remains
from tests.support.processes import wait_for

DATA = Path(__file__).parent.parent / "data/npu_smi"


@given(run=st.text(min_size=1), number=st.integers(1, 10**6))
def test_an_attempts_id_is_split_whatever_the_runs_name_holds(run: str, number: int) -> None:
    assert split(f"{run}-a{number}") == (run, number)


@pytest.mark.parametrize("text", ["", "run", "run-a", "run-a0", "run-a01", "run-ax", "-a1", "run-a1\n", "run-a1 "])
def test_what_is_no_attempts_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an attempt's id"):
        split(text)


HOSTILE = ["r.n", "a+b", "(x", "x|y", "run-a1", "a b", "q'\"", "$r", "new\nline", "\\d"]


@pytest.mark.parametrize("run", HOSTILE)
def test_groups_are_those_of_the_runs_own_earlier_attempts(run: str) -> None:
    mine = {"g1": f"npurun-{run}-a1-t1-n0", "g9": f"npurun-{run}-a9-t12-n3"}
    others = {
        "own": f"npurun-{run}-a10-t1-n0",
        "later": f"npurun-{run}-a11-t1-n0",
        "longer": f"npurun-{run}x-a1-t1-n0",
        "before": f"npurun-x{run}-a1-t1-n0",
        "nested": f"npurun-{run}-a1-a1-t1-n0",
        "as a pattern": "npurun-rxn-a1-t1-n0",
        "the trainer's": f"{run}-a1-t1-n0",
        "no node": f"npurun-{run}-a1-t1",
        "unnamed": "",
    }
    assert earlier_groups({**others, **mine}, run, 10) == mine


def test_two_groups_of_one_name_are_both_found() -> None:
    name = "npurun-r-a1-t1-n0"
    assert earlier_groups({"g1": name, "g2": name}, "r", 2) == {"g1": name, "g2": name}


def actor(environ: object, name: str = "") -> tuple[str, Any]:
    text = environ if isinstance(environ, str) else json.dumps({"env_vars": environ})
    return "RESTARTING", SimpleNamespace(serialized_runtime_env=text, name=name)


def test_actors_are_known_by_their_environment_never_by_name() -> None:
    mine = actor({"NPURUN_RUN": "r", "NPURUN_ATTEMPT": "r-a2"})
    others = [
        actor({"NPURUN_RUN": "r", "NPURUN_ATTEMPT": "r-a3"}),
        actor({"NPURUN_RUN": "r"}, name="r-a1"),
        actor({"NPURUN_RUN": "rr", "NPURUN_ATTEMPT": "rr-a1"}),
        actor({}, name="_ray_internal_job_actor_r-a1"),
        actor(""),
        actor("{}"),
        actor("not json"),
    ]
    assert earlier_actors([*others, mine], "r", 3) == [mine]


# One host, made up


def write(
    proc: Path,
    pid: int,
    environ: dict[str, str],
    *,
    state: str = "S",
    threads: int = 1,
    parent: int = 1,
    command: str = "",
) -> None:
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    (folder / "environ").write_bytes(b"".join(f"{name}={value}\0".encode() for name, value in environ.items()))
    (folder / "cmdline").write_bytes((command or f"python3 x{pid}").replace(" ", "\0").encode() + b"\0")
    fields = [state, str(parent), *["0"] * 15, str(threads), "0", str(pid * 10), "0"]
    (folder / "stat").write_text(f"{pid} (py) thon) {' '.join(fields)}\n")


def of(run: str, attempt: str) -> dict[str, str]:
    return {"PATH": "/bin", "NPURUN_RUN": run, "NPURUN_ATTEMPT": attempt}


@pytest.mark.parametrize("run", HOSTILE)
def test_processes_are_those_of_the_runs_own_earlier_attempts(tmp_path: Path, run: str) -> None:
    write(tmp_path, 10, of(run, f"{run}-a1"))
    write(tmp_path, 11, of(run, f"{run}-a2"), state="D")
    write(tmp_path, 12, of(run, f"{run}-a2"), state="Z", threads=2)
    others = [
        of(run, f"{run}-a3"),
        of(run, f"{run}-a30"),
        {"NPURUN_RUN": run},
        {"NPURUN_ATTEMPT": f"{run}-a1"},
        of(run + "x", f"{run}x-a1"),
        of(run, f"{run}x-a1"),
        of(f"{run}-a1", f"{run}-a1-a1"),
        of(run, f"{run}-a1-a1"),
        of(run, f"{run}-a"),
        of(run, f"{run}-a01"),
        {"OTHER": f"NPURUN_RUN={run}", "MORE": f"NPURUN_ATTEMPT={run}-a1"},
    ]
    for pid, environ in enumerate(others, 20):
        write(tmp_path, pid, environ)
    write(tmp_path, 50, of(run, f"{run}-a1"), state="Z")
    (tmp_path / "60").mkdir()  # it ended while we looked
    assert [process.pid for process in processes.of_earlier(run, 3, tmp_path)] == [10, 11, 12]


def test_what_the_worker_lives_by_is_never_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A raylet that a trainer of the first attempt started."""
    write(tmp_path, 5, of("r", "r-a1"))
    write(tmp_path, 6, of("r", "r-a1"), parent=5)
    write(tmp_path, 7, of("r", "r-a2"), parent=5)
    monkeypatch.setattr(os, "getpid", lambda: 7)
    assert [process.pid for process in processes.of_earlier("r", 2, tmp_path)] == [6]


RAYS = (
    "/opt/py/site-packages/ray/core/src/ray/raylet/raylet --raylet_socket_name=x",
    "/opt/py/site-packages/ray/core/src/ray/gcs/gcs_server --log_dir=x",
    "ray::DashboardAgent",
    "ray::RuntimeEnvAgent",
    "ray-dashboard-NodeHead-0 (python3)",
    "/opt/py/bin/python3 -u /opt/py/site-packages/ray/dashboard/dashboard.py --host=x",
    "/opt/py/bin/python3 -u /opt/py/site-packages/ray/dashboard/agent.py --node-ip-address=x",
    "/opt/py/bin/python3 -u /opt/py/site-packages/ray/_private/runtime_env/agent/main.py",
    "/opt/py/bin/python3 -u /opt/py/site-packages/ray/_private/log_monitor.py",
    "/opt/py/bin/python3 /usr/bin/ray start --head --block",
    "/usr/bin/ray start --address=x",
)


@pytest.mark.parametrize("command", RAYS)
def test_rays_own_processes_are_never_ended_nor_what_has_the_variables_from_them(tmp_path: Path, command: str) -> None:
    """A cluster that somebody started from within an attempt, with another's job on it."""
    write(tmp_path, 5, of("r", "r-a1"), command=command)
    write(tmp_path, 6, of("r", "r-a1"), parent=5, command="ray::SomebodysActor")
    write(tmp_path, 7, of("r", "r-a1"), parent=6)
    write(tmp_path, 8, of("r", "r-a2"), parent=5, command="ray::WorkerDict")  # by its own job's environment
    write(tmp_path, 9, of("r", "r-a2"), parent=8)
    write(tmp_path, 10, of("r", "r-a1"))
    assert [process.pid for process in processes.of_earlier("r", 3, tmp_path)] == [8, 9, 10]


def test_workers_of_a_cluster_that_was_started_elsewhere_are_ended(tmp_path: Path) -> None:
    write(tmp_path, 5, {"PATH": "/bin"}, command=RAYS[0])
    write(tmp_path, 6, of("r", "r-a1"), parent=5, command="ray::WorkerDict")
    assert [process.pid for process in processes.of_earlier("r", 2, tmp_path)] == [6]


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ray::WorkerDict.train",
        "python3 -m verl.trainer.main_ppo data=/x/ray/dashboard/a.parquet",
        "python3 raylet.py raylet",
        "python3 train.py ray start",
    ],
)
def test_programs_of_a_job_are_not_rays(command: str) -> None:
    assert not processes.is_rays(processes.Process(1, 0, "S", "1", command, ""))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_another_users_process_is_not_read() -> None:
    """As a user of no rights: what root runs is not found."""
    script = "import os; from submitter.gang import processes; os.setuid(65534)\n"
    script += "print([process.pid for process in processes.of_earlier('t-fence-user', 2)])"
    with subprocess.Popen(["sleep", "60"], env={**os.environ, **of("t-fence-user", "t-fence-user-a1")}) as child:
        try:
            assert [one.pid for one in processes.of_earlier("t-fence-user", 2)] == [child.pid]
            done = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
            )
            assert done.stdout.strip() == "[]", done.stderr
        finally:
            child.kill()


LEADER_GONE = """
import ctypes, platform, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print("up", flush=True)
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""


def test_a_process_whose_first_thread_alone_has_ended_is_still_there() -> None:
    """As a killed one looks whose other thread hangs in a driver."""
    with subprocess.Popen([sys.executable, "-c", LEADER_GONE], stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout and child.stdout.readline() == b"up\n"
            stat = Path(f"/proc/{child.pid}/stat")
            wait_for(lambda: stat.read_text().split()[2] == "Z", bound_s=10, what="the end of the first thread")
            process = processes.Process(child.pid, 0, "", processes.started(child.pid), "", "")
            assert processes.state_of(process) == "Z"
        finally:
            os.kill(child.pid, signal.SIGKILL)
    assert processes.state_of(process) is None


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    pids: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: pids.append(pid))
    return pids


def test_a_host_tells_what_it_ended_once_and_what_is_left_until_it_is_gone(tmp_path: Path, killed: list[int]) -> None:
    write(tmp_path, 10, of("r", "r-a1"))
    write(tmp_path, 11, of("r", "r-a1"))
    host = Remains(tmp_path)
    first = host.end("r", 2)
    assert first == {"ended": ["pid 10 (S) python3 x10", "pid 11 (S) python3 x11"], "left": first["ended"]}
    write(tmp_path, 10, {}, state="D")  # its memory has gone, its environment with it
    write(tmp_path, 11, {}, state="Z")
    assert host.end("r", 2) == {"ended": [], "left": ["pid 10 (D) python3 x10"]}
    assert killed == [10, 11]
    (tmp_path / "10/stat").write_text("10 (other) S " + "1 " * 30)  # the pid is another's by now
    assert host.end("r", 2) == {"ended": [], "left": []}


def leftover_facts() -> Facts:
    """12 processes of pids that this host does not have."""
    text = (DATA / "a3_leftover_processes.txt").read_text()
    return devices.npus(Wish(), run=lambda: text, proc=Path("/nonexistent"))


def namespace(proc: Path, name: str) -> None:
    (proc / "self/ns").mkdir(parents=True)
    (proc / "self/ns/pid").symlink_to(name)


def test_devices_are_watched_for_the_processes_that_were_ended(tmp_path: Path, killed: list[int]) -> None:
    namespace(tmp_path, devices.HOST_PIDS)
    pid = int(leftover_facts()["processes"][0]["pid"])
    host = Remains(tmp_path, leftover_facts)
    assert host.on_devices() == {
        "held": [],
        "draining": [],
        "why": None,
    }  # nothing was ended: others' processes are not waited for
    write(tmp_path, pid, of("r", "r-a1"))
    host.end("r", 2)
    write(tmp_path, pid, {}, state="Z")
    held = host.on_devices()["held"]
    assert held
    assert all(f"pid {pid} " in line and "holds NPU" in line for line in held)
    (tmp_path / str(pid) / "stat").write_text(f"{pid} (other) S " + "1 " * 30)
    assert host.on_devices() == {"held": [], "draining": [], "why": None}


DRAINING = "40960 MB of NPU 3.0 are in use, and no process holds them"


def draining_facts() -> Facts:
    chip = {"card": 3, "chip": 0, "name": "Ascend910", "health": "OK"}
    return {"devices": [{**chip, "hbm_used_mb": 40960}, {**chip, "chip": 1, "hbm_used_mb": 3000}], "processes": []}


@pytest.mark.parametrize("pids", [devices.HOST_PIDS, "pid:[4026532000]"])
def test_memory_without_a_process_is_told_where_something_was_ended(
    tmp_path: Path, killed: list[int], pids: str
) -> None:
    namespace(tmp_path, pids)
    host = Remains(tmp_path, draining_facts)
    assert host.on_devices()["draining"] == []
    write(tmp_path, 10, of("r", "r-a1"))
    host.end("r", 2)
    assert host.on_devices()["draining"] == [DRAINING]


def test_devices_that_cannot_be_told_say_why(tmp_path: Path, killed: list[int]) -> None:
    def absent() -> Facts:
        raise NotMeasuredError("no npu-smi")

    namespace(tmp_path, "pid:[4026532000]")
    write(tmp_path, 10, of("r", "r-a1"))
    for npus, why in ((absent, "no npu-smi"), (leftover_facts, "npu-smi shows the host's pids, and this container")):
        host = Remains(tmp_path, npus)
        host.end("r", 2)
        found = host.on_devices()
        assert (found["held"], str(found["why"]).startswith(why)) == ([], True)


# The cluster, made up


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


CLEAN: dict[str, list[str]] = {"ended": [], "left": []}


@dataclass
class FakeNodes:
    """Node workers that answer at once: `answers[index]` is asked for each call; None: silent."""

    answers: Sequence[Callable[[str], Any]]
    asked: list[tuple[int, str]] = field(default_factory=list)

    def ask(self, index: int, method: str, *_: Any) -> Any:
        self.asked.append((index, method))
        return (index, method, len(self.asked))

    def ready(self, references: Sequence[Any], timeout_s: float) -> Sequence[Any]:
        values = {reference: self.answers[reference[0]](reference[1]) for reference in references}
        self._values = values
        return [reference for reference, value in values.items() if value is not None]

    def value(self, reference: Any) -> Any:
        value = self._values[reference]
        if isinstance(value, LostError):
            raise value
        return value


def clean(method: str) -> Any:
    return CLEAN if method == "end_earlier" else {"held": [], "draining": [], "why": None}


def turns(*values: Any) -> Callable[[str], Any]:
    """One sweep after the other, the last for ever; the devices are free."""
    rest: Iterator[Any] = iter(values[:-1])
    return lambda method: (
        next(rest, values[-1]) if method == "end_earlier" else {"held": [], "draining": [], "why": None}
    )


QUICK = Bound(total_s=0.05, grace_s=0.01)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "ASK", QUICK)


def hosts(nodes: FakeNodes, spared: Sequence[str] = (), living: Sequence[str] | None = None) -> Hosts:
    ips = [f"n{index}" for index in range(len(nodes.answers))]
    return Hosts(ips, nodes, spared, Stop(), QUICK, lambda: ips if living is None else living)


def swept(on: Hosts, clock: Clock, spared: Sequence[str] = (), nodes: int = 9) -> None:
    clear([lambda: on.processes("r", 2), on.devices], spared, nodes, clock, clock.sleep)


def test_a_clean_cluster_is_looked_at_once() -> None:
    nodes = FakeNodes([clean] * 3)
    swept(hosts(nodes), clock := Clock())
    assert nodes.asked == [(index, "end_earlier") for index in range(3)]
    assert clock.now == 0


def test_after_something_was_ended_every_node_is_looked_at_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Ray may have restarted it on a node that was clean before."""
    found = {"ended": ["pid 7 (S) x\n"], "left": []}
    late = {"ended": ["pid 9 (S) restarted"], "left": ["pid 9 (S) restarted"]}
    nodes = FakeNodes([turns(CLEAN, late, CLEAN), turns(found, CLEAN), clean])
    swept(hosts(nodes), Clock())
    sweeps = [index for index, method in nodes.asked if method == "end_earlier"]
    assert sweeps == [0, 1, 2] * 3
    assert {index for index, method in nodes.asked if method != "end_earlier"} == {0, 1}
    lines = capsys.readouterr().out.splitlines()
    assert "[npurun] fence: ended on n1: pid 7 (S) x\\n" in lines
    assert "[npurun] fence: ended on n0: pid 9 (S) restarted" in lines
    assert lines[-1] == "[npurun] fence: nothing of an earlier attempt is left"


def test_a_process_that_stays_is_named_with_its_node_at_the_bound() -> None:
    line = "pid 7 (D) python3 train.py"
    nodes = FakeNodes([clean, turns({"ended": [line], "left": [line]}, {"ended": [], "left": [line]})])
    clock = Clock()
    with pytest.raises(Ended) as ended:
        swept(hosts(nodes), clock)
    assert FENCE_S < clock.now <= FENCE_S + 2 * room.LOOK_EVERY_S
    assert (ended.value.reason, ended.value.node) == ("fence_failed", "n1")
    assert ended.value.evidence == (f"n1: {line}",)
    assert ended.value.quarantine == ("n1",)


def test_device_memory_is_waited_for_and_named_at_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    held = {"held": ["pid 7 (python3) holds NPU 3, 30000 MB"], "draining": [], "why": None}
    first = turns({"ended": ["pid 7 (S) x"], "left": []}, CLEAN)
    nodes = FakeNodes([lambda method: first(method) if method == "end_earlier" else held])
    with pytest.raises(Ended) as ended:
        swept(hosts(nodes), Clock())
    assert ended.value.evidence == ("n0: pid 7 (python3) holds NPU 3, 30000 MB",)
    blind = {"held": [], "draining": [], "why": "no npu-smi"}
    first = turns({"ended": ["pid 7 (S) x"], "left": []}, CLEAN)
    nodes = FakeNodes([lambda method: first(method) if method == "end_earlier" else blind])
    swept(hosts(nodes), Clock())
    assert capsys.readouterr().out.count("fence: n0: devices not measured: no npu-smi") == 1


@pytest.mark.parametrize("why", [None, "npu-smi shows the host's pids"])
def test_draining_memory_is_waited_for_and_never_ends_the_attempt(
    why: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    def node(looks: int) -> Callable[[str], Any]:
        sweep = turns({"ended": ["pid 7 (S) x"], "left": []}, CLEAN)
        memory = iter([[DRAINING]] * looks)
        return lambda method: (
            sweep(method) if method == "end_earlier" else {"held": [], "draining": next(memory, []), "why": why}
        )

    swept(hosts(FakeNodes([node(looks=4)])), clock := Clock())
    assert clock.now == 4 * room.LOOK_EVERY_S
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "[npurun] fence: nothing of an earlier attempt is left"
    assert out.count("devices not measured") == (1 if why else 0)
    swept(hosts(FakeNodes([node(looks=10**6)])), clock := Clock())
    assert FENCE_S < clock.now <= FENCE_S + 2 * room.LOOK_EVERY_S
    assert capsys.readouterr().out.splitlines()[-1] == f"[npurun] warning: fence: on n0: {DRAINING}"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("why", [None, LostError("the worker\ndied")])
def test_a_silent_node_is_named(why: Any) -> None:
    nodes = FakeNodes([clean, lambda _: why, clean])
    with pytest.raises(Ended) as ended:
        swept(hosts(nodes), Clock())
    assert (ended.value.reason, ended.value.node) == ("fence_failed", "n1")
    assert ended.value.evidence == ("n1: does not answer" if why is None else "n1: the worker\\ndied",)


@pytest.mark.usefixtures("quick")
def test_a_silent_node_that_ray_calls_dead_by_then_holds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = FakeNodes([clean, lambda _: None, clean])
    swept(hosts(nodes, living=["n0", "n2"]), Clock())
    assert "[npurun] fence: n1 does not answer, and has died" in capsys.readouterr().out


@pytest.mark.usefixtures("quick")
def test_what_stays_on_a_node_that_is_left_out_anyway_is_told_and_does_not_hold_it_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    nodes = FakeNodes([clean, lambda _: None, turns({"ended": [], "left": ["pid 7 (D) x"]})])
    clock = Clock()
    swept(hosts(nodes, spared=["n1", "n2"]), clock, spared=["n1", "n2"])
    assert clock.now == 0
    out = capsys.readouterr().out
    assert "warning: fence: n1 does not answer, and is left out anyway" in out
    assert "warning: fence: on n2, which is left out: pid 7 (D) x" in out


def test_nodes_that_could_never_take_the_job() -> None:
    """Being in use or drained is not for ever; the dead are no matter."""
    need = Need(2, 16, 48, labels={"pool": "a3"}, quarantine=frozenset({"n5"}))
    fit = NodeFacts("id", "n0", labels={"pool": "a3"}, npus=16, cpus=64)
    others = {"n1": {"npus": 0}, "n2": {"labels": {}}, "n3": {"cpus": 4}, "n4": {"draining": True}, "n5": {}}
    more: list[NodeFacts] = [replace(fit, ip=ip, **change) for ip, change in others.items()]  # type: ignore[arg-type]
    assert never_fitting([fit, *more, replace(fit, ip="n6", npus=0, alive=False)], need) == {"n1", "n2", "n3", "n5"}


@pytest.mark.usefixtures("quick")
def test_a_silent_node_that_could_never_take_the_job_is_told_and_one_that_answers_is_still_cleared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A head without NPUs may hold the trainer's own driver."""
    left = turns({"ended": ["pid 7 (S) x"], "left": ["pid 7 (S) x"]}, CLEAN)
    nodes = FakeNodes([clean, lambda _: None, left])
    swept(hosts(nodes, spared=["n1", "n2"]), clock := Clock())
    assert clock.now == room.LOOK_EVERY_S
    assert "warning: fence: n1 does not answer, and is left out anyway" in capsys.readouterr().out


def test_when_every_node_still_holds_something_none_is_proposed() -> None:
    clock = Clock()
    with pytest.raises(Ended) as ended:
        clear([lambda: [Remain("n0", "x"), Remain("n1", "y")]], (), 2, clock, clock.sleep)
    assert ended.value.quarantine == ()


def test_a_group_that_stays_is_told_without_a_node() -> None:
    clock = Clock()
    with pytest.raises(Ended) as ended:
        clear([lambda: [Remain("", "placement group g")]], (), 2, clock, clock.sleep)
    assert (ended.value.node, ended.value.evidence) == (None, ("cluster: placement group g",))


def test_a_stop_ends_the_fence() -> None:
    stop = Stop()
    stop.requested = True
    on = Hosts(["n0"], FakeNodes([clean]), (), stop, QUICK, lambda: ["n0"])
    with pytest.raises(Ended, match="stopped"):
        on.processes("r", 2)


def test_the_first_attempt_has_nothing_to_fence() -> None:
    room.fence("run-a1", Stop(), Need(1, 16, 48))  # without a cluster
