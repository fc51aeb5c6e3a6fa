"""`npurun nodes`: every command that reads how an attempt ended keeps what it has against nodes; one is taken back."""

from __future__ import annotations

import io
import json
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from submitter.cli.wrap import columns
from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import failure
from submitter.gang.record import End, Proposal, fitness_line, verdict_line
from submitter.ledger import Ledger, Quarantined
from submitter.texts import text
from tests.fast.test_cli_completion import complete
from tests.support import doctor
from tests.support.cli import Result, english, npurun
from tests.support.fake_ray import FakeJob, FakeRay
from tests.support.runs import submit_alone

TINY = """\
name: tiny
cluster: {nodes: 1, npus_per_node: 2}
trainer: {module: my.trainer}
arguments:
  trainer: {trainer.total_training_steps: 100}
"""
SICK = Proposal("10.0.0.3", "NR503", "Critical", "OK", {"npu": "2.1", "name": "Ascend910"})
DEAD = "http://127.0.0.1:1"
CLUSTERS = ("http://127.0.0.1:2", "http://127.0.0.1:3")


@pytest.fixture
def mine(ray: FakeRay, tmp_path: Path) -> FakeJob:
    """The job of the run `mine`, submitted from here and in nobody's care: commands read its end themselves."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    submit_alone(tmp_path / "tiny.yaml", ray.address, "mine", tmp_path)
    return ray.jobs["mine-a1"]


def submit(ray: FakeRay, home: Path, run: str, *words: str) -> Result:
    words = (*words, "--detach")
    return npurun("submit", str(home / "tiny.yaml"), "--run", run, "--address", ray.address, *words, home=home)


def ends(job: FakeJob, reason: str = "succeeded", **fields: Any) -> FakeJob:
    """With a node left out on the way."""
    proposals = fields.pop("proposals", (SICK,))
    quarantine = fields.pop("quarantine", tuple(one.node for one in proposals))
    fields = {"nodes": ("10.0.0.1",), "proposals": proposals, "quarantine": quarantine, **fields}
    end = End(job.submission_id, "training", reason, **fields)
    job.write(f"{end.line()}\n".encode())
    job.start_time = int(time.time() * 1000) - 120_000
    job.end("SUCCEEDED" if reason == "succeeded" else "FAILED", code=end.exit)
    return job


def listed(ray: FakeRay, home: Path, *words: str) -> Any:
    return npurun("nodes", "--json", "--address", ray.address, *words, home=home).document


def stored(home: Path) -> list[str]:
    return [one.node for one in Ledger(home / "npurun").quarantined(int(time.time() * 1000))]


def test_nothing_is_left_out(ray: FakeRay, tmp_path: Path) -> None:
    result = npurun("nodes", "--address", ray.address, "--lang", "zh", home=tmp_path)
    assert (result.code, result.out) == (0, "") and result.err and not english(result.err)
    assert listed(ray, tmp_path) == []


def test_the_list_says_which_why_and_until_when(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ends(mine)
    result = npurun("nodes", "--address", ray.address, home=tmp_path)
    heading, row = result.out.splitlines()
    assert heading.split() == ["node", "finding", "since", "until", "attempt", "why"]
    assert row.split()[:2] == ["10.0.0.3", "NR503"] and "mine-a1" in row and "has health Critical" in row
    assert "npurun nodes release NODE" in result.err
    chinese = npurun("nodes", "--address", ray.address, "--lang", "zh", home=tmp_path)
    assert not english(chinese.out + chinese.err) and "健康状态" in chinese.out
    (one,) = listed(ray, tmp_path)
    assert {key: one[key] for key in ("node", "finding", "attempt", "address")} == {
        "node": "10.0.0.3",
        "finding": "NR503",
        "attempt": "mine-a1",
        "address": ray.address,
    }
    assert one["until"] - one["since"] == 24 * 3600 and one["evidence"]["value"] == "Critical"


def test_on_a_terminal_it_fits(mine: FakeJob, ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends(mine)
    monkeypatch.setattr("tests.support.cli._stream", _terminal)
    for lang in ("en", "zh"):
        result = npurun("nodes", "--lang", lang, "--address", ray.address, home=tmp_path, env={"COLUMNS": "80"})
        assert "mine-a1" in result.out and [line for line in result.out.splitlines() if columns(line) > 80] == []


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def _terminal(encoding: str) -> io.TextIOWrapper:
    return _Terminal(io.BytesIO(), encoding=encoding, write_through=True)


@pytest.mark.parametrize(
    "command", [["status", "mine"], ["logs", "mine"], ["logs", "mine", "-f"], ["list"], ["nodes"], ["nodes", "--json"]]
)
def test_whichever_command_reads_the_end_keeps_it(
    command: list[str], mine: FakeJob, ray: FakeRay, tmp_path: Path
) -> None:
    ends(mine)
    npurun(*command, "--address", ray.address, home=tmp_path)
    assert stored(tmp_path) == ["10.0.0.3"]


def test_the_next_submission_leaves_the_node_out(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ends(mine)
    result = submit(ray, tmp_path, "next")
    assert result.code == 0 and "10.0.0.3 is left out: NR503 in mine-a1" in result.err
    body = ray.posts()[-1]
    assert body["runtime_env"]["env_vars"]["NPURUN_QUARANTINE"] == "10.0.0.3"
    status = npurun("status", "next", "--json", home=tmp_path).document
    assert status["attempts"][0]["left_out"] == [{"node": "10.0.0.3", "id": "quarantined"}]


@pytest.mark.usefixtures("real_supervisor")
def test_a_submission_that_is_followed_keeps_it_too(ray: FakeRay, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY + "recovery: {max_attempts: 1}\n")

    def end() -> None:
        while "mine-a1" not in ray.jobs and not ray.closing.wait(0.01):
            pass
        ends(ray.jobs["mine-a1"], "trainer_failed")

    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    words = ["submit", str(tmp_path / "tiny.yaml"), "--run", "mine", "--address", ray.address]
    assert npurun(*words, home=tmp_path).code == 1
    thread.join(10)
    assert stored(tmp_path) == ["10.0.0.3"]


def test_a_run_of_another_machine_counts_when_it_is_looked_at(ray: FakeRay, tmp_path: Path) -> None:
    job = ray.add_job("theirs-a1", metadata={"npurun_run": "theirs", "npurun_attempt": "1", "npurun_job": "j"})
    ends(job)
    assert npurun("status", "theirs", "--address", ray.address, home=tmp_path).code == 0
    assert stored(tmp_path) == ["10.0.0.3"]


def test_release_lasts(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ends(mine)
    result = npurun("nodes", "release", "10.0.0.3", "--address", ray.address, home=tmp_path)
    assert (result.code, result.out) == (0, "") and "is taken back: new attempts" in result.err
    npurun("status", "mine", home=tmp_path)
    assert listed(ray, tmp_path) == [] and "left out" not in submit(ray, tmp_path, "next").err


def test_release_of_a_node_that_is_not_left_out(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    none = npurun("nodes", "release", "10.0.0.9", "--address", ray.address, "--lang", "zh", home=tmp_path)
    assert (none.code, none.out) == (2, "") and not english(none.err)
    ends(mine)
    wrong = npurun("nodes", "release", "10.0.0.8", "--address", ray.address, home=tmp_path)
    assert wrong.code == 2 and "nearest node that is: 10.0.0.3" in wrong.err


def test_release_as_json(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ends(mine)
    for words in (["nodes", "release", "10.0.0.3", "--json"], ["nodes", "--json", "release", "10.0.0.3"]):
        result = npurun(*words, home=tmp_path, env={"RAY_API_SERVER_ADDRESS": ray.address})
        if result.code == 0:
            assert result.document == {"node": "10.0.0.3", "released": 1}
        else:
            assert result.code == 2 and result.error["message"]  # the second time


def test_without_a_cluster_the_ledger_still_answers(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ends(mine)
    npurun("status", "mine", home=tmp_path)
    ray.__exit__()
    result = npurun("nodes", home=tmp_path)
    assert result.code == 0 and "10.0.0.3" in result.out and "not known" not in result.err
    assert npurun("nodes", "release", "10.0.0.3", home=tmp_path).code == 0


def test_a_cluster_that_is_away_while_attempts_are_open_is_told(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ray.__exit__()
    result = npurun("nodes", home=tmp_path)
    assert result.code == 0 and ray.address in result.err


@pytest.mark.parametrize("words", [[], ["release", "10.9.9.9"]])
def test_clusters_that_are_away_are_waited_for_together(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes 10 s to find out; no answer comes here before all have been asked."""
    asked = threading.Barrier(len(CLUSTERS))

    def jobs(client: RayClient) -> list[JobInfo]:
        asked.wait(10)
        raise failure("cluster.port_refused", client.address)

    book, now = Ledger(tmp_path / "npurun"), int(time.time() * 1000)
    for number, address in enumerate(CLUSTERS):
        intend(book, f"r{number}", address, now)
        book.quarantine([Quarantined(address, "10.9.9.9", f"r{number}-a1", "NR503", {}, now - 1000, now + 60_000)])
    monkeypatch.setattr(RayClient, "jobs", jobs)
    result = npurun("nodes", *words, home=tmp_path)
    assert (result.code, result.err.count("are not known yet")) == (0, len(CLUSTERS))
    assert all(address in result.err for address in CLUSTERS)


def intend(book: Ledger, run: str, address: str, now_ms: int) -> None:
    attempt = {"attempt": 1, "submission_id": f"{run}-a1", "spec": "s", "job": "j", "total_steps": None, "body": b"{}"}
    book.record_intent(run=run, address=address, now_ms=now_ms, **attempt)  # type: ignore[arg-type]


def test_two_clusters_are_named(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ends(mine)
    now = int(time.time() * 1000)
    npurun("status", "mine", home=tmp_path)
    book = Ledger(tmp_path / "npurun")
    book.quarantine([Quarantined(DEAD, "10.9.9.9", "other-a1", "node_frozen", {}, now - 1000, now + 60_000)])
    result = npurun("nodes", home=tmp_path)
    assert DEAD in result.out and ray.address in result.out and "10.9.9.9 did not answer" in result.out
    assert [one["node"] for one in listed(ray, tmp_path)] == ["10.0.0.3"]


@pytest.mark.parametrize(
    "proposal",
    [
        {"node": "10.0.0.3", "id": "NR9999", "value": 1, "values": []},
        {"node": "10.0.0.3", "id": "NR503", "values": {}},
        {"node": "a\nb\x1b[2J'\";$x\\", "id": "x\ny"},
        {"node": 7, "id": ["x"], "values": {"npu": {}}},
        {"node": "\ud800", "id": "NR503", "value": "\udfff", "values": {"npu": 1, "name": "x"}},
    ],
)
def test_a_record_that_the_trainer_forged_breaks_nothing(
    proposal: dict[str, Any], mine: FakeJob, ray: FakeRay, tmp_path: Path
) -> None:
    end = json.loads(End("mine-a1", "training", "trainer_failed").line().partition("end ")[2])
    forged = {**end, "proposals": [proposal, 5, None], "quarantine": {"a": 1}}
    mine.write(f"[npurun] end {json.dumps(forged)}\n".encode())
    mine.start_time = int(time.time() * 1000) - 120_000
    mine.end("FAILED", code=1)
    for words in (["status", "mine"], ["nodes"], ["nodes", "--json"], ["nodes", "--lang", "zh"]):
        result = npurun(*words, "--address", ray.address, home=tmp_path)
        assert result.code == 0 and "\x1b" not in result.out, result
    assert len(npurun("nodes", "--address", ray.address, home=tmp_path).out.splitlines()) == 2


@pytest.mark.parametrize("verdicts", [5, None, "abc", [5], [{"x": 1}]])
def test_what_npurun_adds_to_a_record_is_not_taken_from_the_log(
    verdicts: Any, mine: FakeJob, ray: FakeRay, tmp_path: Path
) -> None:
    end = json.loads(End("mine-a1", "training", "trainer_failed").line().partition("end ")[2])
    mine.write(f"[npurun] end {json.dumps({**end, 'verdicts': verdicts})}\n".encode())
    mine.end("FAILED", code=1)
    for _ in range(2):  # from the log, then from the ledger
        assert npurun("status", "mine", "--address", ray.address, home=tmp_path).code == 0


def test_secrets_of_others_processes_are_masked(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    token = "hf_" + "abcdefghij0123456789"
    held = {"command": f"serve --token {token}", "owner": "eve", "how": "probe.end_here", "npu": "1", "memory_mb": 9}
    ends(mine, proposals=(Proposal("10.0.0.3", "NR504", "4711", None, held),))
    for words in (["nodes"], ["nodes", "--json"], ["status", "mine"], ["status", "mine", "--json"]):
        result = npurun(*words, "--address", ray.address, home=tmp_path)
        assert result.code == 0 and "serve --token ***" in result.out and token not in result.out + result.err


def test_numbers_that_json_does_not_have_are_no_record(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    good = End("mine-a1", "training", "trainer_failed", proposals=(SICK,), quarantine=("10.0.0.3",)).line()
    for number in ("NaN", "-Infinity", "1e999"):
        mine.write(good.replace('"Critical"', number).encode() + b"\n")
    mine.end("FAILED", code=1)
    assert listed(ray, tmp_path) == []


def test_a_name_that_no_host_can_have_is_no_node(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    long = Proposal("n" * 256, "NR503", "Critical", "OK", SICK.values)
    ends(mine, proposals=(long, SICK), quarantine=("10.0.0.3", "q" * 256))
    assert [one["node"] for one in listed(ray, tmp_path)] == ["10.0.0.3"]


@pytest.mark.parametrize("hours", [-30, 30])
def test_the_heads_clock_does_not_matter(hours: int, mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    before = time.time()
    ends(mine)
    mine.start_time += hours * 3_600_000
    mine.end_time = mine.start_time + 60_000
    (one,) = listed(ray, tmp_path)
    assert before - 1 <= one["since"] <= time.time() and one["until"] - one["since"] == 24 * 3600


def test_what_is_read_days_later_has_run_out(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ends(mine)
    ledger = sqlite3.connect(tmp_path / "npurun" / "ledger.db")
    ledger.execute("UPDATE attempts SET posted_ms = posted_ms - ?", (30 * 3_600_000,))
    ledger.commit()
    ledger.close()
    result = submit(ray, tmp_path, "next")
    assert result.code == 0 and "is left out" not in result.err
    assert "NPURUN_QUARANTINE" not in ray.posts()[-1]["runtime_env"]["env_vars"]
    assert "10.0.0.3" in npurun("status", "mine", "--address", ray.address, home=tmp_path).out


class TestRelease:
    @pytest.fixture
    def book(self, tmp_path: Path) -> Ledger:
        book = Ledger(tmp_path / "npurun")
        now = int(time.time() * 1000)
        there = [Quarantined(one, "10.9.9.9", "x-a1", "NR503", {}, now - 1000, now + 60_000) for one in CLUSTERS]
        book.quarantine(there)
        return book

    def left(self, book: Ledger) -> list[str]:
        return [one.address for one in book.quarantined(int(time.time() * 1000))]

    def test_of_the_cluster_that_the_environment_names(self, book: Ledger, tmp_path: Path) -> None:
        env = {"RAY_API_SERVER_ADDRESS": CLUSTERS[0]}
        result = npurun("nodes", "release", "10.9.9.9", home=tmp_path, env=env)
        assert result.code == 0 and CLUSTERS[0] in result.err and CLUSTERS[1] not in result.err
        assert self.left(book) == [CLUSTERS[1]]

    def test_of_all_clusters_when_none_is_the_usual_one(self, book: Ledger, tmp_path: Path) -> None:
        result = npurun("nodes", "release", "10.9.9.9", home=tmp_path, env={"RAY_API_SERVER_ADDRESS": DEAD})
        assert result.code == 0 and all(one in result.err for one in CLUSTERS) and self.left(book) == []
        assert "taken back (2 entries ended)" in result.err

    def test_a_name_like_none_has_no_nearest(self, book: Ledger, tmp_path: Path) -> None:
        result = npurun("nodes", "release", "zzz", home=tmp_path)
        assert result.code == 2 and "nearest" not in result.err and "npurun nodes" in result.err


class TestUnfit:
    """An attempt that ended because no node was fit: each finding and what to do are told in words."""

    def unfit(self, job: FakeJob) -> None:
        found = {"severity": "error", "value": "Critical", "limit": "OK", "values": dict(SICK.values)}
        verdicts = [{"id": "NR503", "node": node, **found} for node in ("10.0.0.3", "10.0.0.4")]
        lines = [fitness_line(job.submission_id, doctor.record(doctor.odd_node(3)))]
        lines += [verdict_line(job.submission_id, one) for one in verdicts]
        job.write(("\n".join(lines) + "\n").encode())
        ends(job, "node_unfit", proposals=(), node="10.0.0.3")

    @pytest.mark.parametrize("command", [["logs", "mine"], ["logs", "mine", "-f"], ["status", "mine"]])
    def test_what_and_what_to_do(self, command: list[str], mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
        self.unfit(mine)
        for _ in range(2):  # status: from the cluster, then from the ledger
            result = npurun(*command, home=tmp_path)
            (told,) = [line for line in result.err.splitlines() if line.startswith("NR503: ")]
            assert "10.0.0.3-4 has health Critical" in told and told.endswith(text("NR503.fix", node="-", npu="2.1"))
        chinese = npurun(*command, "--lang", "zh", home=tmp_path)
        assert "NR503：" in chinese.err and not english(chinese.err)
        assert "[npurun] fitness" not in result.out and "[npurun] verdict" not in result.out

    def test_another_reason_is_not_blamed_on_an_earlier_finding(
        self, mine: FakeJob, ray: FakeRay, tmp_path: Path
    ) -> None:
        lines = [verdict_line("mine-a1", {"id": "NR503", "node": "10.0.0.3", "severity": "error", "values": {}})]
        mine.write(("\n".join(lines) + "\n").encode())
        ends(mine, "node_unfit", node="10.0.0.4", evidence=("10.0.0.4: does not answer",))
        told = npurun("logs", "mine", "-f", home=tmp_path).err
        assert "NR503" not in told and "10.0.0.4: does not answer" in told


class TestStatus:
    def test_what_an_attempt_did_without(self, mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
        ends(mine, quarantine=("10.0.0.3", "10.0.0.4"))
        for _ in range(2):  # from the cluster, then from the ledger
            result = npurun("status", "mine", home=tmp_path)
            assert "a1       10.0.0.3  NR503" in result.out and "has health Critical" in result.out
        left_out = npurun("status", "mine", "--json", home=tmp_path).document["attempts"][0]["left_out"]
        assert [(one["node"], one["id"]) for one in left_out] == [("10.0.0.3", "NR503"), ("10.0.0.4", "succeeded")]
        assert not english(npurun("status", "mine", "--lang", "zh", home=tmp_path).out)

    def test_while_it_runs(self, mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
        assert npurun("status", "mine", "--json", home=tmp_path).document["attempts"][0]["left_out"] is None
        verdict = {"id": "NR503", "node": "10.0.0.3", "severity": "error", "value": "Critical", "limit": "OK"}
        verdict["values"] = dict(SICK.values)  # type: ignore[assignment]
        mild = {**verdict, "node": "10.0.0.1", "severity": "warning"}
        lines = [fitness_line("mine-a1", doctor.record(doctor.odd_node(3)))]
        lines += [verdict_line("mine-a1", one) for one in (verdict, mild)]
        mine.write(("\n".join(lines) + "\n").encode())
        (one,) = npurun("status", "mine", "--json", home=tmp_path).document["attempts"][0]["left_out"]
        assert (one["node"], one["id"]) == ("10.0.0.3", "NR503")
        assert "has health Critical" in npurun("status", "mine", home=tmp_path).out

    def test_nothing_left_out_is_no_table(self, mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
        ends(mine, proposals=())
        assert "left out" not in npurun("status", "mine", home=tmp_path).out
        assert npurun("status", "mine", "--json", home=tmp_path).document["attempts"][0]["left_out"] == []


def test_nodes_complete_from_the_ledger(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    assert complete("npurun nodes rel", tmp_path) == ["release"]
    assert complete("npurun nodes release 10", tmp_path) == []
    ends(mine)
    npurun("status", "mine", home=tmp_path)
    assert complete("npurun nodes release 10", tmp_path) == ["10.0.0.3"]
