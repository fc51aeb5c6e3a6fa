"""What it costs to read a training and to show it to many."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
from websockets.sync.client import connect

from submitter.ledger import Ledger
from submitter.watch.web.guard import COOKIE
from submitter.watch.web.keys import Keys
from tests.support.fake_ray import FakeJob, FakeRay
from tests.support.processes import wait_for
from tests.support.runs import Told
from tests.support.supervisor import supervisor
from tests.support.trained import trained_run
from tests.support.web import TOKEN

pytestmark = [pytest.mark.proof, pytest.mark.timeout(180)]

STEPS, PAIRS, LOG_BYTES = 20_000, 95, 200_000_000
READ_S, READ_MIB = 4.0, 150.0
FOLLOWED, FOLLOW_S, FOLLOW_SHARE = 10, 15.0, 0.01
PAGES, RUNS, WATCH_S, PAGES_SHARE = 20, 50, 15.0, 0.25
STEP_EVERY_S = 5.0

READER = """
import json, sys, time
from pathlib import Path
from submitter.cluster.client import RayClient
from submitter.ledger import Ledger
from submitter.supervise.catch_up import read_steps

address, home = sys.argv[1:]
ledger, client = Ledger(Path(home)), RayClient(address)
(attempt,) = ledger.attempts("r")
info = client.job(attempt.submission_id)
began = time.monotonic()
count = read_steps(client.log_of(info, -1), ledger, attempt)
took = time.monotonic() - began
peak = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(json.dumps({"steps": count, "s": took, "cpu_s": time.process_time(), "mib": peak / 1024}))
"""

SERVER = """
import sys
from pathlib import Path
from submitter.ledger import Ledger
from tests.support.web import web

with web(Ledger(Path(sys.argv[1]))) as pages:
    print(pages.port, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


def step_line(step: int) -> bytes:
    pairs = " - ".join(f"some/metric_of_the_trainer_{at}:{step / (at + 1):.6f}" for at in range(PAIRS))
    return f"\x1b[36m(TaskRunner pid=30211, ip=10.0.0.2)\x1b[0m step:{step} - {pairs}\n".encode()


def write_log(job: FakeJob) -> None:
    other = b"(WorkerDict pid=77) INFO a line that tells of no step, as most lines of a training's log do not\n"
    fill = other * max(0, (LOG_BYTES // STEPS - len(step_line(STEPS))) // len(other) + 2)
    for begin in range(1, STEPS + 1, 500):
        job.write(b"".join(step_line(step) + fill for step in range(begin, begin + 500)))


def test_two_hundred_megabytes_of_log(ray: FakeRay, ledger: Ledger, tmp_path: Path) -> None:
    """From the cluster into the ledger, one row a step; at the cost that this process alone has."""
    Told(ledger, "r", address=ray.address).begin(1, 0)
    job = ray.add_job("r-a1")
    write_log(job)
    assert job.log.stat().st_size >= LOG_BYTES
    done = subprocess.run(
        [sys.executable, "-c", READER, ray.address, str(tmp_path / "home")], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    print(f"{job.log.stat().st_size >> 20} MiB, {found}")
    assert found["steps"] == STEPS == len(ledger.columns("r", ()).steps)
    assert found["cpu_s"] <= READ_S, "the share of a busy machine says nothing: CPU seconds"
    assert found["mib"] <= READ_MIB


def test_following_costs_a_hundredth_of_a_core(ray: FakeRay, ledger: Ledger, tmp_path: Path) -> None:
    """Each run logs 10 kB a second, a whole step among them every five."""
    for number in range(FOLLOWED):
        Told(ledger, f"r{number}", address=ray.address, began_ms=int(time.time() * 1000)).begin(1, 0)
        ray.add_job(f"r{number}-a1", metadata={"npurun_run": f"r{number}"})
    with _writing(lambda second: _log_more(ray, second), 1.0), supervisor(tmp_path / "home") as process:
        wait_for(
            lambda: len(ledger.newest_steps([f"r{n}" for n in range(FOLLOWED)])) == FOLLOWED, bound_s=60, what="steps"
        )
        share = _share_of_a_core(process.pid, FOLLOW_S)
    print(f"{FOLLOWED} runs: {share / FOLLOWED:.2%} of a core for each")
    assert share / FOLLOWED <= FOLLOW_SHARE


def _log_more(ray: FakeRay, second: int) -> None:
    noise = b"(WorkerDict pid=77) INFO a line that tells of no step, as most lines of a log do not\n" * 100
    for job in list(ray.jobs.values()):
        job.write(noise + (step_line(second // 5 + 1) if second % 5 == 0 else b""))


def test_twenty_pages_on_fifty_live_runs(ledger: Ledger, tmp_path: Path) -> None:
    """Half of them show the list, the others a run each; every run makes a step every five seconds."""
    now_ms = int(time.time() * 1000)
    for number in range(RUNS):
        trained_run(ledger, f"r{number}", steps=500, attempts=1, samples=3, now_ms=now_ms)
    with _server(tmp_path / "home") as (process, port), ExitStack() as pages:
        heard: list[str] = []
        for number in range(PAGES):
            pages.enter_context(_page(port, ["runs"] if number % 2 else ["run", f"r{number}"], heard))
        with _writing(lambda second: _steps(ledger, 501 + second), STEP_EVERY_S):
            wait_for(lambda: len(heard) > 2 * PAGES, bound_s=60, what="every page has heard of something")
            before = len(heard)
            share = _share_of_a_core(process.pid, WATCH_S)
        print(f"{PAGES} pages on {RUNS} runs: {share:.1%} of a core, {len(heard) - before} messages")
    assert share <= PAGES_SHARE
    assert len(heard) - before >= PAGES * WATCH_S / STEP_EVERY_S / 2, "they are told of the steps"


def _steps(ledger: Ledger, step: int) -> None:
    for number in range(RUNS):
        ledger.record_steps(f"r{number}", 1, [(step, int(time.time() * 1000), {"critic/rewards/mean": 0.5})])


def _share_of_a_core(pid: int, seconds: float) -> float:
    measured = psutil.Process(pid)
    before, began = sum(measured.cpu_times()[:2]), time.monotonic()
    time.sleep(seconds)
    return float(sum(measured.cpu_times()[:2]) - before) / (time.monotonic() - began)


@contextmanager
def _writing(write: object, every_s: float) -> Iterator[None]:
    """`write(n)` again and again, n from 0."""
    over = threading.Event()

    def run() -> None:
        number = 0
        while not over.wait(every_s):
            write(number)  # type: ignore[operator]
            number += 1

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _server(home: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    words = [sys.executable, "-c", SERVER, str(home)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def _page(port: int, key: list[object], heard: list[str]) -> Iterator[None]:
    origin = f"http://127.0.0.1:{port}"
    cookie = {"Cookie": f"{COOKIE}={Keys(TOKEN).new_session(time.time())}"}
    with connect(f"ws://127.0.0.1:{port}/live", origin=origin, additional_headers=cookie, proxy=None) as socket:  # type: ignore[arg-type]
        socket.send(json.dumps({"watch": key}))
        thread = threading.Thread(target=lambda: [heard.append(str(key)) for _ in socket], daemon=True)
        thread.start()
        yield
