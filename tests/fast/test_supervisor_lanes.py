"""Several clusters at once, by real HTTP: one that hangs delays no run of another; tokens, and packages sent again."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.client import RayClient
from submitter.ledger import Ledger, this_process
from submitter.supervise.lanes import Answer, Ask, Lanes
from submitter.supervise.serve import connection
from submitter.supervise.submit import submit
from submitter.supervise.supervisor import Supervisor
from submitter.supervise.world import World
from tests.support.builders import job
from tests.support.care_bench import Told
from tests.support.fake_ray import STARTER_PREFIX, FakeRay, drop, hang, head_row, says, takes_effect_then
from tests.support.processes import wait_for
from tests.support.supervisor import end_of

BOUND_S = 20.0


class Care:
    """A supervisor with its real threads, inside the test's process."""

    def __init__(self, ledger: Ledger, told: Told, supervisor: Supervisor) -> None:
        self.ledger = ledger
        self.told = told
        self.supervisor = supervisor

    def submit(self, ray: FakeRay, run: str, **client: Any) -> None:
        submit(job(), RayClient(ray.address, **client), self.ledger, run=run, tell=Told(), supervised=True)

    def state(self, run: str) -> str:
        found = self.ledger.run(run)
        assert found is not None
        return found.state

    def seen(self, run: str) -> bool:
        return self.ledger.attempts(run)[-1].seen_state == "RUNNING"


@contextmanager
def caring(home: Path, environ: dict[str, str], timeout_s: float = 10.0) -> Iterator[Care]:
    ledger, told = Ledger(home), Told()
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    holder = this_process(_now_ms())
    ledger.take(holder, _now_ms())
    connect = connection(environ)

    def connected(address: str) -> RayClient:
        client = connect(address)
        client.timeout_s = timeout_s
        return client

    world = World(
        ledger=ledger,
        connect=connected,
        holder=holder,
        clock=time.monotonic,
        wall_ms=_now_ms,
        sleep=time.sleep,
        rng=random.Random(1),
        say=told,
        notify=lambda message: None,
    )
    supervisor = Supervisor(world, Lanes(inbox), inbox)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        yield Care(ledger, told, supervisor)
    finally:
        inbox.put(None)
        thread.join(BOUND_S)
        ledger.close()


def _now_ms() -> int:
    return int(time.time() * 1000)


@pytest.fixture
def other() -> Iterator[FakeRay]:
    with FakeRay() as server:
        yield server


def test_a_dashboard_that_hangs_delays_no_other_clusters_runs(ray: FakeRay, other: FakeRay, tmp_path: Path) -> None:
    with caring(tmp_path / "home", {"HOME": str(tmp_path)}) as care:
        for number in range(6):
            care.submit(other, f"stuck-{number}")
        care.submit(ray, "run")
        wait_for(lambda: care.seen("run"), bound_s=BOUND_S, what="the run is seen")
        other.fail_next("GET", "/api/jobs/", *[hang] * 100)
        wait_for(lambda: len([1 for one in other.requests if one[0] == "GET"]) > 20, bound_s=BOUND_S, what="polls hang")
        ended = time.monotonic()
        end_of(ray.jobs["run-a1"], "succeeded")
        wait_for(lambda: care.state("run") == "succeeded", bound_s=5, what="the other cluster's run")
        assert time.monotonic() - ended < 3
        assert all(care.state(f"stuck-{number}") == "active" for number in range(6))


def test_a_token_that_only_the_submitter_had_is_told_and_taken_from_its_file_when_it_comes(tmp_path: Path) -> None:
    with FakeRay(token="secret-token") as ray:
        from submitter.cluster.auth import Token

        with caring(tmp_path / "home", {"HOME": str(tmp_path)}) as care:
            care.submit(ray, "run", token=Token("secret-token", "RAY_AUTH_TOKEN"))
            wait_for(lambda: "supervise.no_token" in care.told.ids, bound_s=BOUND_S, what="the missing token is told")
            assert care.state("run") == "active"
            assert "secret-token" not in str(care.told)


def test_a_token_file_is_read_anew_after_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from submitter.cluster.auth import Token
    from submitter.supervise import clusters

    monkeypatch.setattr(clusters, "REFUSED_RETRY_S", 0.3)
    (tmp_path / ".ray").mkdir()
    file = tmp_path / ".ray" / "auth_token"
    file.write_text("old")
    with FakeRay(token="new") as ray, caring(tmp_path / "home", {"HOME": str(tmp_path)}) as care:
        care.submit(ray, "run", token=Token("new", "RAY_AUTH_TOKEN"))
        wait_for(lambda: "supervise.wrong_token" in care.told.ids, bound_s=BOUND_S, what="the wrong token is told")
        file.write_text("new")
        wait_for(lambda: care.seen("run"), bound_s=BOUND_S, what="the run is seen")
        wait_for(lambda: "supervise.back" in care.told.ids, bound_s=BOUND_S, what="it is told")


def test_packages_that_the_cluster_lost_are_sent_again_and_the_driver_goes_to_the_new_head(
    ray: FakeRay, tmp_path: Path
) -> None:
    with caring(tmp_path / "home", {"HOME": str(tmp_path)}) as care:
        care.submit(ray, "run")
        wait_for(lambda: care.seen("run"), bound_s=BOUND_S, what="the run is seen")
        uploaded = dict(ray.packages)
        ray.packages.clear()
        ray.nodes = [head_row(state="DEAD"), head_row("b" * 56, "10.0.0.9", start_time_ms=9)]
        ray.fail_next("POST", "/api/jobs/$", takes_effect_then(drop))
        end_of(ray.jobs["run-a1"], "hung")
        wait_for(lambda: "run-a2" in ray.jobs, bound_s=BOUND_S, what="the second attempt")
        assert ray.packages == uploaded
        wait_for(lambda: care.ledger.attempts("run")[-1].posted_ms, bound_s=BOUND_S, what="its POST is confirmed")
        assert ray.posts()[-1]["entrypoint_label_selector"] == {"ray.io/node-id": "b" * 56}
        assert len(ray.jobs) == 2


def test_a_proxy_that_answers_nonsense_while_ray_restarts_ends_nothing(ray: FakeRay, tmp_path: Path) -> None:
    with caring(tmp_path / "home", {"HOME": str(tmp_path)}) as care:
        care.submit(ray, "run")
        wait_for(lambda: care.seen("run"), bound_s=BOUND_S, what="the run is seen")
        ray.fail_next("GET", "/api/jobs/run-a1", says(404, "no such route"), says(502, "bad gateway"))
        wait_for(lambda: "supervise.back" in care.told.ids, bound_s=BOUND_S, what="it answers again")
        assert care.state("run") == "active"


def test_ray_is_asked_by_name_for_what_starts_a_job(ray: FakeRay) -> None:
    client = RayClient(ray.address)
    ray.add_job("run-a1", "PENDING")
    assert client.has_starter("run-a1")
    ray.orphans.add("run-a1")
    assert not client.has_starter("run-a1")
    assert STARTER_PREFIX in ray.requests[-1][1]


def test_an_error_of_a_call_belongs_to_who_asked() -> None:
    inbox: queue.SimpleQueue[Answer[str]] = queue.SimpleQueue()
    lanes = Lanes(inbox)
    lanes.put("bad", Ask("there", lambda: 1 / 0))
    lanes.put("good", Ask("there", lambda: 7))
    answers = {answer.ticket: answer for answer in (inbox.get(timeout=5), inbox.get(timeout=5))}
    assert isinstance(answers["bad"].error, ZeroDivisionError)
    assert answers["good"].value == 7
