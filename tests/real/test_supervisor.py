"""Real supervisor processes over a fake Ray: brought to their end, and killed at any moment."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import threading
from pathlib import Path

import pytest

from submitter.cluster.client import RayClient
from submitter.job.model import Recovery
from submitter.ledger import Ledger, Run
from submitter.supervise.submit import submit
from tests.support.builders import job
from tests.support.fake_ray import FakeJob, FakeRay, drop, takes_effect_then
from tests.support.processes import wait_for
from tests.support.supervisor import end_of, spawned, supervisor

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

BOUND_S = 30.0
LAST = 6
MOST_DEATHS = 60


def _submit(ray: FakeRay, ledger: Ledger) -> None:
    many = dataclasses.replace(job(), recovery=Recovery(max_attempts=20))
    submit(many, RayClient(ray.address), ledger, run="run", tell=lambda *_, **__: None, supervised=True)


def _over(ledger: Ledger) -> Run | None:
    found = ledger.run("run")
    return found if found is not None and found.state != "active" else None


def test_it_brings_a_run_to_its_end_and_leaves(ray: FakeRay, book: Ledger, home: Path, tmp_path: Path) -> None:
    ray.on_start = lambda fake: end_of(fake, "hung") if fake.submission_id == "run-a1" else end_of(fake, "succeeded")
    _submit(ray, book)
    with supervisor(home, until_idle=True, output=tmp_path / "out") as process:
        wait_for(lambda: _over(book), bound_s=BOUND_S, what="the run's end")
        assert process.wait(BOUND_S) == 0
    assert book.run("run").state == "succeeded"  # type: ignore[union-attr]
    assert [body["submission_id"] for body in ray.posts()] == ["run-a1", "run-a2"]
    assert book.holder() is None
    assert "run-a2 is submitted" in (tmp_path / "out").read_text()


def test_killed_at_any_moment_each_attempt_is_posted_once(ray: FakeRay, book: Ledger, home: Path) -> None:
    """Also while a POST is under way: its answers come late, or not at all."""
    rng = random.Random(7)

    def on_start(fake: FakeJob) -> None:
        number = int(fake.submission_id.rpartition("-a")[2])
        fake.write(f"step:{number} - x:1\n".encode())
        threading.Timer(rng.random(), end_of, (fake, "hung" if number < LAST else "succeeded")).start()

    ray.on_start = on_start
    ray.fail_next("POST", "/api/jobs/$", *[takes_effect_then(drop)] * 2)
    _submit(ray, book)
    deaths = 0
    while _over(book) is None:
        with spawned(home) as process:
            try:
                process.wait(0.4 + rng.random() * 1.2)
            except subprocess.TimeoutExpired:
                process.kill()
                deaths += 1
        assert deaths < MOST_DEATHS
    assert book.run("run").state == "succeeded"  # type: ignore[union-attr]
    assert sorted(ray.jobs) == [f"run-a{number}" for number in range(1, LAST + 1)]
    assert [attempt.attempt for attempt in book.attempts("run")] == list(range(1, LAST + 1))
    assert deaths >= 2
