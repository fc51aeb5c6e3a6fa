"""`list`, `status`, `logs` and `stop`: what is known, what is not, and nothing made up."""

from __future__ import annotations

from typing import Any

import pytest

from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.errors import RunFailedError, UsageError
from submitter.gang.record import End, NodeProof
from submitter.ledger import Ledger
from submitter.supervise import stop as room
from submitter.supervise.inspect import list_runs, newest_attempt, status, whole_log
from submitter.supervise.stop import stop
from tests.support.clock import HandClock
from tests.support.fake_ray import FakeRay, drop, hang, says

EMPTY = {
    "reason": None,
    "first_step": None,
    "last_step": None,
    "resumed_from": None,
    "nodes": None,
    "left_out": None,
    "started": None,
    "ended": None,
}


@pytest.fixture
def client(ray: FakeRay) -> RayClient:
    return RayClient(ray.address, timeout_s=5)


def _note(ledger: Ledger, address: str, run: str = "run", *, posted: bool = True, **changes: Any) -> None:
    values = {"address": address, "spec": "s", "job": "tiny", "total_steps": 6, "body": b"{}", "now_ms": 1_000}
    ledger.record_intent(run=run, attempt=1, submission_id=f"{run}-a1", **{**values, **changes})
    if posted:
        ledger.record_posted(f"{run}-a1", 2_000)


def _proofs(*ips: str) -> bytes:
    lines = [NodeProof("run-a1", ip, "n", "h", {}, {}).line() for ip in ips]
    return ("\n".join(["starting", *lines]) + "\n").encode()


def _nothing(_text_id: str, /, **_values: object) -> None:
    pass


class TestStatus:
    def test_a_running_run(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address)
        steps = b"(TaskRunner pid=1) step:1 - a:1\n(TaskRunner pid=1) step:2 - a:1\nnoise step:9\n"
        steps += b"step:" + b"7" * 5000 + b" - a:1\n"  # a number that Python refuses to read
        ray.add_job("run-a1", log=_proofs("10.0.0.1", "10.0.0.2") + steps)
        found = status("run", ledger, client)
        assert list(found) == ["run", "state", "step", "total_steps", "attempts", "next"]
        assert (found["state"], found["step"], found["total_steps"], found["next"]) == ("running", 2, 6, None)
        (attempt,) = found["attempts"]
        assert set(attempt) == {"id", "state", *EMPTY}
        assert (attempt["id"], attempt["state"], attempt["last_step"]) == ("run-a1", "running", 2)
        assert attempt["nodes"] == ["10.0.0.1", "10.0.0.2"]
        assert (attempt["started"], attempt["ended"]) == (1_700_000_000.0, None)

    def test_what_is_not_known_is_null(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address, total_steps=None)
        ray.add_job("run-a1", log=b"starting\n")
        found = status("run", ledger, client)
        assert (found["step"], found["total_steps"], found["attempts"][0]["nodes"]) == (None, None, None)

    def test_the_total_can_come_from_the_trainers_progress_bar(
        self, ray: FakeRay, client: RayClient, ledger: Ledger
    ) -> None:
        ray.add_job("run-a1", log="Training Progress:  20%|██   | 2/10 [00:01<00:04]\n".encode())
        assert status("run", ledger, client)["total_steps"] == 10

    def test_the_end_is_kept_when_the_cluster_forgets(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address)
        end = End("run-a1", "placement", "not_placed", nodes=("10.0.0.1",))
        job = ray.add_job("run-a1", log=b"step:3 - a:1\n" + end.line().encode() + b"\n")
        job.end("FAILED", code=5, error_type="JOB_ENTRYPOINT_COMMAND_ERROR")
        first = status("run", ledger, client)
        assert first["state"] == "failed"
        (attempt,) = first["attempts"]
        assert (attempt["reason"], attempt["nodes"]) == ("not_placed", ["10.0.0.1"])
        assert attempt["ended"] == 1_700_000_060.0
        ray.jobs.clear()
        requests = len(ray.requests)
        (kept,) = status("run", ledger, client)["attempts"]
        assert {**kept, "last_step": 3} == attempt
        assert len(ray.requests) == requests  # an ended run needs no cluster

    def test_a_killed_drivers_nodes_come_from_its_proofs_and_are_kept(
        self, ray: FakeRay, client: RayClient, ledger: Ledger
    ) -> None:
        _note(ledger, ray.address)
        job = ray.add_job("run-a1", log=_proofs("10.0.0.1", "10.0.0.2") + b"noise\n" * 300)
        job.end("FAILED", code=137, error_type="JOB_ENTRYPOINT_COMMAND_ERROR")
        (attempt,) = status("run", ledger, client)["attempts"]
        assert attempt["nodes"] == ["10.0.0.1", "10.0.0.2"]
        ray.jobs.clear()
        assert status("run", ledger, client)["attempts"] == [attempt]

    def test_an_end_whose_log_cannot_be_read_is_not_kept(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address)
        end = End("run-a1", "training", "node_lost", nodes=("10.0.0.1",))
        job = ray.add_job("run-a1", log=end.line().encode() + b"\n")
        job.end("FAILED", error_type="JOB_ENTRYPOINT_COMMAND_ERROR")
        ray.fail_next("GET", "/api/v0/logs/file", says(500, "no"))
        assert status("run", ledger, client)["attempts"][0]["reason"] == "job_entrypoint_command_error"
        assert status("run", ledger, client)["attempts"][0]["reason"] == "node_lost"

    def test_a_run_of_another_machine(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        ray.add_job("run-a1").end("FAILED")
        ray.add_job("run-a2")
        found = status("run", ledger, client)
        assert [(row["id"], row["state"]) for row in found["attempts"]] == [("run-a1", "failed"), ("run-a2", "running")]
        assert found["state"] == "running"

    def test_an_intent_that_never_arrived_is_unknown(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address, posted=False)
        found = status("run", ledger, client)
        assert (found["state"], found["attempts"]) == ("unknown", [{"id": "run-a1", "state": "unknown", **EMPTY}])

    def test_a_cluster_that_is_away_is_no_failure(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address)
        ray.fail_next("GET", "/api/jobs/run-a1", drop)
        with pytest.raises(RayError):
            status("run", ledger, client)

    def test_the_runs_own_cluster_is_asked_unless_an_address_was_given(
        self, ray: FakeRay, client: RayClient, ledger: Ledger
    ) -> None:
        _note(ledger, ray.address)
        ray.add_job("run-a1")
        with FakeRay() as other:
            assert status("run", ledger, RayClient(other.address))["state"] == "running"
            assert status("run", ledger, RayClient(other.address, explicit=True))["state"] == "unknown"

    def test_an_unknown_run_gets_the_nearest_name(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address, "qwen-12ab")
        ray.add_job("llama-99zz-a1", metadata={"npurun_run": "llama-99zz"})
        for asked, nearest in [("qwen-12abc", "qwen-12ab"), ("llama-99z", "llama-99zz")]:
            with pytest.raises(UsageError) as caught:
                status(asked, ledger, client)
            assert caught.value.values["nearest"] == nearest

    @pytest.mark.parametrize("hostile", ["a/b", "../x", "a b", "x'; echo", ""])
    def test_hostile_names(self, ray: FakeRay, client: RayClient, ledger: Ledger, hostile: str) -> None:
        with pytest.raises(UsageError):
            status(hostile, ledger, client)
        assert ray.requests == []


class TestList:
    def test_this_machines_runs_and_the_clusters(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address, "mine", now_ms=2_000)
        _note(ledger, ray.address, "lost", now_ms=1_000)
        ray.add_job("mine-a1", metadata={"npurun_run": "mine"})
        metadata = {"npurun_run": "other", "npurun_job": "big", "npurun_attempt": "2"}
        ray.add_job("other-a2", metadata=metadata)
        ray.add_job("other-a1", "FAILED", metadata={**metadata, "npurun_attempt": "1"})
        ray.add_job("no-npurun", "FAILED")
        rows = list_runs(ledger, client)
        assert [(row["run"], row["job"], row["state"], row["submitted_here"]) for row in rows] == [
            ("other", "big", "running", False),
            ("mine", "tiny", "running", True),
            ("lost", "tiny", "unknown", True),
        ]
        assert rows[1]["started"] == 2.0 and rows[1]["address"] == ray.address

    def test_a_cluster_that_is_away_makes_its_runs_unknown(
        self, ray: FakeRay, client: RayClient, ledger: Ledger
    ) -> None:
        _note(ledger, "http://127.0.0.1:9", "far")
        _note(ledger, "http://127.0.0.1:9", "ended")
        ledger.record_end("ended-a1", state="FAILED", reason=None, end=None, started_ms=1, ended_ms=2)
        _note(ledger, ray.address, "near")
        ray.add_job("near-a1", "SUCCEEDED")
        states = {row["run"]: row["state"] for row in list_runs(ledger, client)}
        assert states == {"far": "unknown", "near": "succeeded", "ended": "failed"}

    @pytest.mark.parametrize("explicit", [False, True])
    def test_an_empty_ledger_and_no_answer_do_not_mean_that_there_are_no_runs(
        self, ledger: Ledger, explicit: bool
    ) -> None:
        with pytest.raises(RayError):
            list_runs(ledger, RayClient("http://127.0.0.1:9", explicit=explicit))

    def test_what_the_ledger_has_is_listed_unless_the_address_that_was_given_is_away(self, ledger: Ledger) -> None:
        _note(ledger, "http://127.0.0.1:9")
        away = RayClient("http://127.0.0.1:7")
        assert [row["state"] for row in list_runs(ledger, away)] == ["unknown"]
        with pytest.raises(RayError):
            list_runs(ledger, RayClient("http://127.0.0.1:7", explicit=True))

    def test_the_default_address_is_named_as_away_when_a_run_is_there(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        default = "http://127.0.0.1:9"
        monkeypatch.setattr("submitter.supervise.inspect.DEFAULT_ADDRESS", default)
        _note(ledger, default)
        told: list[str] = []
        rows = list_runs(ledger, RayClient(default), tell=lambda text_id, **values: told.append(str(values["error"])))
        assert [row["state"] for row in rows] == ["unknown"]
        assert len(told) == 1 and default in told[0]

    @pytest.mark.parametrize("answer", ["[1, 2]", "[[]]", "{}", "null"])
    def test_who_does_not_answer_as_ray_does_is_away(
        self, ray: FakeRay, client: RayClient, ledger: Ledger, answer: str
    ) -> None:
        ray.fail_next("GET", "/api/jobs/", *[says(200, answer)] * 2)
        with pytest.raises(RayError) as caught:
            list_runs(ledger, client)
        assert caught.value.text_id == "cluster.not_ray"
        _note(ledger, ray.address)
        assert [row["state"] for row in list_runs(ledger, client)] == ["unknown"]


class TestLogs:
    def test_the_newest_attempt_and_its_whole_log(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        ray.add_job("run-a1", "FAILED")
        ray.add_job("run-a2", log="一\r\ntwo \xff\n\nlast".encode() + b"\xff")
        there, submission_id = newest_attempt("run", ledger, client)
        assert submission_id == "run-a2"
        assert list(whole_log(there, submission_id)) == ["一", "two ÿ", "", "last�"]

    def test_a_run_that_is_nowhere_any_more(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        _note(ledger, ray.address)
        with pytest.raises(UsageError) as caught:
            newest_attempt("run", ledger, client)
        assert caught.value.text_id == "run.not_on_cluster"


class TestStop:
    @staticmethod
    def _stop(ledger: Ledger, client: RayClient, clock: HandClock, tell: Any = _nothing) -> dict[str, Any]:
        return stop("run", ledger, client, tell=tell, care=bool, clock=clock, sleep=clock.sleep)

    def test_a_running_run(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        ray.add_job("run-a1", "FAILED")
        ray.add_job("run-a2")
        assert self._stop(ledger, client, HandClock()) == {
            "run": "run",
            "submission_id": "run-a2",
            "state": "stopped",
        }
        assert (ray.jobs["run-a1"].stops, ray.jobs["run-a2"].stops) == (0, 1)

    def test_one_that_has_ended(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        ray.add_job("run-a1", "SUCCEEDED")
        told: list[str] = []
        found = self._stop(ledger, client, HandClock(), lambda text_id, **_: told.append(text_id))
        assert found["state"] == "succeeded" and told == ["stop.ended_before"]
        assert ray.jobs["run-a1"].stops == 0

    def test_a_pending_one_is_stopped_when_it_runs(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        job = ray.add_job("run-a1", "PENDING")
        told: list[str] = []

        class Clock(HandClock):
            def sleep(self, seconds: float) -> None:
                super().sleep(seconds)
                if self.now > 60 and job.status == "PENDING":
                    job.status = "RUNNING"

        clock = Clock()
        found = self._stop(ledger, client, clock, lambda text_id, **_: told.append(text_id))
        assert found["state"] == "stopped" and clock.now < 70
        assert told[0] == "stop.pending" and "stop.waiting" in told
        assert 10 <= job.stops <= 16

    @pytest.mark.parametrize(("state", "bound"), [("PENDING", room.PENDING_BOUND_S), ("RUNNING", room.RUNNING_BOUND_S)])
    def test_the_wait_is_bounded(
        self, ray: FakeRay, client: RayClient, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, state: str, bound: float
    ) -> None:
        job = ray.add_job("run-a1", state)
        monkeypatch.setattr(job, "end", lambda *_a, **_k: None)  # deaf
        clock = HandClock()
        with pytest.raises(RunFailedError) as caught:
            self._stop(ledger, client, clock)
        assert caught.value.text_id == "stop.not_in_time"
        assert bound <= clock.now <= bound + 5

    def test_a_cluster_that_drops_out_for_a_moment(self, ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
        ray.add_job("run-a1")
        ray.fail_next("POST", "/api/jobs/run-a1/stop", drop)
        ray.fail_next("GET", "/api/jobs/run-a1$", lambda _handler, answer: answer(), drop, drop)
        assert self._stop(ledger, client, HandClock())["state"] == "stopped"

    def test_a_supervised_one_that_begins_late_has_the_whole_time_of_a_running_one(
        self, ray: FakeRay, client: RayClient, ledger: Ledger
    ) -> None:
        _note(ledger, ray.address, supervised=True)
        ledger.record_posted("run-a1", 1)
        clock = HandClock()

        def pass_by(seconds: float) -> None:
            clock.sleep(seconds)
            state = "PENDING" if clock.now < room.PENDING_BOUND_S - 10 else "RUNNING"
            ledger.observe("run-a1", state=state, last_step=None, log_bytes=None, now_ms=1)
            if clock.now > room.PENDING_BOUND_S + 200:
                ledger.end_run("run", "stopped", "stopped", 2)

        found = stop("run", ledger, client, tell=_nothing, care=bool, clock=clock, sleep=lambda _s: pass_by(5))
        assert found["state"] == "stopped"

    def test_a_hung_cluster_does_not_hang_the_stop(self, ray: FakeRay, ledger: Ledger) -> None:
        ray.add_job("run-a1")
        ray.fail_next("GET", "/api/jobs/run-a1$", hang)
        with pytest.raises(RayError):
            self._stop(ledger, RayClient(ray.address, timeout_s=0.2), HandClock())
