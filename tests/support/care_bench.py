"""A supervisor in this process, on a clock moved by hand, over clusters that are Python objects: all repeatable."""

from __future__ import annotations

import json
import queue
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runtime_env.ids import submission_id
from submitter.cluster.client import HeadNode, JobInfo
from submitter.cluster.errors import failure
from submitter.cluster.packages import Package
from submitter.gang.record import EXIT_OF_REASON, End, Resume, resume_line
from submitter.gang.telemetry.sample import TELEMETRY_FILE
from submitter.ledger import Ledger, Run, this_process
from submitter.recovery.policy import Policy
from submitter.render.request import ATTEMPT_KEY, JOB_KEY, RUN_KEY, SPEC_KEY, request_bytes
from submitter.supervise.aside import Aside
from submitter.supervise.lanes import Ask, answered
from submitter.supervise.notify import Message
from submitter.supervise.supervisor import Supervisor
from submitter.supervise.world import World
from submitter.texts import text
from tests.support.clock import HandClock

ADDRESS = "http://10.0.0.1:8265"
BEGAN_MS = 1_700_000_000_000
SPEC = "5" * 64
PACKAGE = Package("_ray_pkg_gang.zip", b"gang")
DURATION_S = 100.0
"""Of an attempt, unless the test says otherwise."""


@dataclass
class Job:
    """A submission on a cluster that is a Python object."""

    info: JobInfo
    body: dict[str, Any]
    log: bytes = b""
    telemetry: bytes = b""
    """The file beside the log; empty: there is none."""

    @property
    def live(self) -> bool:
        return not self.info.ended

    def write(self, *lines: str) -> None:
        self.log += "".join(f"{line}\n" for line in lines).encode()

    def run(self) -> None:
        self.info = replace(self.info, status="RUNNING", driver_node_id="head")

    def end(self, reason: str, *, code: int | None = 1, node: str | None = None) -> None:
        """As the driver ends: its record, then Ray's word."""
        record = End(self.info.submission_id, "training", reason, code=code, node=node, nodes=("10.0.0.2", "10.0.0.3"))
        self.write(record.line())
        self.die("SUCCEEDED" if reason == "succeeded" else "FAILED", code=EXIT_OF_REASON[reason])

    def die(self, status: str, *, code: int | None = None, error_type: str | None = None) -> None:
        if status == "FAILED":
            error_type = error_type or "JOB_ENTRYPOINT_COMMAND_ERROR"
        ended = replace(self.info, status=status, driver_exit_code=code, error_type=error_type)
        self.info = replace(ended, driver_node_id="head", end_ms=BEGAN_MS)


@dataclass
class FakeCluster:
    """What `RayClient` does, without a network. `posted` has every POST that took effect, whatever became of it."""

    clock: Callable[[], float]
    jobs: dict[str, Job] = field(default_factory=dict)
    packages: dict[str, bytes] = field(default_factory=dict)
    posted: list[str] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)
    away: Exception | None = None
    head_id: str = "head-1"
    start_as: str = "RUNNING"
    answers: dict[str, list[Exception]] = field(default_factory=dict)
    """By method: what the next calls meet instead of an answer; a POST has taken effect all the same."""
    starters: bool = True
    most_live: dict[str, int] = field(default_factory=dict)
    """Per run: the most attempts that were live at once."""
    on_post: Callable[[Job], None] = lambda job: None
    on_call: Callable[[str], object] = lambda method: None

    def restart(self) -> None:
        """The head comes back without memory."""
        self.jobs.clear()
        self.packages.clear()
        self.head_id = f"head-{int(self.head_id.rpartition('-')[2]) + 1}"

    def version(self) -> str:
        self._met("version")
        return "2.60.0"

    def head(self) -> HeadNode:
        self._met("head")
        return HeadNode(self.head_id, "10.0.0.1")

    def job(self, identity: str) -> JobInfo | None:
        self._met("job")
        return self.jobs[identity].info if identity in self.jobs else None

    def log_of(self, info: JobInfo, lines: int) -> Iterator[bytes]:
        self._met("log_of")
        log = self.jobs[info.submission_id].log
        return iter([log if lines < 0 else b"".join(log.splitlines(keepends=True)[-lines:])])

    def beside_log(self, info: JobInfo, filename: str, lines: int) -> Iterator[bytes]:
        self._met("beside_log")
        found = self.jobs[info.submission_id].telemetry
        if not found or filename != TELEMETRY_FILE.format(attempt=info.submission_id):
            raise failure("cluster.server_error", ADDRESS, status=500, code=500, cause="A file is not found")
        return iter([b"".join(found.splitlines(keepends=True)[-lines:])])

    def has_package(self, uri: str) -> bool:
        self._met("has_package")
        return uri.removeprefix("gcs://") in self.packages

    def put_package(self, package: Package) -> None:
        self._met("put_package")
        self.packages[package.name] = package.data

    def has_starter(self, identity: str) -> bool:
        self._met("has_starter")
        return self.starters

    def stop(self, identity: str) -> bool:
        self._met("stop")
        self.stops.append(identity)
        job = self.jobs[identity]
        if job.info.status == "RUNNING":
            job.die("STOPPED")
        return True

    def post_job(self, data: bytes) -> str:
        if self.away is not None:
            raise self.away
        body = json.loads(data)
        identity = str(body["submission_id"])
        if identity in self.jobs:
            raise failure("cluster.server_error", ADDRESS, in_doubt=True, status=500, code=500, cause="already exists")
        missing = [uri for uri in body["runtime_env"]["py_modules"] if uri.removeprefix("gcs://") not in self.packages]
        assert not missing, f"posted without its packages: {missing}"
        selector = body.get("entrypoint_label_selector")
        assert selector in (None, {"ray.io/node-id": self.head_id}), "posted to a head that is gone"
        self._start(identity, body)
        self._met("post_job")
        return identity

    def _start(self, identity: str, body: dict[str, Any]) -> None:
        info = JobInfo(identity, self.start_as, metadata=body["metadata"], start_ms=BEGAN_MS)
        job = self.jobs[identity] = Job(info, body)
        if self.start_as == "RUNNING":
            job.run()
        self.posted.append(identity)
        run = body["metadata"][RUN_KEY]
        live = [one for one in self.jobs.values() if one.live and one.body["metadata"][RUN_KEY] == run]
        self.most_live[run] = max(self.most_live.get(run, 0), len(live))
        self.on_post(job)

    def _met(self, method: str) -> None:
        self.on_call(method)
        if self.away is not None:
            raise self.away
        if self.answers.get(method):
            raise self.answers[method].pop(0)


def away() -> Exception:
    return failure("cluster.port_refused", ADDRESS)


def in_doubt() -> Exception:
    return failure("cluster.no_answer", ADDRESS, in_doubt=True, seconds="30")


class HandInbox:
    """Instead of waiting, the clock moves; `tick` is called first, and may let the world change."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        self._items: list[Any] = []
        self.tick: Callable[[float], None] = lambda seconds: None

    def put(self, item: Any) -> None:
        self._items.append(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if self._items:
            return self._items.pop(0)
        assert timeout is not None
        self.tick(timeout)
        self._clock.sleep(max(timeout, 0.001))
        raise queue.Empty


class InlineLanes:
    """Answers at once, in the loop's thread."""

    def __init__(self, inbox: HandInbox) -> None:
        self._inbox = inbox

    def put(self, ticket: object, question: Ask) -> None:
        self._inbox.put(answered(ticket, question.work))


class InlineAside(Aside):
    """At once, in the loop's thread."""

    def put(self, key: str, work: Callable[[], None]) -> bool:
        work()
        return True


class Told(list[tuple[str, dict[str, object]]]):
    """What was told; every text must have its values, in both languages."""

    def __call__(self, text_id: str, /, **values: object) -> None:
        for language in ("en", "zh"):
            assert "\n" not in text(text_id, language, **values)
        self.append((text_id, values))

    @property
    def ids(self) -> list[str]:
        return [text_id for text_id, _ in self]


class Bench:
    """One ledger, its supervisor, and a cluster."""

    def __init__(self, home: Path, *, ledger: Any = None, clock: HandClock | None = None, cluster: Any = None) -> None:
        self.clock = clock or HandClock()
        self.home = home
        self.ledger: Ledger = ledger or Ledger(home)
        self.cluster: FakeCluster = cluster or FakeCluster(self.clock)
        self.told = Told()
        self.messages: list[Message] = []
        self.inbox = HandInbox(self.clock)
        self.connect: Callable[[str], Any] = lambda _address: self.cluster
        self.start()

    def start(self, **settings: Any) -> None:
        """A supervisor that knows nothing but the ledger; the one before it has died without a word."""
        self.holder = this_process(self.now_ms())
        self.inbox = HandInbox(self.clock)
        found = self.ledger.holder()
        if found is not None:
            self.ledger.leave(found)
        assert self.ledger.take(self.holder, self.now_ms()) is None
        self.world = World(
            ledger=self.ledger,
            connect=self.connect,
            holder=self.holder,
            clock=self.clock,
            wall_ms=self.now_ms,
            sleep=self.clock.sleep,
            rng=random.Random(0),
            say=self.told,
            notify=self.messages.append,
            aside=InlineAside(),
        )
        self.supervisor = Supervisor(self.world, InlineLanes(self.inbox), self.inbox, **settings)

    def now_ms(self) -> int:
        return BEGAN_MS + round(self.clock.now * 1000)

    def submit(self, run: str = "run", *, posted: bool = True, policy: Policy | None = None, **changes: Any) -> Run:
        """As `npurun submit` does it, up to the POST or up to just before it."""
        body = body_of(run, head_id=self.cluster.head_id)
        self.ledger.keep_package(PACKAGE.name, PACKAGE.data)
        self.cluster.packages.setdefault(PACKAGE.name, PACKAGE.data)
        noted = self.ledger.record_intent(
            run=run,
            attempt=1,
            submission_id=body["submission_id"],
            address=changes.pop("address", ADDRESS),
            spec=SPEC,
            job="tiny",
            total_steps=changes.pop("total_steps", 10),
            body=request_bytes(body),
            now_ms=self.now_ms(),
            policy=(policy or Policy()).to_json(),
            supervised=True,
        )
        if posted:
            self.cluster.post_job(request_bytes(body))
            self.ledger.record_posted(body["submission_id"], self.now_ms())
        return noted

    def job(self, attempt: int = 1, run: str = "run") -> Job:
        return self.cluster.jobs[submission_id(run, attempt)]

    def run(self, run: str = "run") -> Run:
        found = self.ledger.run(run)
        assert found is not None
        return found

    def until(self, condition: Callable[[], object], *, within_s: float = 600.0) -> None:
        """Turns the loop until the condition holds; AssertionError when it does not within so many seconds."""
        end = self.clock.now + within_s
        while not condition():
            assert self.clock.now < end, f"not within {within_s:g} s; told: {self.told[-8:]}"
            self.supervisor.turn()

    def over(self, run: str = "run") -> bool:
        return self.run(run).state != "active"

    def reasons(self, run: str = "run") -> list[str | None]:
        return [attempt.reason for attempt in self.ledger.attempts(run)]


def without_syncs(ledger: Ledger) -> Ledger:
    """A process that dies is no power failure, and the disk is what takes the time."""
    ledger._database._sync = lambda durable: None  # type: ignore[method-assign]
    ledger._database.connection.execute("PRAGMA synchronous = OFF")
    return ledger


def body_of(run: str, attempt: int = 1, head_id: str = "head-1") -> dict[str, Any]:
    identity = submission_id(run, attempt)
    return {
        "entrypoint": "python3 -m npurun_gang",
        "submission_id": identity,
        "runtime_env": {
            "env_vars": {"NPURUN_ATTEMPT": identity, "NPURUN_RUN": run},
            "py_modules": [PACKAGE.uri],
        },
        "metadata": {RUN_KEY: run, ATTEMPT_KEY: str(attempt), JOB_KEY: "tiny", SPEC_KEY: SPEC},
        "entrypoint_label_selector": {"ray.io/node-id": head_id},
    }


def step_line(step: int) -> str:
    return f"\x1b[36m(TaskRunner pid=7)\x1b[0m step:{step} - actor/loss:np.float64(0.5) - timing_s/step:2.0"


def resumed_line(attempt: str, step: int) -> str:
    return resume_line(attempt, Resume(step, f"/ckpt/global_step_{step}", "newest"))
