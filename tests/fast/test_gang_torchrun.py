"""Launcher torchrun without Ray or torch: ranks and options, output of a node, which failure counts."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang import launch_torchrun, torchrun_node
from submitter.gang.launch_torchrun import Clock, Node, rank_order, result, torchrun_options
from submitter.gang.members import Member
from submitter.gang.plan import TorchrunPlan
from submitter.gang.torchrun_agent import DEATHS, RANK_SCRIPT, Death, Ranks, parse_deaths
from submitter.gang.torchrun_node import Chunk, Tree, hold_port, open_fifo, rank_environ, split
from tests.support.processes import carrying, wait_gone

MEMBERS = [Member(f"id{n}", f"10.0.0.{n}", f"host{n}") for n in (1, 2, 3)]
BOUND_S = 20.0

# What torchrun does for this launcher: ranks as children in sessions of their own, started by the rank script.
AGENT = r"""
import os, subprocess, sys
script, ranks, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
children = [
    subprocess.Popen(["sh", "-c", script, "rank", *command], start_new_session=True,
                     env={**os.environ, "RANK": str(rank + 4), "LOCAL_RANK": str(rank)})
    for rank in range(ranks)
]
print("agent", flush=True)
sys.exit(max(child.wait() for child in children))
"""


@pytest.fixture
def mark() -> Iterator[str]:
    mark = f"NPURUN_TEST_MARK={uuid.uuid4().hex}"
    yield mark
    for pid in carrying(mark):
        os.kill(pid, signal.SIGKILL)


def tree(rank_code: str, mark: str, ranks: int = 2) -> Tree:
    command = [sys.executable, "-u", "-c", rank_code]
    environ = {**os.environ, **dict([mark.split("=")])}
    return Tree([sys.executable, "-c", AGENT, RANK_SCRIPT, str(ranks), *command], ranks, environ)


def read_all(tree: Tree) -> tuple[bytes, Chunk]:
    end, data = time.monotonic() + BOUND_S, b""
    while time.monotonic() < end:
        chunk = tree.read(1.0)
        data += chunk.data
        if chunk.code is not None:
            return data, chunk
    raise AssertionError(f"no end within {BOUND_S} s; so far {data[-500:]!r}")


class TestRanks:
    def test_the_gangs_order_counts_without_a_master(self) -> None:
        assert rank_order(MEMBERS, None) == [0, 1, 2]

    @pytest.mark.parametrize(("master", "order"), [("10.0.0.1", [0, 1, 2]), ("10.0.0.3", [2, 0, 1])])
    def test_the_masters_node_has_rank_0(self, master: str, order: list[int]) -> None:
        assert rank_order(MEMBERS, master) == order

    def test_a_master_by_name(self) -> None:
        assert rank_order([*MEMBERS, Member("id4", "127.0.0.1", "here")], "localhost") == [3, 0, 1, 2]

    @pytest.mark.parametrize("master", ["10.0.0.9", "no-such-host.invalid"])
    def test_a_master_outside_the_gang_is_refused_with_the_gangs_nodes(self, master: str) -> None:
        with pytest.raises(
            ValueError, match=rf"{re.escape(master)} is none of .*10\.0\.0\.1, 10\.0\.0\.2, 10\.0\.0\.3"
        ):
            rank_order(MEMBERS, master)

    def test_options_of_a_static_rendezvous(self) -> None:
        options = torchrun_options(TorchrunPlan(16, None, None), ["10.0.0.1", "10.0.0.2"], 1, 4000, "run-a1")
        assert " ".join(options) == (
            "--nnodes 2 --nproc_per_node 16 --node_rank 1 --rdzv_backend static --rdzv_endpoint 10.0.0.1:4000 "
            "--rdzv_id run-a1 --local_addr 10.0.0.2 --max_restarts 0"
        )
        assert torchrun_node.rank_count(options) == 16

    def test_the_ranks_command_survives_torchruns_own_substitution(self) -> None:
        command = ["-m", "module", "${local_rank}", "$$", "$HOME"]
        argv = torchrun_node.agent_argv(["--nnodes", "2"], command)
        assert argv[1:5] == ["-m", "submitter.gang.torchrun_agent", "--nnodes", "2"]
        substituted = [Template(argument).safe_substitute(local_rank="0") for argument in argv]
        assert substituted[-len(command) :] == command
        assert substituted[-len(command) - 4 :][:2] == [RANK_SCRIPT, "rank"]

    def test_an_ipv6_endpoint_is_bracketed(self) -> None:
        assert launch_torchrun.endpoint("fd00::1", 4000) == "[fd00::1]:4000"


class TestOutput:
    def test_lines_of_two_ranks_arrive_whole_complete_and_in_order(self, mark: str) -> None:
        lines = 5000
        code = f"import os\nfor i in range({lines}): print(os.environ['RANK'], i, 'x' * (i % 90))"
        data, last = read_all(tree(code, mark))
        assert last.code == 0
        for rank in (4, 5):
            mine = [line for line in data.decode().splitlines() if line.startswith(f"{rank} ")]
            assert mine == [f"{rank} {i} {'x' * (i % 90)}" for i in range(lines)]
        assert len(data.splitlines()) == 2 * lines + 1  # and the agent's own

    def test_both_streams_of_a_rank_keep_their_order(self, mark: str) -> None:
        code = "import sys\nfor i in range(100): print(i, file=(sys.stdout, sys.stderr)[i % 2])"
        data, _ = read_all(tree(code, mark, ranks=1))
        assert [line for line in data.decode().split() if line != "agent"] == [str(i) for i in range(100)]

    def test_bytes_that_are_no_text_and_a_missing_last_newline(self, mark: str) -> None:
        data, last = read_all(tree(r"import os; os.write(1, b'\xff\x00\rhalf'); os._exit(3)", mark, ranks=1))
        assert data.replace(b"agent\n", b"") == b"\xff\x00\rhalf\n"
        assert last.code == 3
        assert last.tail == ("agent",)  # nobody reported which rank failed

    def test_a_progress_bar_is_passed_on_before_its_line_ends(self, mark: str) -> None:
        running = tree(r"import sys, time; sys.stdout.write('\r10%\r20%'); time.sleep(600)", mark, ranks=1)
        data, end = b"", time.monotonic() + BOUND_S
        while b"\r10%\r" not in data and time.monotonic() < end:
            data += running.read(1.0).data
        assert b"\r10%\r" in data
        running.end(0)
        rest, _ = read_all(running)
        assert rest.endswith(b"20%\n")

    def test_arguments_reach_the_rank_unchanged(self, mark: str) -> None:
        hostile = ["a b", "'; echo x", "\\", 'q"q', "line\nbreak", "$HOME", "`id`", ""]
        environ = {**os.environ, **dict([mark.split("=")])}
        command = [sys.executable, "-c", "import sys; print(ascii(sys.argv[1:]))", *hostile]
        data, _ = read_all(Tree([sys.executable, "-c", AGENT, RANK_SCRIPT, "1", *command], 1, environ))
        assert ascii(hostile).encode() in data

    def test_a_quiet_node_answers_with_nothing_within_the_wait(self, mark: str) -> None:
        running = tree("import time; print('up'); time.sleep(600)", mark, ranks=1)
        data, end = b"", time.monotonic() + BOUND_S
        while sorted(data.split()) != [b"agent", b"up"] and time.monotonic() < end:
            data += running.read(1.0).data
        chunk = running.read(0.2)
        assert (chunk.data, chunk.deaths, chunk.code) == (b"", (), None)
        assert chunk.sent - chunk.received < BOUND_S
        running.end(0)
        read_all(running)

    @pytest.mark.parametrize("grace_s", [0.0, 5.0])
    def test_the_end_leaves_no_process(self, grace_s: float, mark: str) -> None:
        running = tree("import time; print('up'); time.sleep(600)", mark)
        while b"up" not in running.read(1.0).data:
            pass
        running.end(grace_s)
        _, last = read_all(running)
        assert last.code in (128 + signal.SIGTERM, 128 + signal.SIGKILL)
        wait_gone(mark, bound_s=BOUND_S)


class TestAgent:
    """Torchrun's process notices the end of its ranks without taking their exit codes from torchrun."""

    def ended(self, tmp_path: Path, command: str, local_rank: int = 0) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(["sh", "-c", command])
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        (tmp_path / f"{local_rank}.pid").write_text(f"{child.pid} {local_rank + 4}\n")
        return child

    def deaths(self, tmp_path: Path) -> list[tuple[int, int, int]]:
        found = parse_deaths((tmp_path / DEATHS).read_text())
        return [(death.rank, death.local_rank, death.code) for death in found]

    @pytest.mark.parametrize(("command", "code", "shown"), [("exit 7", 7, 7), ("kill -9 $$", -9, 137)])
    def test_the_code_is_seen_and_left(self, command: str, code: int, shown: int, tmp_path: Path) -> None:
        child = self.ended(tmp_path, command, local_rank=1)
        ranks = Ranks(tmp_path)
        for _ in range(2):  # told once
            ranks.on_child(signal.SIGCHLD, None)
        assert self.deaths(tmp_path) == [(5, 1, code)]
        assert ranks.exit_code() == shown
        assert child.wait() == code

    def test_a_code_that_torchrun_took_first_comes_from_its_report(self, tmp_path: Path) -> None:
        self.ended(tmp_path, "exit 7", local_rank=0).wait()
        ranks = Ranks(tmp_path)
        ranks.on_child(signal.SIGCHLD, None)
        noticed = time.time()
        self.ended(tmp_path, "exit 1", local_rank=1).wait()
        ranks.complete({4: (0, 7), 5: (1, 1)})
        assert self.deaths(tmp_path) == [(4, 0, 7), (5, 1, 1)]
        first = parse_deaths((tmp_path / DEATHS).read_text())[0]
        assert first.time <= noticed
        assert ranks.exit_code() == 7

    def test_a_rank_that_lives_and_one_that_is_being_started_are_no_deaths(self, tmp_path: Path) -> None:
        (tmp_path / "0.pid").write_text("")
        living = subprocess.Popen(["sleep", "600"])
        (tmp_path / "1.pid").write_text(f"{living.pid} 1\n")
        ranks = Ranks(tmp_path)
        ranks.on_child(signal.SIGCHLD, None)
        assert not (tmp_path / DEATHS).exists()
        living.kill()
        living.wait()


class TestSplit:
    @given(st.lists(st.binary(max_size=12) | st.sampled_from([b"\r", b"\n", b"\r\n", b"a\rb"]), max_size=12))
    def test_nothing_is_lost_whatever_the_reads(self, reads: list[bytes]) -> None:
        out, begun = b"", b""
        for data in reads:
            whole, begun = split(begun + data)
            assert not whole or whole.endswith((b"\n", b"\r"))
            assert b"\n" not in begun
            out += whole
        assert out + begun == b"".join(reads)

    @pytest.mark.parametrize(
        ("data", "whole", "begun"),
        [
            (b"a\nb\nc", b"a\nb\n", b"c"),
            (b"a\r", b"", b"a\r"),  # a newline may follow
            (b"a\r\nb", b"a\r\n", b"b"),
            (b"1%\r2%\r3%", b"1%\r2%\r", b"3%"),
            (b"a\n1%\r2%", b"a\n1%\r", b"2%"),
            (b"", b"", b""),
        ],
    )
    def test_where_it_splits(self, data: bytes, whole: bytes, begun: bytes) -> None:
        assert split(data) == (whole, begun)

    def test_a_line_without_end_does_not_fill_the_memory(self) -> None:
        line = b"x" * torchrun_node.MAX_LINE_BYTES
        assert split(line) == (line, b"")


class TestEnvironment:
    def test_secrets_are_added_and_the_rest_is_inherited(self, tmp_path: Path) -> None:
        key = tmp_path / "key"
        key.write_text("s3cret\n")
        environ = {"HCCL_IF_BASE_PORT": "1", "OTHER": "token"}
        references = {"A": {"file": str(key)}, "B": {"env": "OTHER"}}
        assert rank_environ(environ, references) == {**environ, "A": "s3cret", "B": "token"}

    def test_threads_that_ray_set_for_its_worker_are_not_the_ranks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        environ = {"OMP_NUM_THREADS": "16"}
        monkeypatch.setattr(torchrun_node, "started_with", lambda: set())
        assert rank_environ(environ, {}) == {}
        monkeypatch.setattr(torchrun_node, "started_with", lambda: {"OMP_NUM_THREADS"})
        assert rank_environ(environ, {}) == environ

    def test_the_environment_at_the_start_is_told_from_later_changes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SET_LATER", "1")
        assert "PATH" in torchrun_node.started_with()
        assert "SET_LATER" not in torchrun_node.started_with()


class TestPort:
    def test_a_held_port_is_kept_from_others_and_open_to_the_store(self) -> None:
        holder = hold_port(0)
        port = holder.getsockname()[1]
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("", port))
        with socket.socket() as store:
            store.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            store.bind(("", port))
            store.listen()
        holder.close()

    def test_a_port_in_use_is_refused(self) -> None:
        with socket.socket() as server:
            server.bind(("", 0))
            server.listen()
            with pytest.raises(OSError, match="in use"):
                hold_port(server.getsockname()[1])

    def test_a_fifo_never_blocks_its_reader(self, tmp_path: Path) -> None:
        descriptor = open_fifo(tmp_path / "fifo")
        with pytest.raises(BlockingIOError):
            os.read(descriptor, 1)
        os.close(descriptor)


class TestResult:
    """Which of many failures is the attempt's."""

    def nodes(self, *codes: int | None) -> list[Node]:
        return [
            Node(member, actor=None, code=code, ended_at=float(place), tail=(f"tail {place}",))
            for place, (member, code) in enumerate(zip(MEMBERS, codes, strict=False))
        ]

    def test_success_is_that_of_every_node(self) -> None:
        assert result(self.nodes(0, 0, 0)).code == 0
        assert result(self.nodes(0, 0, 0)).reason is None

    def test_the_first_failed_rank_counts_not_the_first_node(self) -> None:
        nodes = self.nodes(1, 7, 143)
        nodes[0].deaths = [Death(0, 0, 1, 100.5)]
        nodes[1].deaths = [Death(2, 0, -15, 100.4), Death(3, 1, 7, 100.1)]
        found = result(nodes)
        assert (found.code, found.reason, found.node) == (7, None, "10.0.0.2")
        assert found.evidence == (
            "rank 3 (local rank 1) on node 10.0.0.2 failed first: exit code 7",
            "tail 1",
        )

    def test_a_rank_that_succeeded_earlier_is_no_failure(self) -> None:
        nodes = self.nodes(0, 137)
        nodes[0].deaths = [Death(0, 0, 0, 50.0)]
        nodes[1].deaths = [Death(1, 0, -9, 100.0)]
        assert result(nodes).code == -9
        assert "signal 9" in result(nodes).evidence[0]

    def test_clocks_that_differ_are_put_right(self) -> None:
        nodes = self.nodes(1, 7)
        nodes[0].deaths = [Death(0, 0, 1, 100.5)]
        nodes[1].deaths = [Death(1, 0, 7, 160.2)]
        assert result(nodes).code == 1
        nodes[1].clock.learn(asked=10.0, received=70.01, sent=70.01, answered=10.02)
        assert result(nodes).code == 7

    def test_torchrun_that_failed_itself(self) -> None:
        found = result(self.nodes(0, 1, 143))
        assert (found.code, found.reason, found.node) == (1, "launch_failed", "10.0.0.2")
        assert found.evidence[1:] == ("tail 1",)

    def test_a_lost_launcher_is_the_cause_of_its_peers_failures(self) -> None:
        nodes = self.nodes(1, None)
        nodes[0].deaths = [Death(0, 0, 1, 100.0)]
        nodes[1].lost = "The actor died unexpectedly"
        found = result(nodes)
        assert (found.code, found.reason, found.node) == (None, "node_lost", "10.0.0.2")
        assert "The actor died unexpectedly" in found.evidence[0]
        assert "rank 0" in found.evidence[1]

    def test_a_node_that_never_answered_is_no_success(self) -> None:
        nodes = self.nodes(0, None)
        nodes[1].given_up = True
        assert result(nodes).reason == "launch_failed"


class TestClock:
    def test_the_quickest_answer_counts(self) -> None:
        clock = Clock()
        clock.learn(asked=0.0, received=8.0, sent=8.0, answered=6.0)  # 5 s ahead, 3 s unsure
        clock.learn(asked=10.0, received=15.1, sent=15.1, answered=10.2)
        clock.learn(asked=20.0, received=30.0, sent=30.0, answered=26.0)
        assert clock.driver_time(115.0) == pytest.approx(110.0)

    def test_the_time_a_question_waited_on_the_node_does_not_matter(self) -> None:
        clock = Clock()
        clock.learn(asked=0.0, received=60.01, sent=62.01, answered=2.02)
        assert clock.driver_time(100.0) == pytest.approx(40.0)

    def test_equal_clocks_are_left_alone(self) -> None:
        clock = Clock()
        clock.learn(asked=0.0, received=0.3, sent=0.3, answered=0.5)
        assert clock.driver_time(100.0) == 100.0
        assert replace(clock, unsure_s=float("inf")).driver_time(1.0) == 1.0
