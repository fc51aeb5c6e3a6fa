"""Unfit nodes, a frozen node worker, and what earlier attempts left, on a real local cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from submitter.gang.members import QUARANTINE_VARIABLE
from submitter.gang.probes.wish import Wish
from submitter.ledger import Ledger
from submitter.rehearsal.local_cluster import LocalCluster, LocalNode
from submitter.supervise.nodes import keep_proposals, left_out
from tests.support import jobs
from tests.support.jobs import looked_at
from tests.support.processes import carrying, command_line, wait_for

pytestmark = pytest.mark.real

MODEL = "/proc/self/cwd/model"
"""In the working_dir, of which each node unpacks a copy of its own: the one path that differs between nodes of one
machine."""
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")

PLACES_ACTORS = """
    import os, sys, time
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    attempt = os.environ.pop("NPURUN_ATTEMPT")  # the plugin does nothing by itself then: it would import verl
    from npurun_gang import adopt, verl_plugin

    ray.init(logging_level="warning", log_to_driver=False)
    held = adopt.holding(attempt)
    pin = lambda node: NodeAffinitySchedulingStrategy(node, soft=False)
    verl_plugin.keep_on_gang(ray, lambda: held, pin)

    @ray.remote(num_cpus=0)
    class Helper:
        def node(self):
            return ray.get_runtime_context().get_node_id()

    helpers = [Helper.options(scheduling_strategy="SPREAD").remote() for _ in range(6)]
    print("helpers on", *sorted(set(ray.get([helper.node.remote() for helper in helpers]))), flush=True)
    end = time.monotonic() + 60
    while time.monotonic() < end and not os.path.exists(sys.argv[1]):
        time.sleep(0.1)
"""


def write_model(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "qwen2"}')
    (folder / "tokenizer.json").write_text("{}")
    weights = {f"layer.{index}": shard for index, shard in enumerate(SHARDS)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    for shard in SHARDS:
        (folder / shard).write_bytes((2).to_bytes(8, "little") + b"{}")


def copies(node: LocalNode) -> list[Path]:
    """This node's own copies of the model's second shard."""
    words = Path(f"/proc/{node.raylet_pid}/cmdline").read_text().split("\0")
    session = next(word.partition("=")[2] for word in words if word.startswith("--session_dir="))
    return list(Path(session).glob(f"runtime_resources/working_dir_files/*/model/{SHARDS[1]}"))


def nodes_of_actors(submitted: jobs.Submitted, class_name: str) -> set[str]:
    rows = [row for row in jobs.state(submitted, "actors") if row["class_name"] == class_name]
    mine = [
        row for row in rows if f'"{submitted.attempt}"' in json.dumps(row["serialized_runtime_env"]).replace("\\", "")
    ]
    return {row["node_id"] for row in mine}


@pytest.mark.timeout(240)
def test_a_node_that_lacks_a_shard_is_left_out_and_kept_out_of_the_next_attempt(
    cluster5: LocalCluster, tmp_path: Path
) -> None:
    """The first look (the doctor's) makes every node unpack its copy; then one of them loses a file."""
    command = jobs.trainer(tmp_path / "wd", PLACES_ACTORS)
    write_model(tmp_path / "wd/model")
    odd = cluster5.nodes[1]
    plan = jobs.plan([*command, str(tmp_path / "go")], wish=Wish(model=MODEL))
    seconds = []
    for attempt in (1, 2):
        doctor = jobs.plan(["true"], wish=plan.wish, task="doctor")
        looked = jobs.submit(cluster5, doctor, working_dir=tmp_path / "wd", run="look", attempt=attempt).wait_end()
        assert looked.end is not None and looked.end["reason"] == "succeeded", looked
        assert not [line for line in looked.lines if "NR551" in line], looked
        seconds += looked_at(looked)
    (copy,) = copies(odd)
    copy.unlink()

    first = jobs.submit(cluster5, plan, working_dir=tmp_path / "wd", run="shard")
    helpers = first.wait_line("helpers on")
    assert odd.node_id not in helpers
    placed = nodes_of_actors(first, "Helper")
    assert placed == set(helpers.split()[2:])
    assert odd.node_id not in placed
    (tmp_path / "go").touch()
    result = first.wait_end()
    assert result.end is not None, str(result)
    others = [node.ip for node in cluster5.nodes if node is not odd]
    assert (result.end["reason"], result.end["nodes"]) == ("succeeded", others), str(result)
    assert [(one["node"], one["id"], one["value"]) for one in result.end["proposals"]] == [(odd.ip, "NR551", SHARDS[1])]
    assert result.end["quarantine"] == [odd.ip]
    seconds += looked_at(result)
    print(f"5 nodes cold {seconds[0]:.1f} s, warm {seconds[1]:.1f} s; 4 nodes {seconds[2]:.1f} s, {seconds[3]:.1f} s")
    jobs.wait_nothing_left(first)

    ended_ms = result.info.end_ms
    assert ended_ms is not None
    with closing(Ledger(tmp_path / "home")) as ledger:
        keep_proposals(ledger, cluster5.address, result.info, result.end, ended_ms)
        quarantine = left_out(ledger, cluster5.address, ended_ms + 1, lambda *_, **__: None)
    assert quarantine == (odd.ip,)
    env = {QUARANTINE_VARIABLE: ",".join(quarantine)}
    second = jobs.submit(cluster5, plan, working_dir=tmp_path / "wd", run="next", env=env)
    result = second.wait_end()
    assert result.end is not None and result.end["nodes"] == others, str(result)
    assert len(looked_at(result)) == 1  # nothing had to be reserved anew
    on_odd = [row["class_name"] for row in jobs.state(second, "actors") if row["node_id"] == odd.node_id]
    assert on_odd, "the earlier attempts' node workers are still listed"
    assert odd.node_id not in nodes_of_actors(second, "Helper") | nodes_of_actors(second, "NodeWorker")
    jobs.wait_nothing_left(second)


@pytest.mark.timeout(120)
def test_a_stop_while_nodes_are_looked_at_leaves_nothing(cluster5: LocalCluster, tmp_path: Path) -> None:
    """Neither the probes' own processes (a module of the user that takes long), nor their tokens in a shared folder."""
    slow, shared = tmp_path / "slow.py", tmp_path / "ckpt"
    slow.write_text("import time; time.sleep(50)")
    shared.mkdir()
    wish = Wish(modules=(str(slow),), write_dirs=(str(shared),), shared_dirs=(str(shared),))
    submitted = jobs.submit(cluster5, jobs.plan(["true"], wish=wish))
    wait_for(lambda: len(_importing(slow)) == 4, bound_s=60, what="the import on four nodes")
    assert list(shared.iterdir())
    submitted.stop()
    result = submitted.wait_end(bound_s=60)
    assert result.end is not None, str(result)
    assert (result.end["reason"], result.end["phase"]) == ("stopped", "fitness"), str(result)
    assert result.end["proposals"] == []
    jobs.wait_nothing_left(submitted)
    assert not list(shared.iterdir())
    assert not _importing(slow)


def _importing(module: Path) -> list[int]:
    found = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in found if command_line(pid).endswith(f" {module}")]


LEAVES = """
    import os, sys, time
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    pid_file, node = sys.argv[1:]
    if os.environ["NPURUN_ATTEMPT"].endswith("-a2"):
        left = open(pid_file).read().split()
        print("still there:", *[pid for pid in left if os.path.exists("/proc/" + pid)], flush=True)
        sys.exit(0)

    ray.init(logging_level="warning", log_to_driver=False)

    @ray.remote(num_cpus=0, max_retries=0)
    def leave():
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(300)
            os._exit(0)

    @ray.remote(num_cpus=0, max_restarts=1)
    class Stays:
        def pid(self):
            return os.getpid()

    there = NodeAffinitySchedulingStrategy(node, soft=False)
    named = Stays.options(name="stays", lifetime="detached", max_restarts=-1).remote()
    unnamed = Stays.options(lifetime="detached").remote()
    pids = ray.get([named.pid.remote(), unnamed.pid.remote()])
    ray.get(leave.options(scheduling_strategy=there).remote())
    with open(pid_file, "w") as file:
        print(*pids, file=file)
    print("step:1", flush=True)
    time.sleep(300)
"""


@pytest.fixture
def bystanders() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Processes that are none of the fence's business."""
    running: list[subprocess.Popen[bytes]] = []

    def start(**environ: str) -> subprocess.Popen[bytes]:
        running.append(subprocess.Popen(["sleep", "300"], env={**os.environ, **environ}))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.timeout(240)
def test_what_an_earlier_attempt_left_is_gone_before_the_next_one_trains(
    cluster5: LocalCluster, tmp_path: Path, bystanders: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """A daemon that has left its session and its parents, and detached actors that Ray restarts."""
    others = [
        bystanders(NPURUN_RUN="left"),
        bystanders(NPURUN_RUN="left-a1", NPURUN_ATTEMPT="left-a1-a1"),
        bystanders(NPURUN_RUN="left2", NPURUN_ATTEMPT="left2-a1"),
        bystanders(NPURUN_RUN="left", NPURUN_ATTEMPT="left-a3"),
    ]
    pid_file, node = tmp_path / "pids", cluster5.nodes[3]
    command = [*jobs.trainer(tmp_path / "wd", LEAVES), str(pid_file), node.node_id]
    first = jobs.submit(cluster5, jobs.plan(command), working_dir=tmp_path / "wd", run="left")
    first.wait_line("step:1")
    os.kill(first.driver_pid(), signal.SIGKILL)
    assert first.wait_end(bound_s=60).info.status == "FAILED"
    left = wait_for(lambda: _daemons(first), bound_s=30, what="the daemon alone, and the actors")
    pid_file.write_text(" ".join(map(str, left)))

    second = jobs.submit(cluster5, jobs.plan(command), working_dir=tmp_path / "wd", run="left", attempt=2)
    result = second.wait_end()
    assert result.end is not None and result.end["reason"] == "succeeded", str(result)
    assert "still there:" in result.lines, result
    assert any("fence: ended on " in line and "ray::leave" in line for line in result.lines), str(result)
    assert sum("fence: ending the actor Stays " in line for line in result.lines) == 2, str(result)
    assert [process.poll() for process in others] == [None] * len(others)
    jobs.wait_nothing_left(first)
    jobs.wait_nothing_left(second)
    assert not [row for row in jobs.state(second, "actors") if row["class_name"] == "Stays" and row["state"] != "DEAD"]


def _daemons(submitted: jobs.Submitted) -> list[int]:
    """The daemon and the two actors, once all else of the attempt has gone."""
    pids = carrying(f"NPURUN_ATTEMPT={submitted.attempt}")
    return pids if len(pids) == 3 else []


BEATS = """
    import os, sys, time
    for beat in range(int(sys.argv[2])):
        with open(sys.argv[1], "a") as file:
            print(os.environ["NPURUN_ATTEMPT"], time.time(), file=file)
        time.sleep(0.05)
"""


@pytest.mark.timeout(240)
def test_an_earlier_attempt_that_still_trains_is_ended_first(cluster5: LocalCluster, tmp_path: Path) -> None:
    beats = tmp_path / "beats"
    command = [*jobs.trainer(tmp_path / "wd", BEATS), str(beats)]
    endless = jobs.plan([*command, "100000"], nodes=2)
    first = jobs.submit(cluster5, endless, working_dir=tmp_path / "wd", run="twice")
    wait_for(beats.exists, bound_s=90, what="the first attempt's training")
    second = jobs.submit(
        cluster5, jobs.plan([*command, "20"], nodes=2), working_dir=tmp_path / "wd", run="twice", attempt=2
    )
    result = second.wait_end()
    assert result.end is not None and result.end["reason"] == "succeeded", str(result)
    assert first.wait_end(bound_s=30).info.status == "FAILED"
    times: dict[str, list[float]] = {}
    for line in beats.read_text().splitlines():
        attempt, seen = line.split()
        times.setdefault(attempt, []).append(float(seen))
    assert len(times["twice-a2"]) == 20
    assert max(times["twice-a1"]) < min(times["twice-a2"])
    for submitted in (first, second):
        jobs.wait_nothing_left(submitted)
