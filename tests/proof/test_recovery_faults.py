"""What goes wrong in the middle of a run, and what becomes of it: the command, its supervisor, Ray, a light trainer."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from submitter.cluster.client import RayClient
from submitter.rehearsal.local_cluster import NodeSpec
from tests.support.checkpoints import cut
from tests.support.holding import HoldingProxy
from tests.support.processes import command_line, wait_for
from tests.support.renew import RenewableCluster
from tests.support.standin import Standin
from tests.support.supervisor import holder_pid

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

STEPS, SAVE_EVERY = 14, 5
LONG = ("STEPS=100000", "SAVE_FREQ=5", "STEP_S=0.2")
SHORT = (f"STEPS={STEPS}", f"SAVE_FREQ={SAVE_EVERY}", "STEP_S=0.2")
"""Three seconds of training."""
TAKE_OVER_MS = 60_000
TOLD_BOUND_S = 30.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RenewableCluster]:
    """Four nodes, of which a run takes two."""
    nodes = [NodeSpec(npus=1, cpus=8)] * 4
    with RenewableCluster.start(nodes, base_dir=tmp_path_factory.mktemp("four")) as started:
        assert isinstance(started, RenewableCluster)
        yield started


@pytest.fixture
def npurun(cluster: RenewableCluster, tmp_path: Path) -> Iterator[Standin]:
    made = Standin(cluster.address, tmp_path / "home", tmp_path / "folder")
    try:
        yield made
    finally:
        made.end()
    made.nothing_left()


def finished(npurun: Standin, run: str, reasons: list[str], resumed: list[int | None], steps: int = STEPS) -> None:
    """It has trained every step, each once as it counts, in the attempts that were to be expected and no others."""
    ended = npurun.wait_over(run)
    attempts = npurun.attempts(run)
    assert (ended.state, ended.reason) == ("succeeded", "succeeded"), npurun.story(run)
    assert [one.reason for one in attempts] == reasons, npurun.story(run)
    assert [one.resumed_from for one in attempts] == resumed, npurun.story(run)
    assert npurun.counted(run) == list(range(1, steps + 1)), npurun.story(run)
    assert_posted_once(npurun, run)


def stopped_for(npurun: Standin, run: str, reason: str) -> None:
    """After its one attempt, and nobody tried again."""
    ended = npurun.wait_over(run)
    assert (ended.state, ended.reason) == ("failed", reason), npurun.story(run)
    assert [one.reason for one in npurun.attempts(run)] == [reason], npurun.story(run)
    assert_posted_once(npurun, run)


def assert_posted_once(npurun: Standin, run: str) -> None:
    known = [job.submission_id for job in RayClient(npurun.address).jobs() if job.submission_id.startswith(f"{run}-a")]
    assert sorted(known) == sorted(one.submission_id for one in npurun.attempts(run))
    trained = [step for step in npurun.trained() if step[0].startswith(f"{run}-a")]
    assert len(set(trained)) == len(trained), trained
    numbers = [int(attempt.rpartition("-a")[2]) for attempt, _ in trained]
    assert numbers == sorted(numbers), trained  # never two attempts at once


def test_a_stopped_rank_then_a_killed_one_and_a_checkpoint_that_is_half_written(npurun: Standin) -> None:
    sets = (f"STEPS={STEPS}", f"SAVE_FREQ={SAVE_EVERY}", "STEP_S=0.4", "HANG_MIN=0.15")
    with npurun.running("submit", *npurun.arguments("hung", sets=sets)) as following:
        npurun.wait_step("hung-a1", SAVE_EVERY + 1)
        os.kill(npurun.ranks("hung-a1")[1], signal.SIGSTOP)
        npurun.wait_step("hung-a2", 2 * SAVE_EVERY + 1)
        cut(npurun.step_folder(2 * SAVE_EVERY) / "actor" / "optim_world_size_2_rank_1.pt")
        os.kill(npurun.ranks("hung-a2")[0], signal.SIGKILL)
        finished(npurun, "hung", ["hung", "actor_died", "succeeded"], [None, SAVE_EVERY, SAVE_EVERY])
        assert following.wait(TOLD_BOUND_S) == 0
    log = RayClient(npurun.address).log_tail("hung-a3", 1000)
    assert f"global_step_{2 * SAVE_EVERY}" in log and "unreadable" in log


def test_a_reward_function_that_raises_ends_the_run_and_is_not_tried_again(npurun: Standin) -> None:
    done = npurun.submit("raises", sets=SHORT, trainer=("+standin.raise_at=7",))
    assert done.code == 1, done.err
    stopped_for(npurun, "raises", "reward_error")
    (attempt,) = npurun.status("raises")["attempts"]
    assert any("cannot read the answer of step 7" in line["text"] for line in attempt["evidence"]), attempt
    assert attempt["decision"]["why"] == "after_change"


def test_a_bad_argument_ends_the_run_and_is_not_tried_again(npurun: Standin) -> None:
    """Of a job that names no stack: for others `submit` itself refuses it."""
    done = npurun.submit("bad", sets=SHORT, trainer=("trainer.total_trainin_steps=5",))
    assert done.code == 1, (done.out, done.err)
    stopped_for(npurun, "bad", "config_unknown_key")
    assert not npurun.trained()


def test_a_driver_that_is_killed_a_stop_while_it_waits_and_a_resume(npurun: Standin) -> None:
    assert npurun.submit("waits", "--detach", sets=(*SHORT, "AFTER_A_KILL=backoff")).code == 0
    npurun.wait_step("waits-a1", SAVE_EVERY + 1)
    os.kill(npurun.driver("waits-a1"), signal.SIGKILL)
    npurun.wait_ended("waits-a1")
    shown = npurun.status("waits")
    assert (shown["state"], shown["next"]["attempt"]) == ("waiting", 2), shown
    assert npurun("stop", "waits", bound_s=30).code == 0
    stopped = npurun.run("waits")
    assert stopped.state == "stopped" and len(npurun.attempts("waits")) == 1, npurun.story("waits")

    resumed = npurun("resume", "waits")
    assert resumed.code == 0, resumed.err
    finished(npurun, "waits", ["worker_killed", "succeeded"], [None, SAVE_EVERY])


def test_a_stop_saves_what_is_there_and_a_resume_goes_on_after_it(npurun: Standin) -> None:
    steps = 60  # far more than are trained until it has stopped
    sets = (f"STEPS={steps}", f"SAVE_FREQ={SAVE_EVERY}", "STEP_S=0.2")
    with npurun.running("submit", *npurun.arguments("stops", sets=sets)) as following:
        npurun.wait_step("stops-a1", SAVE_EVERY + 1)
        assert npurun("stop", "stops", bound_s=60).code == 0
        assert following.wait(TOLD_BOUND_S) == 6
    assert npurun.run("stops").state == "stopped"
    assert npurun("resume", "stops").code == 0
    newest = (npurun.last_step("stops-a1") or 0) // SAVE_EVERY * SAVE_EVERY
    resumed = npurun.attempts("stops")[1].resumed_from
    assert resumed in (newest, newest - SAVE_EVERY), npurun.story("stops")  # the newest may be half written
    finished(npurun, "stops", ["stopped", "succeeded"], [None, resumed], steps)


def test_a_submitter_killed_before_its_post_while_another_run_is_submitted_detached(npurun: Standin) -> None:
    """The supervisor that the second one starts takes the first one over; both train at the same time."""
    proxy = HoldingProxy(npurun.address)
    proxy.holding = True
    try:
        first = npurun.arguments("killed", "--address", proxy.address, sets=SHORT)
        with npurun.running("submit", *first) as submitting:
            assert proxy.held.wait(60)
            submitting.kill()
        proxy.holding = False
        (attempt,) = npurun.attempts("killed")
        assert attempt.posted_ms is None
        assert RayClient(npurun.address).job("killed-a1") is None
        with sqlite3.connect(npurun.book / "ledger.db") as database:  # a minute later
            database.execute("UPDATE attempts SET intended_ms = intended_ms - ?", (TAKE_OVER_MS,))
        database.close()
        detached = npurun.submit("second", "--detach", sets=SHORT)
        assert (detached.code, detached.out) == (0, "second\n"), detached.err
        finished(npurun, "killed", ["succeeded"], [None])
        finished(npurun, "second", ["succeeded"], [None])
        by_run = [name.rpartition("-a")[0] for name, _ in npurun.trained()]
        assert by_run != sorted(by_run) and by_run != sorted(by_run, reverse=True), "one after the other"
        supervisor = holder_pid(npurun.book)
        wait_for(lambda: holder_pid(npurun.book) is None, bound_s=TOLD_BOUND_S, what=f"{supervisor} leaves when idle")
    finally:
        proxy.close()


def test_ctrl_c_ends_only_the_following(npurun: Standin) -> None:
    with npurun.running("submit", *npurun.arguments("followed", sets=SHORT)) as following:
        npurun.wait_step("followed-a1", 2)
        following.send_signal(signal.SIGINT)
        assert following.wait(TOLD_BOUND_S) == 130
    supervisor = holder_pid(npurun.book)
    assert supervisor is not None and psutil.pid_exists(supervisor)
    finished(npurun, "followed", ["succeeded"], [None])


def test_a_stop_while_ray_has_not_begun_it(npurun: Standin, cluster: RenewableCluster) -> None:
    agents = [pid for pid in cluster.nodes[0].pids() if "runtime_env/agent/main.py" in command_line(pid)]
    agents = agents or [pid for pid in cluster.nodes[0].pids() if "RuntimeEnvAgent" in command_line(pid)]
    for pid in agents:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert npurun.submit("pending", "--detach", sets=SHORT).code == 0
        npurun.wait(
            "pending", "PENDING", lambda: npurun.attempts("pending")[0].seen_state == "PENDING", bound_s=TOLD_BOUND_S
        )
        with npurun.running("stop", "pending") as stopping:
            npurun.wait("pending", "the stop", lambda: "supervise.stopping" in npurun.told("pending"), TOLD_BOUND_S)
            for pid in agents:
                os.kill(pid, signal.SIGCONT)
            assert stopping.wait(60) == 0, npurun.story("pending")
    finally:
        for pid in agents:
            os.kill(pid, signal.SIGCONT)
    assert npurun.run("pending").state == "stopped"
    assert [one.reason for one in npurun.attempts("pending")] == ["stopped"], npurun.story("pending")
    assert not npurun.trained()


def test_ray_started_again_on_all_nodes_without_its_memory(npurun: Standin, cluster: RenewableCluster) -> None:
    with npurun.running("submit", *npurun.arguments("lost", sets=SHORT)) as following:
        npurun.wait_step("lost-a1", SAVE_EVERY + 1)
        with cluster.without_ray():
            npurun.wait("lost", "told of it", lambda: "supervise.away" in npurun.told("lost"), TOLD_BOUND_S)
        finished_on_new_head(npurun)
        assert following.wait(TOLD_BOUND_S) == 0


def finished_on_new_head(npurun: Standin) -> None:
    ended = npurun.wait_over("lost")
    assert ended.state == "succeeded", npurun.story("lost")
    assert [one.reason for one in npurun.attempts("lost")] == ["cluster_lost", "succeeded"], npurun.story("lost")
    assert npurun.counted("lost") == list(range(1, STEPS + 1)), npurun.story("lost")
    assert [job.submission_id for job in RayClient(npurun.address).jobs()] == ["lost-a2"]


def test_a_dashboard_killed_while_a_rank_dies_and_started_again(npurun: Standin, cluster: RenewableCluster) -> None:
    with npurun.running("submit", *npurun.arguments("away", sets=SHORT)) as following:
        npurun.wait_step("away-a1", SAVE_EVERY + 1)
        with cluster.without_dashboard():
            os.kill(npurun.ranks("away-a1")[0], signal.SIGKILL)
            npurun.wait("away", "told of it", lambda: "supervise.away" in npurun.told("away"), TOLD_BOUND_S)
        finished(npurun, "away", ["actor_died", "succeeded"], [None, SAVE_EVERY])
        assert following.wait(TOLD_BOUND_S) == 0
