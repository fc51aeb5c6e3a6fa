"""What the supervisor costs, and how soon it follows an end."""

from __future__ import annotations

import dataclasses
import random
import statistics
import threading
import time
from pathlib import Path

import psutil
import pytest

from submitter.cluster.client import RayClient
from submitter.job.model import Recovery
from submitter.ledger import Ledger
from submitter.supervise.submit import submit
from tests.support.builders import job
from tests.support.fake_ray import FakeJob, FakeRay
from tests.support.processes import wait_for
from tests.support.supervisor import end_of, supervisor

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

RUNS = 100
MEASURED_S = 30.0
MOST_OF_A_CORE = 0.10
ATTEMPTS = 3
SOME = 6
MEDIAN_S = 2.0


def _submit(ray: FakeRay, ledger: Ledger, run: str) -> None:
    many = dataclasses.replace(job(), recovery=Recovery(max_attempts=2 * ATTEMPTS))
    submit(many, RayClient(ray.address), ledger, run=run, tell=lambda *_, **__: None, supervised=True)


def test_a_hundred_runs_cost_a_tenth_of_a_core(ray: FakeRay, book: Ledger, tmp_path: Path) -> None:
    """Each logs a step every few seconds, as busy runs do."""
    for number in range(RUNS):
        _submit(ray, book, f"run-{number}")
    over = threading.Event()
    writer = threading.Thread(target=_steps, args=(ray, over), daemon=True)
    writer.start()
    with supervisor(tmp_path / "home") as process:
        wait_for(lambda: _seen(book) == RUNS, bound_s=60, what="all runs are watched")
        measured = psutil.Process(process.pid)
        before, began = sum(measured.cpu_times()[:2]), time.monotonic()
        time.sleep(MEASURED_S)
        used = sum(measured.cpu_times()[:2]) - before
        share = used / (time.monotonic() - began)
        print(f"{RUNS} runs: {share:.1%} of a core, {measured.memory_info().rss >> 20} MiB")
    over.set()
    writer.join()
    assert share <= MOST_OF_A_CORE


def _seen(book: Ledger) -> int:
    return sum(attempt.seen_state == "RUNNING" for attempt in book.newest_attempts().values())


def _steps(ray: FakeRay, over: threading.Event) -> None:
    number = 0
    while not over.wait(5.0):
        number += 1
        for fake in list(ray.jobs.values()):
            fake.write(f"(TaskRunner pid=1) step:{number} - actor/loss:0.5 - timing_s/step:5.0\n".encode())


@pytest.mark.parametrize("lives_s", [3.0, 22.0], ids=["new", "quiet"])
def test_the_next_attempt_follows_an_end_within_two_seconds(
    ray: FakeRay, book: Ledger, tmp_path: Path, lives_s: float
) -> None:
    """From the driver's exit to the POST that the cluster has taken; each attempt makes a step, and has no backoff."""
    ended: dict[str, float] = {}
    posted: dict[str, float] = {}
    rng = random.Random(3)

    def on_start(fake: FakeJob) -> None:
        posted[fake.submission_id] = time.monotonic()
        number = int(fake.submission_id.rpartition("-a")[2])
        fake.write(f"step:{number} - x:1\n".encode())
        threading.Timer(lives_s + 2 * rng.random(), _end, (fake, ended, number)).start()

    ray.on_start = on_start
    names = [f"run-{number}" for number in range(SOME)]
    with supervisor(tmp_path / "home"):
        for name in names:
            _submit(ray, book, name)
        wait_for(lambda: not book.active_runs(), bound_s=ATTEMPTS * (lives_s + 10), what="the end of all")
    pairs = [(f"{name}-a{number}", f"{name}-a{number + 1}") for name in names for number in range(1, ATTEMPTS)]
    gaps = [posted[after] - ended[before] for before, after in pairs]
    print(f"driver's exit to the next POST: median {statistics.median(gaps):.2f} s, most {max(gaps):.2f} s")
    assert statistics.median(gaps) <= MEDIAN_S


def _end(fake: FakeJob, ended: dict[str, float], number: int) -> None:
    ended[fake.submission_id] = time.monotonic()
    end_of(fake, "hung" if number < ATTEMPTS else "succeeded")
