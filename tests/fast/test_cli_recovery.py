"""`npurun status | list | resume | stop | diff | serve` of runs in care: what is shown, said and written down."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.cli.wrap import columns
from submitter.ledger import Ledger, this_process
from tests.support.cli import COMMAND, Result, cold, english, environment, npurun
from tests.support.fake_ray import FakeRay
from tests.support.processes import wait_for
from tests.support.runs import MIN_MS, Told
from tests.support.supervisor import holder_pid

ATTEMPT_KEYS = {"id", "state", "reason", "first_step", "last_step", "resumed_from", "nodes", "started", "ended"}
NODES = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]
OTHERS = ["10.0.0.1", "10.0.0.2", "10.0.0.4", "10.0.0.5"]
HOSTILE = ["a b", "it's", 'q"', "semi;colon", "$(x)", "back\\slash", "new\nline", "\x1b[2J", "-x", "r/a2/a3", "世界"]


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "npurun")
    yield ledger
    ledger.close()


def three(book: Ledger, run: str = "mine", address: str = "http://127.0.0.1:1") -> Told:
    """A node lost its device, its successor hung, and the third attempt trains."""
    told = Told(book, run, address=address)
    told.begin(1, 0, arguments=["a.b=1"])
    told.seen(1, 100, first=1, last=37)
    lost = "EZ9999: device lost, error code 507018"
    told.end(1, 102, "device_lost", node="10.0.0.3", evidence=lost, end={"reason": "trainer_failed", "nodes": NODES})
    told.decide(1, 102, "exclude_node", reason="device_lost", node="10.0.0.3")
    told.begin(2, 103, arguments=["a.b=1"], env={"NPURUN_QUARANTINE": "10.0.0.3"}, resumed_from=30)
    told.seen(2, 200, first=31, last=92)
    told.end(2, 230, "hung", evidence="no step for 10 min", end={"reason": "hung", "nodes": OTHERS})
    told.decide(2, 230, "now", reason="hung")
    told.begin(3, 231, arguments=["a.b=1"], env={"NPURUN_QUARANTINE": "10.0.0.3"}, resumed_from=90, changes=["+c=0.6"])
    told.seen(3, 390, first=91, last=140)
    return told


def wide(result: Result, limit: int = 80) -> list[str]:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.out)
    return [line for line in plain.splitlines() if columns(line) > limit]


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = lambda encoding: _Terminal(io.BytesIO(), encoding=encoding, write_through=True)  # noqa: E731
    monkeypatch.setattr("tests.support.cli._stream", stream)


class TestStatus:
    def test_the_document_has_the_shape_that_others_build_on(self, book: Ledger, tmp_path: Path) -> None:
        three(book)
        found = npurun("status", "mine", "--json", home=tmp_path).document
        assert (found["run"], found["state"], found["step"], found["total_steps"]) == ("mine", "running", 140, 200)
        assert found["next"] is None and all(set(one) >= ATTEMPT_KEYS for one in found["attempts"])
        one, two, now = found["attempts"]
        assert (one["id"], one["state"], one["reason"], one["node"]) == ("mine-a1", "failed", "device_lost", "10.0.0.3")
        assert (one["first_step"], one["last_step"], one["resumed_from"], one["nodes"]) == (1, 37, None, NODES)
        assert (two["reason"], two["resumed_from"], two["first_step"], two["last_step"]) == ("hung", 30, 31, 92)
        assert (now["state"], now["reason"], now["ended"], now["nodes"]) == ("running", None, None, None)
        assert two["started"] == (1_700_000_000_000 + 103 * MIN_MS) / 1000 and two["ended"] > two["started"]
        assert now["changes"] == ["+c=0.6"]

    def test_what_is_decided_and_not_done_yet(self, book: Ledger, tmp_path: Path) -> None:
        told = three(book)
        told.end(3, 400, "not_placed", end={"reason": "not_placed", "nodes": []})
        told.decide(3, 400, "not_placed", wait_s=300)
        found = npurun("status", "mine", "--json", home=tmp_path).document
        due = (1_700_000_000_000 + 400 * MIN_MS) / 1000 + 300
        assert found["state"] == "waiting"
        assert found["next"] == {"action": "retry", "attempt": 4, "at": due, "why": "not_placed"}
        shown = npurun("status", "mine", home=tmp_path)
        assert "next   attempt 4 at " in shown.out and "attempt 4 follows in 300 s" in shown.out

    def test_before_anything_is_known(self, book: Ledger, tmp_path: Path) -> None:
        Told(book, "mine", total_steps=None).begin(1, 0)
        found = npurun("status", "mine", "--json", home=tmp_path).document
        assert (found["state"], found["step"], found["total_steps"], found["next"]) == ("pending", None, None, None)
        assert "step   -" in npurun("status", "mine", home=tmp_path).out

    def test_people_read_what_followed_each_attempt(self, book: Ledger, tmp_path: Path) -> None:
        three(book)
        lines = npurun("status", "mine", home=tmp_path).out.splitlines()
        assert "step   140 / 200" in lines
        assert [line.split()[:4] for line in lines if line.startswith("a") and "-30" not in line][1:4] == [
            ["a1", "failed", "device_lost", "1-37"],
            ["a2", "failed", "hung", "31-92"],
            ["a3", "running", "-", "91-140"],
        ]
        assert any(line.startswith("a1  attempt 1 ended with device_lost on node 10.0.0.3") for line in lines)
        assert any(line.startswith("a2  hung: ") for line in lines) and "    no step for 10 min" in lines
        assert not any(line.startswith("a1  device_lost: ") for line in lines), "the newest failure only"
        assert [line.split()[:3] for line in lines if "quarantined" in line] == [["a2-a3", "10.0.0.3", "quarantined"]]

    @pytest.mark.parametrize("state", ["active", "failed", "stopped", "succeeded"])
    def test_in_chinese_and_within_80_columns(self, state: str, book: Ledger, tmp_path: Path, terminal: None) -> None:
        told = three(book, "qwen3-5-122b-a10b-32k-bq4ak9d3")
        if state != "active":
            reason = "hung" if state == "failed" else state
            told.end(3, 400, reason, state="FAILED" if state == "failed" else state.upper(), end={"nodes": OTHERS})
            told.over(401, state, reason)
        for lang in ("en", "zh"):
            shown = npurun("status", told.run, "--lang", lang, home=tmp_path, env={"COLUMNS": "80"})
            assert shown.code == 0 and wide(shown) == []
        kept = [line for line in shown.out.splitlines() if "no step for 10 min" not in line]  # of the log
        assert not english("\n".join(kept)) and not english(shown.err)
        assert ("npurun resume" in shown.err) == (state in ("failed", "stopped"))
        assert ("npurun stop" in shown.err) == (state == "active")

    def test_without_a_supervisor_that_is_told(self, book: Ledger, tmp_path: Path) -> None:
        three(book)
        assert "npurun serve" in npurun("status", "mine", home=tmp_path).err
        book.take(this_process(int(time.time() * 1000)), int(time.time() * 1000))
        assert "npurun serve" not in npurun("status", "mine", home=tmp_path).err

    def test_secrets_in_evidence_are_masked(self, book: Ledger, tmp_path: Path) -> None:
        told = Told(book, "mine")
        told.begin(1, 0)
        secret = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
        told.end(1, 1, "user_exception", evidence=f"ValueError: token={secret}")
        assert secret not in npurun("status", "mine", home=tmp_path).out


def test_list_shows_runs_in_care_by_the_ledger(book: Ledger, tmp_path: Path) -> None:
    three(book, "one")
    told = three(book, "two")
    told.end(3, 400, "hung", end={"nodes": OTHERS})
    told.decide(3, 400, "now")
    told = three(book, "three")
    told.over(400, "failed", "hung")
    rows = npurun("list", "--json", home=tmp_path).document
    assert {row["run"]: row["state"] for row in rows} == {"one": "running", "two": "waiting", "three": "failed"}


class TestResume:
    def test_another_attempt_is_decided_with_the_changes_so_far(self, book: Ledger, tmp_path: Path) -> None:
        told = three(book)
        told.end(3, 400, "hung", end={"nodes": OTHERS})
        told.over(401, "failed", "hung")
        result = npurun("resume", "mine", "--detach", home=tmp_path)
        assert (result.code, result.out) == (0, "mine\n") and "last step 140" in result.err
        decided = book.decision("mine", 3)
        assert decided is not None and decided.decision["changes"] == ["+c=0.6"]
        shown = npurun("status", "mine", "--lang", "zh", home=tmp_path)
        assert "运行被手动恢复" in shown.out
        document = npurun("resume", "mine", "--detach", "--json", home=tmp_path).document
        assert document == {"run": "mine", "after": "mine-a3", "address": "http://127.0.0.1:1"}

    def test_what_cannot_be_resumed(self, book: Ledger, tmp_path: Path) -> None:
        told = three(book)
        told.end(3, 400, "succeeded", state="SUCCEEDED")
        told.over(401, "succeeded", "succeeded")
        refused = npurun("resume", "mine", "--lang", "zh", home=tmp_path)
        assert (refused.code, refused.out) == (2, "") and not english(refused.err)


class TestStop:
    def test_one_that_has_ended_is_told(self, book: Ledger, tmp_path: Path) -> None:
        three(book).over(400, "failed", "hung")
        stopped = npurun("stop", "mine", "--json", home=tmp_path)
        assert stopped.document == {"run": "mine", "submission_id": "mine-a3", "state": "failed"}

    def test_the_wish_is_written_down_and_its_end_waited_for(self, book: Ledger, tmp_path: Path) -> None:
        told = three(book)

        def supervisor() -> None:
            other = Ledger(tmp_path / "npurun")
            wait_for(lambda: other.run("mine").wanted == "stop", bound_s=20, what="the wish")  # type: ignore[union-attr]
            Told(other, "mine").over(401, "stopped", "stopped")
            other.close()

        thread = threading.Thread(target=supervisor, daemon=True)
        thread.start()
        stopped = npurun("stop", told.run, "--lang", "zh", home=tmp_path)
        thread.join(20)
        assert (stopped.code, stopped.out) == (0, "") and stopped.err and not english(stopped.err)


class TestDiff:
    def test_on_a_terminal_it_fits(self, book: Ledger, tmp_path: Path, terminal: None) -> None:
        told = three(book, "qwen3-5-122b-a10b-32k-bq4ak9d3")
        told.end(3, 400, "hung", end={"nodes": OTHERS, "versions": {"cann": "9.0.0"}})
        for lang in ("en", "zh"):
            words = ["diff", f"{told.run}/a1", told.run, "--lang", lang]
            shown = npurun(*words, home=tmp_path, env={"COLUMNS": "80"})
            assert shown.code == 0 and wide(shown) == [] and "10.0.0.3" in shown.out
        assert not english(shown.out + shown.err)

    def test_versions_are_not_guessed(self, book: Ledger, tmp_path: Path) -> None:
        three(book)
        found = npurun("diff", "mine/a1", "mine/a2", "--json", home=tmp_path).document
        assert {one["section"] for one in found["differences"]} == {"environment", "nodes", "outcome"}
        unknown = [{"section": "versions", "submission_id": f"mine-a{number}"} for number in (1, 2)]
        assert found["not_known"] == unknown


@pytest.mark.parametrize("command", [["status"], ["resume"], ["stop"], ["diff", "mine"], ["diff"], ["diagnose"]])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_one_line(command: list[str], name: str, book: Ledger, tmp_path: Path) -> None:
    three(book)
    words = [*command, name] if command != ["diff"] else ["diff", name, "mine"]
    result = npurun(*words, home=tmp_path)
    told = result.err.strip().splitlines()
    assert result.code in (2, 4) and result.out == "" and "Traceback" not in result.err and "\x1b" not in result.err
    assert len(told) == (2 if name == "-x" else 1), told


class TestProcesses:
    def shell(self, line: str, home: Path) -> subprocess.CompletedProcess[str]:
        command = " ".join(f"'{word}'" for word in COMMAND)
        script = f'npurun() {{ {command} "$@"; }}; {line}'
        kept = environment(home)
        return subprocess.run(["bash", "-c", script], env=kept, capture_output=True, text=True, timeout=30)

    @pytest.mark.parametrize("words", ["status mine", "list", "diff mine/a1 mine", "status mine --json"])
    def test_a_closed_pipe_is_no_error(self, words: str, book: Ledger, tmp_path: Path) -> None:
        three(book)
        done = self.shell(f"npurun {words} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
        assert done.stdout == "0\n" and "Traceback" not in done.stderr and "Error" not in done.stderr, done

    def test_serve_tells_as_json_and_leaves_on_sigterm(self, book: Ledger, tmp_path: Path) -> None:
        with FakeRay() as ray:
            Told(book, "mine", address=ray.address).begin(1, 0)
            ray.add_job("mine-a1", metadata={"npurun_run": "mine"})
            words = [*COMMAND, "serve", "--no-web", "--json"]
            with subprocess.Popen(words, env=environment(tmp_path), stdout=subprocess.PIPE, text=True) as process:
                wait_for(lambda: holder_pid(tmp_path / "npurun") == process.pid, bound_s=20, what="the lock")
                second = cold("serve", "--no-web", "--lang", "zh", home=tmp_path)
                assert (second.code, second.out) == (2, "") and str(process.pid) in second.err
                process.send_signal(signal.SIGTERM)
                assert process.wait(20) == 0
                assert process.stdout is not None
                lines = [json.loads(line) for line in process.stdout]
        assert all(set(line) == {"time", "event", "run", "text", "values"} for line in lines)
        assert [line["event"] for line in lines] == ["supervise.serving", "supervise.left.told"]
        assert ray.jobs["mine-a1"].stops == 0
