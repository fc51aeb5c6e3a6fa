"""What is pushed to pages: only to those with a session, only what has changed, and never more than they take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from submitter.ledger import Ledger
from submitter.watch.live import LiveRuns
from submitter.watch.web.guard import COOKIE
from submitter.watch.web.hub import WAITING_MOST, WATCHED_MOST, Hub
from submitter.watch.web.subjects import Message, Subject, subject_of
from tests.support.fake_ray import FakeRay
from tests.support.runs import Told
from tests.support.trained import NOW_MS, trained_run
from tests.support.web import Web, web

WAIT_S = 20.0


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


@pytest.fixture
def pages(ledger: Ledger) -> Iterator[Web]:
    trained_run(ledger, "r", steps=30, attempts=1, nodes=2)
    with web(ledger, wall_ms=lambda: NOW_MS) as found:
        yield found


@contextmanager
def page(pages: Web, *, session: str | None = None, origin: str | None = None) -> Iterator[ClientConnection]:
    cookie = {"Cookie": f"{COOKIE}={pages.session() if session is None else session}"}
    with connect(
        f"ws://127.0.0.1:{pages.port}/live",
        origin=origin or pages.origin,
        additional_headers=cookie,
        proxy=None,  # type: ignore[arg-type]
    ) as socket:
        yield socket


def asked(socket: ClientConnection, *key: object) -> None:
    socket.send(json.dumps({"watch": key}))


def told(socket: ClientConnection, kind: str) -> Any:
    """The next message of that kind."""
    while True:
        message = json.loads(socket.recv(WAIT_S))
        if message["kind"] == kind:
            return message


@pytest.mark.parametrize(
    ("session", "origin"), [("", None), ("1.2.3", None), (None, "http://evil.example"), (None, "null")]
)
def test_others_are_not_let_in(pages: Web, session: str | None, origin: str | None) -> None:
    with pytest.raises(InvalidStatus), page(pages, session=session, origin=origin):
        pass


def test_a_run_is_pushed_when_it_changes(pages: Web, ledger: Ledger) -> None:
    with page(pages) as socket:
        asked(socket, "run", "r")
        assert told(socket, "run")["view"]["step"] == 30
        ledger.record_steps("r", 1, [(31, NOW_MS, {"critic/rewards/mean": 0.5})])
        view = told(socket, "run")["view"]
        assert (view["step"], view["reward"], view["curves"]) == (31, 0.5, {})


def test_of_all_runs_only_the_changed_ones(pages: Web, ledger: Ledger) -> None:
    trained_run(ledger, "other", steps=20, attempts=1)
    with page(pages) as socket:
        asked(socket, "runs")
        rows = told(socket, "runs")["rows"]
        assert {row["run"] for row in rows} == {"r", "other"}
        ledger.record_steps("other", 1, [(21, NOW_MS, {"critic/rewards/mean": 0.5})])
        (changed,) = told(socket, "runs")["rows"]
        assert (changed["run"], changed["step"]) == ("other", 21)


def test_who_comes_later_gets_all_at_once(pages: Web) -> None:
    with page(pages) as first, page(pages) as second:
        for socket in (first, second):
            asked(socket, "runs")
            assert [row["run"] for row in told(socket, "runs")["rows"]] == ["r"]


def test_who_logs_out_is_told_nothing_more(pages: Web, ledger: Ledger) -> None:
    session = pages.session()
    with page(pages, session=session) as socket:
        asked(socket, "run", "r")
        assert told(socket, "run")["view"]["step"] == 30
        assert pages.post("/logout", {}, session=session).status == 303
        ledger.record_steps("r", 1, [(31, NOW_MS, {"critic/rewards/mean": 0.5})])
        with pytest.raises(ConnectionClosed):
            told(socket, "run")
    assert pages.ask("/api/runs", headers={"Cookie": f"{COOKIE}={session}"}).status == 401
    assert pages.known("/api/runs").status == 200, "others are still logged in"


def test_a_log_goes_on(ray: FakeRay, ledger: Ledger) -> None:
    Told(ledger, "l", address=ray.address).begin(1, 0)
    job = ray.add_job("l-a1", log=b"first\n")
    with web(ledger) as pages, page(pages) as socket:
        asked(socket, "log", "l", 1)
        assert told(socket, "log")["lines"] == ["first"]
        job.write(b"<b>second</b>\n")
        assert told(socket, "log")["lines"] == ["<b>second</b>"]


@pytest.mark.parametrize(
    "text", ["", "[", '{"watch": "runs"}', '{"watch": ["nothing"]}', '{"watch": [{}]}', "[" * 1500]
)
def test_what_is_not_understood_is_no_harm(pages: Web, text: str) -> None:
    with page(pages) as socket:
        socket.send(text)
        socket.send(json.dumps({"watch": ["run", "nobody"]}))
        asked(socket, "cluster")
        assert told(socket, "cluster")["clusters"][0]["runs"] == ["r"]


def test_a_message_that_is_too_long_or_binary_ends_the_connection(pages: Web) -> None:
    for data in ("x" * 20_000, b"\xff\x00"):
        with page(pages) as socket:
            socket.send(data)
            with pytest.raises(ConnectionClosed):
                told(socket, "run")


def test_a_page_watches_a_bounded_number_of_things(ledger: Ledger, pages: Web) -> None:
    runs = LiveRuns(ledger)
    for key in (["runs"], ["run", "r"], ["log", "r", 1], ["cluster"]):
        assert subject_of(key, _site(ledger), runs, "en") is not None
    for key in ([], ["run"], ["run", 7], ["run", "x" * 500], ["log", "r", "1"], ["log", "r", 1, 2]):
        assert subject_of(key, _site(ledger), runs, "en") is None


def _site(ledger: Ledger) -> Any:
    return type("Site", (), {"ledger": ledger})()


class Socket:
    """A page that takes nothing: what is sent waits for ever."""

    def __init__(self, asked: list[str]) -> None:
        self.asked = asked
        self.closed: list[int] = []
        self.taken = asyncio.Event()

    async def accept(self) -> None: ...

    async def receive_text(self) -> str:
        if self.asked:
            return self.asked.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send_text(self, text: str) -> None:
        await self.taken.wait()

    async def close(self, code: int) -> None:
        self.closed.append(code)


async def _dropped(reads: list[int]) -> Socket:
    def read() -> Message:
        reads.append(1)
        return {"kind": "x"}

    def made(key: list[object], language: str) -> Subject:
        return Subject(0.0, read, read)

    hub, socket = Hub(made), Socket([json.dumps({"watch": [str(number)]}) for number in range(2 * WATCHED_MOST)])
    serving = asyncio.create_task(hub.serve(socket, "en", lambda: True))  # type: ignore[arg-type]
    await _until(lambda: any(one.lost.is_set() for one in hub._clients))
    assert len(hub._watched) == WATCHED_MOST
    socket.taken.set()
    await _until(lambda: bool(socket.closed))
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert not hub._watched and not hub._clients
    return socket


async def _until(holds: Callable[[], bool]) -> None:
    async def look() -> None:
        while not holds():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(look(), WAIT_S)


def test_a_page_that_does_not_keep_up_is_dropped_and_nothing_is_left() -> None:
    reads: list[int] = []
    socket = asyncio.run(_dropped(reads))
    assert socket.closed == [1008] and len(reads) >= WAITING_MOST
