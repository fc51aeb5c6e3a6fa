"""The log's lines arrive exactly once, however the stream is cut, and also where Ray's own stream fails."""

from __future__ import annotations

import codecs
import gc
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.cluster import logs
from submitter.cluster.client import RayClient
from submitter.cluster.errors import failure
from submitter.cluster.logs import Cursor, JobLog, as_ray_reads
from submitter.cluster.stream import LogStream
from tests.support.clock import HandClock, SkippingClock
from tests.support.fake_ray import FakeRay, drop, says

READS = 20_000
"""Far more than any script needs."""
LINES = [
    "plain",
    "",
    "中文日志 🚀",
    "\x1b[36m(TaskRunner pid=1)\x1b[0m step:1 - a:1",
    "10%|#\r20%|##\r100%|###",
    "dos\r",
    "x" * 60,
]


def _expected(data: bytes) -> list[str]:
    text = "".join(as_ray_reads(iter([data])))
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


@dataclass
class World:
    """A log file that grows while it is read, and a stream that is cut at the script's pleasure."""

    data: bytes
    script: list[int]
    """Taken in turn, again from the start: how far the file grows, how much is sent, when a connection ends."""
    visible: int = 0
    turn: int = 0
    told: list[str] = field(default_factory=list)
    clock: HandClock = field(default_factory=HandClock)

    def next(self, limit: int) -> int:
        value = self.script[self.turn % len(self.script)] % (limit + 1)
        self.turn += 1
        return value

    def grow(self) -> None:
        self.visible = min(len(self.data), self.visible + 1 + self.next(40))

    # What JobLog needs of a client.
    transport: Any = None
    timeout_s: float = 1.0

    def whole_log(self, _submission_id: str) -> Iterator[bytes]:
        self.grow()
        size = 1 + self.next(20)
        for start in range(0, self.visible, size):
            yield self.data[start : min(start + size, self.visible)]

    def log_tail(self, _submission_id: str, lines: int) -> str:
        seen = self.data[: self.visible].splitlines(keepends=True)
        return codecs.getincrementaldecoder("utf-8")("replace").decode(b"".join(seen[-lines:]))

    def tell(self, text_id: str, /, **_values: object) -> None:
        self.told.append(text_id)


class Stream:
    """As Ray's agent reads the file: strictly UTF-8, in text mode, the decoder flushed at the file's end."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")(), translate=True)
        self._read = 0
        self._unsent = ""
        self._left = 1 + world.next(120)

    def read(self, wait_s: float) -> str | None:
        world = self._world
        world.clock.sleep(wait_s)
        world.grow()
        try:
            self._unsent += self._decoder.decode(world.data[self._read : world.visible])
            self._unsent += self._decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return None
        self._read = world.visible
        size = 1 + world.next(30)
        sent, self._unsent = self._unsent[:size], self._unsent[size:]
        self._left -= len(sent)
        return sent if self._left > 0 else None

    def close(self) -> None:
        pass


def _read_through(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    clock = world.clock
    monkeypatch.setattr(logs, "LogStream", lambda *_args, **_kw: Stream(world))
    log = JobLog(world, "run-a1", tell=world.tell, clock=clock, sleep=clock.sleep)  # type: ignore[arg-type]
    lines: list[str] = []
    for _ in range(READS):
        lines += log.read(1.0)
        if world.visible == len(world.data):
            return lines + log.finish()
    raise AssertionError("the log is not read to its end")


GOOD = st.lists(st.sampled_from(LINES), max_size=12).map(lambda lines: "\n".join(lines).encode())
SCRIPT = st.lists(st.integers(0, 1000), min_size=1, max_size=30)


@given(data=GOOD, script=SCRIPT)
def test_any_cut_gives_the_files_lines(data: bytes, script: list[int]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        lines = _read_through(World(data, script), monkeypatch)
    if b"\r\n" in data:  # Ray makes two newlines of one that is cut in its middle: a line too many, never one too few
        assert [line for line in lines if line] == [line for line in _expected(data) if line]
    else:
        assert lines == _expected(data)


@given(before=GOOD, after=GOOD, bad=st.sampled_from([b"\xff", b"\xce\xd2", b"\xe4\xb8"]), script=SCRIPT)
def test_bytes_that_end_rays_stream_do_not_end_the_log(
    before: bytes, after: bytes, bad: bytes, script: list[int]
) -> None:
    data = before.replace(b"\r", b"") + bad + b"\n" + after.replace(b"\r", b"")
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert _read_through(World(data, script), monkeypatch) == _expected(data)


@given(pieces=st.lists(st.text(alphabet="ab\n", max_size=6), max_size=12), cut=st.integers(0, 40))
def test_a_replay_gives_only_what_is_new(pieces: list[str], cut: int) -> None:
    text = "".join(pieces)
    cursor = Cursor()
    got = cursor.new(text[:cut])
    cursor.restart()
    got += "".join(cursor.new(piece) for piece in pieces)
    assert got == text


@pytest.mark.parametrize("cut", [1, 7, 40, 41, 42, 100, 333, 1000])
def test_a_connection_that_drops_inside_a_frame(ray: FakeRay, cut: int) -> None:
    data = "\n".join(LINES * 5).replace("\r", "").encode()
    half = data.index(b"\n", len(data) // 2) + 1
    job = ray.add_job("run-a1", log=data[:half])
    ray.stream_cuts = [cut, cut * 2, cut * 3]
    clock = SkippingClock()
    log = JobLog(RayClient(ray.address), "run-a1", tell=_nothing, clock=clock, sleep=clock.sleep)
    lines: list[str] = []
    while len(lines) < data[:half].count(b"\n"):
        lines += log.read(0.05)
    job.write(data[half:])
    job.end("SUCCEEDED")
    lines += log.finish()
    assert lines == _expected(data)


def test_a_dashboard_that_is_away_for_minutes_is_waited_for_with_growing_pauses(ray: FakeRay) -> None:
    job = ray.add_job("run-a1", log=b"one\n")
    clock = SkippingClock()
    told: list[str] = []
    log = _telling(ray, told, clock, jitter=lambda: 1.0)
    assert log.read(5) == ["one"]
    ray.fail_next("GET", "/api/jobs/run-a1/logs/tail", *[drop] * 24)
    job.write(b"two\n")
    ray.jobs["run-a1"].status = "SUCCEEDED"
    while log._stream is not None:
        assert log.read(5) in ([], ["two"])
    while ray.streams < 2:
        log.read(1.0)
    assert told == ["cluster.log_away"]
    assert sum(clock.slept) > 100
    assert max(clock.slept) <= logs.RETRY_MAX_S
    assert log.finish() == []


def test_the_reading_is_bounded_while_nothing_comes(ray: FakeRay) -> None:
    ray.add_job("run-a1")
    log = JobLog(RayClient(ray.address), "run-a1", tell=_nothing)
    assert log.read(0.05) == []
    log.close()


def test_a_line_of_megabytes(ray: FakeRay) -> None:
    line = "y" * (6 << 20)
    ray.add_job("run-a1", "SUCCEEDED", log=line.encode() + b"\nend\n")
    log = JobLog(RayClient(ray.address), "run-a1", tell=_nothing)
    lines: list[str] = []
    while not lines or lines[-1] != "end":  # bounded by the test's timeout
        lines += log.read(1.0)
    log.close()
    assert lines == [line, "end"]


def test_a_byte_that_is_no_utf8_is_read_another_way_and_told(ray: FakeRay) -> None:
    job = ray.add_job("run-a1", log=b"before\nGBK: \xce\xd2\n")
    clock = SkippingClock()
    told: list[str] = []
    log = _telling(ray, told, clock)
    lines: list[str] = []
    while len(lines) < 2:
        lines += log.read(0.2)
    job.write(b"after\n")
    job.end("FAILED")
    assert lines + log.finish() == ["before", "GBK: ��", "after"]
    assert told == ["cluster.log_unstreamable"]


def test_a_proxy_that_knows_no_websockets(ray: FakeRay) -> None:
    ray.websockets = False
    job = ray.add_job("run-a1", log=b"one\ntwo")
    clock = SkippingClock()
    log = JobLog(RayClient(ray.address), "run-a1", tell=_nothing, clock=clock, sleep=clock.sleep)
    lines: list[str] = []
    while not lines:
        lines += log.read(0.2)
    assert lines == ["one"]
    job.end("SUCCEEDED")
    assert log.finish() == ["two"]


def test_a_stream_that_fell_silent_without_a_word_is_noticed(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(b"one\ntwo\n", [1000])
    opened: list[str] = []

    class Silent:
        def __init__(self, *_args: object, **_kw: object) -> None:
            opened.append("x")

        def read(self, wait_s: float) -> str | None:
            clock.sleep(wait_s)
            return "one\ntwo\n" if len(opened) == 2 else ""

        def close(self) -> None:
            pass

    clock = HandClock()
    world.visible = len(world.data)
    monkeypatch.setattr(logs, "LogStream", Silent)
    log = JobLog(world, "run-a1", tell=_nothing, clock=clock, sleep=clock.sleep)  # type: ignore[arg-type]
    lines: list[str] = []
    while not lines:
        lines += log.read(5.0)
    assert lines == ["one", "two"]
    assert logs.STALL_S <= clock.now < logs.STALL_S + 15
    before = clock.now
    while clock.now < before + 10 * logs.STALL_S:  # silent, and rightly so: nothing is reopened
        log.read(5.0)
    assert len(opened) == 2


def test_a_finish_without_cluster_is_bounded_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(World):
        def whole_log(self, _submission_id: str) -> Iterator[bytes]:
            raise failure("cluster.port_refused", "http://h:1")

    def refuse(*_args: object, **_kw: object) -> None:
        raise failure("cluster.port_refused", "http://h:1")

    world, clock = Gone(b"", [1]), HandClock()
    monkeypatch.setattr(logs, "LogStream", refuse)
    log = JobLog(world, "run-a1", tell=world.tell, clock=clock, sleep=clock.sleep)  # type: ignore[arg-type]
    assert log.finish() == []
    assert clock.now <= 2 * logs.DRAIN_S
    assert set(world.told) == {"cluster.log_away"}


def test_a_refused_token_does_not_become_another_way_of_reading(ray: FakeRay) -> None:
    ray.add_job("run-a1", log=b"one\n")
    ray.fail_next("GET", "/api/jobs/run-a1/logs/tail", *[says(403, "Forbidden")] * 6)
    clock = SkippingClock()
    told: list[str] = []
    log = _telling(ray, told, clock)
    lines: list[str] = []
    while not lines:
        lines += log.read(1.0)
    assert lines == ["one"]
    assert "cluster.log_unstreamable" not in told
    log.close()


def test_ctrl_c_while_it_connects_prints_nothing(ray: FakeRay, caplog: pytest.LogCaptureFixture) -> None:
    async def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    class Interrupted(LogStream):
        _connect = interrupted  # type: ignore[assignment]

    with pytest.raises(KeyboardInterrupt):
        Interrupted(RayClient(ray.address).transport, "a-a1", timeout_s=5)
    gc.collect()  # asyncio complains of a task's lost error when the task is collected
    assert not caplog.records


def _nothing(_text_id: str, /, **_values: object) -> None:
    pass


def _telling(ray: FakeRay, told: list[str], clock: SkippingClock, **settings: Any) -> JobLog:
    """A log on a clock of its own that notes the ids of what it tells."""
    return JobLog(
        RayClient(ray.address),
        "run-a1",
        tell=lambda text_id, **_: told.append(text_id),
        clock=clock,
        sleep=clock.sleep,
        **settings,
    )
