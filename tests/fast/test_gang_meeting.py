"""Nodes that knock at each other, on real sockets of this machine, and tokens in real folders."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from submitter.gang import meeting
from submitter.gang.meeting import TOKEN_PREFIX, TOKEN_STALE_S, Meeting, existing
from tests.support.processes import wait_for

HERE = "127.0.0.1"
TIME_WAIT = "06"


@pytest.fixture
def opened() -> Iterator[list[Meeting]]:
    """Every meeting that a test adds is closed."""
    meetings: list[Meeting] = []
    yield meetings
    for one in meetings:
        one.close()


def test_everybody_reaches_everybody(opened: list[Meeting]) -> None:
    opened += [Meeting("run-a1", f"127.0.0.{number}", ()) for number in (1, 2, 3)]
    peers = {f"127.0.0.{number}": [one.port] for number, one in enumerate(opened, 1)}
    for one in opened:
        met = one.meet(peers)
        assert set(met["reach"]) == set(peers)
        assert all(0 <= answer["rtt_ms"] < 3000 for answer in met["reach"].values())
        assert (met["tokens"], met["names"]) == ({}, {})
        assert all(address.startswith("127.") for address in met["from"])


def test_who_does_not_listen_is_named(opened: list[Meeting]) -> None:
    opened.append(Meeting("run-a1", HERE, ()))
    with socket.create_server((HERE, 0)) as server:
        free = server.getsockname()[1]
    met = opened[0].meet({HERE: [opened[0].port], "127.0.0.2": [free]})
    assert met["reach"]["127.0.0.2"] == {"why": "Connection refused"}
    assert "rtt_ms" in met["reach"][HERE]


def test_a_refusal_on_the_jobs_own_ports_is_well(opened: list[Meeting]) -> None:
    opened.append(Meeting("run-a1", HERE, ()))
    with socket.create_server((HERE, 0)) as server:
        free = server.getsockname()[1]
    answer = opened[0].meet({HERE: [opened[0].port, free]})["reach"][HERE]
    assert set(answer) == {"rtt_ms"}


def test_a_port_that_swallows_is_named(opened: list[Meeting], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "CONNECT_S", 0.3)
    opened.append(Meeting("run-a1", HERE, ()))
    with socket.create_server((HERE, 0), backlog=0) as full:
        port = full.getsockname()[1]
        held = [_half_open(port) for _ in range(4)]  # the queue is full: the kernel drops what comes next
        answer = opened[0].meet({HERE: [opened[0].port, port]})["reach"][HERE]
        for one in held:
            one.close()
    assert answer["port"] == port and answer["why"] == "timed out"


def _half_open(port: int) -> socket.socket:
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex((HERE, port))
    return one


def test_two_hundred_peers_knock_at_once(opened: list[Meeting]) -> None:
    opened.append(Meeting("run-a1", HERE, ()))
    port = opened[0].port
    gate = threading.Barrier(200)

    def knock(_: int) -> str:
        gate.wait(30)
        return meeting._knock(HERE, port)

    with ThreadPoolExecutor(200) as pool:
        assert list(pool.map(knock, range(200))) == [HERE] * 200


def test_two_hundred_peers_that_swallow_cost_no_more_than_one(
    opened: list[Meeting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meeting, "_knock", lambda ip, port: _late())
    opened.append(Meeting("run-a1", HERE, ()))
    began = time.monotonic()
    met = opened[0].meet({f"10.9.0.{number}": [1] for number in range(200)})
    assert time.monotonic() - began < 10 * SWALLOWS_S
    assert {answer["why"] for answer in met["reach"].values()} == {"timed out"}


SWALLOWS_S = 0.5


def _late() -> str:
    threading.Event().wait(SWALLOWS_S)
    raise TimeoutError("timed out")


def test_nobody_listens_after_the_end() -> None:
    one = Meeting("run-a1", HERE, ())
    one.close()
    threads = [thread for thread in threading.enumerate() if thread.name == "meeting"]
    wait_for(lambda: not any(thread.is_alive() for thread in threads), bound_s=5, what="the accepting thread ends")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HERE, one.port), timeout=3)
    one.close()  # twice does no harm


def test_no_port_is_kept_by_a_knock(opened: list[Meeting]) -> None:
    """One in TIME_WAIT could not be bound by a trainer for a minute; the kernel may have chosen one of HCCL's."""
    opened.append(Meeting("run-a1", HERE, ()))
    mark = f":{opened[0].port:04X} "
    for _ in range(20):
        meeting._knock(HERE, opened[0].port)
    lines = [line for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()]
    assert [line for line in lines if mark in line and line.split()[3] == TIME_WAIT] == []
    assert any(mark in line for line in lines)  # the listening one


# Tokens


def test_one_folder_and_folders_of_their_own(opened: list[Meeting], tmp_path: Path) -> None:
    shared, own = tmp_path / "shared", [tmp_path / "a", tmp_path / "b"]
    for folder in (shared, *own):
        folder.mkdir()
    # As two hosts would see them: the same name, another folder.
    first = Meeting("run-a1", "10.0.0.1", (str(shared), str(own[0])))
    second = Meeting("run-a1", "10.0.0.2", (str(shared), str(own[1])))
    opened += [first, second]
    peers = {"10.0.0.1": [1], "10.0.0.2": [1]}
    seen = [one._seen(existing(folder), peers) for one, folder in ((first, shared), (first, own[0]), (second, own[1]))]
    assert seen == [["10.0.0.1", "10.0.0.2"], ["10.0.0.1"], ["10.0.0.2"]]


def test_a_folder_that_the_trainer_will_make(opened: list[Meeting], tmp_path: Path) -> None:
    wanted = str(tmp_path / "checkpoints" / "run" / "1")
    opened += [Meeting("run-a1", f"10.0.0.{number}", (wanted,)) for number in (1, 2)]
    met = opened[0].meet({})
    assert met["tokens"] == {wanted: ["10.0.0.1"]}  # peers are those that are asked for
    assert opened[0]._seen(tmp_path, {"10.0.0.2": [1]}) == ["10.0.0.1", "10.0.0.2"]
    assert not (tmp_path / "checkpoints").exists()


def test_tokens_of_another_attempt_are_not_this_ones(opened: list[Meeting], tmp_path: Path) -> None:
    opened += [Meeting("run-a1", "10.0.0.1", (str(tmp_path),)), Meeting("run-a2", "10.0.0.2", (str(tmp_path),))]
    assert opened[0]._seen(tmp_path, {"10.0.0.2": [1]}) == ["10.0.0.1"]


def test_a_folder_that_nobody_may_write_to_is_no_obstacle(opened: list[Meeting], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    opened.append(Meeting("run-a1", "10.0.0.1", (str(file), "/proc/1/none")))
    assert opened[0].meet({})["tokens"] == {str(file): [], "/proc/1/none": []}


def test_own_tokens_go_and_old_ones_with_them(tmp_path: Path) -> None:
    old, young = tmp_path / f"{TOKEN_PREFIX}other-a1-10.0.0.9", tmp_path / f"{TOKEN_PREFIX}other-a2-10.0.0.9"
    for token, age_s in ((old, TOKEN_STALE_S + 60), (young, TOKEN_STALE_S - 60)):
        token.touch()
        stamp = time.time() - age_s
        os.utime(token, (stamp, stamp))
    (tmp_path / "checkpoint").touch()
    one = Meeting("run-a1", "10.0.0.1", (str(tmp_path),))
    assert len(list(tmp_path.glob(f"{TOKEN_PREFIX}*"))) == 3
    one.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [young.name, "checkpoint"]


# Names


def test_names_that_lead_elsewhere(opened: list[Meeting]) -> None:
    opened.append(Meeting("run-a1", HERE, ()))
    met = opened[0].meet(
        {}, {HERE: "localhost", "10.0.0.8": "127.0.0.5", "10.0.0.9": "no-such.invalid", "10.0.0.7": ""}
    )
    assert set(met["names"]) == {"127.0.0.5", "no-such.invalid"}
    assert met["names"]["127.0.0.5"] == "leads to 127.0.0.5"


def test_a_name_server_that_is_down_is_waited_for_within_a_bound(
    opened: list[Meeting], monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(meeting, "NAMES_S", 0.2)
    monkeypatch.setattr(meeting, "_astray", lambda ip, name: over.wait(60) and None)
    opened.append(Meeting("run-a1", HERE, ()))
    began = time.monotonic()
    met = opened[0].meet({}, {f"10.0.0.{number}": f"h{number}" for number in range(100)})
    assert time.monotonic() - began < 5
    assert set(met["names"].values()) == {"no answer within 0.2 s"}
    assert len(met["names"]) == 100
    over.set()
