"""The doctor against a fake Ray: one job of its own, followed within bounds, told in one line when it fails."""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from runtime_env.stacks import stack
from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.errors import NpurunError, RunFailedError, UnreachableError, UsageError
from submitter.exit_codes import ExitCode
from submitter.gang.fence import split
from submitter.gang.plan import Plan
from submitter.gang.record import End
from submitter.job.model import Job
from submitter.ledger import Ledger
from submitter.supervise import doctor as room
from submitter.supervise.doctor import Examination, InterruptedDoctorError, examine
from submitter.supervise.inspect import list_runs
from submitter.supervise.node_findings import why_of
from submitter.texts import Phrase
from tests.support import doctor, fake_ray
from tests.support.builders import job as build_job
from tests.support.clock import HandClock
from tests.support.fake_ray import FakeRay, drop, says, takes_effect_then

ATTEMPT = re.compile(r"doctor-[a-z0-9]{8}-a1")
HEALTHY = [doctor.a3_node(number) for number in range(1, 5)]
ODD = [*HEALTHY[:2], doctor.odd_node(3), HEALTHY[3]]


class Said(list[tuple[str, dict[str, object]]]):
    def __call__(self, text_id: str, /, **values: object) -> None:
        self.append((text_id, values))

    @property
    def ids(self) -> list[str]:
        return [text_id for text_id, _ in self]


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


class Run:
    """`examine` with a hand clock; `at[n]` happens when it has slept n times."""

    def __init__(self, ray: FakeRay, clock: HandClock) -> None:
        self.ray, self.clock, self.said = ray, clock, Said()
        self.at: dict[int, Callable[[], None]] = {}
        self.slept = 0
        self.client = RayClient(ray.address, timeout_s=5)

    def __call__(self, job: Job | None = None, **settings: Any) -> Examination:
        tools = {"tell": self.said, "clock": self.clock, "sleep": self.sleep, "rng": random.Random(1)}
        return examine(job, self.client, **{**tools, **settings})

    def sleep(self, seconds: float) -> None:
        self.slept += 1
        self.at.get(self.slept, lambda: None)()
        self.clock.sleep(seconds)

    @property
    def job(self) -> fake_ray.FakeJob:
        return next(iter(self.ray.jobs.values()))

    def ends(self, nodes: list[Any], status: str = "SUCCEEDED") -> Callable[[], None]:
        def end() -> None:
            self.job.write(doctor.log(self.job.submission_id, nodes))
            self.job.end(status, code=0)

        return end


@pytest.fixture
def run(ray: FakeRay, clock: HandClock) -> Run:
    return Run(ray, clock)


def plan_of(ray: FakeRay) -> Plan:
    (body,) = ray.posts()
    package = ray.packages[body["runtime_env"]["py_modules"][0].removeprefix("gcs://")]
    return Plan.from_json(zipfile.ZipFile(BytesIO(package)).read("npurun_gang/plan.json").decode())


def test_a_job_of_its_own_that_is_no_run(ray: FakeRay, run: Run, ledger: Ledger) -> None:
    run.at[1] = run.ends(ODD)
    found = run()
    (body,) = ray.posts()
    identity = body["submission_id"]
    assert ATTEMPT.fullmatch(identity) and split(identity) == (identity.removesuffix("-a1"), 1)
    env = body["runtime_env"]["env_vars"]
    assert (env["NPURUN_RUN"], env["NPURUN_ATTEMPT"]) == (identity.removesuffix("-a1"), identity)
    assert body["entrypoint_label_selector"] == {"ray.io/node-id": fake_ray.HEAD_ID}
    assert "working_dir" not in body["runtime_env"]
    plan = plan_of(ray)
    assert (plan.task, plan.wish.npus_per_node, plan.command) == ("doctor", None, ())
    assert list_runs(ledger, run.client) == []
    assert [node["ip"] for node in found.nodes] == [doctor.ip(number) for number in range(1, 5)]
    assert {one.place.node for one in found.findings if one.severity == "error"} == {"10.0.0.3"}
    assert found.findings[0].id == "NR503"


def test_the_job_brings_its_flags_its_folder_and_its_wishes(ray: FakeRay, run: Run, tmp_path: Path) -> None:
    (tmp_path / "reward.py").write_text("x = 1\n")
    job = build_job(
        flags={"HCCL_BUFFSIZE": "200"},
        secrets={"WANDB_API_KEY": ("file", "/etc/keys/wandb")},
        groups={"model": {"actor_rollout_ref.model.path": "/models/m"}},
        working_dir=str(tmp_path),
    )
    run.at[1] = run.ends(HEALTHY)
    run(job)
    (body,) = ray.posts()
    assert body["runtime_env"]["env_vars"]["HCCL_BUFFSIZE"] == "200"
    names = zipfile.ZipFile(BytesIO(ray.packages[body["runtime_env"]["working_dir"].removeprefix("gcs://")])).namelist()
    assert "reward.py" in names
    plan = plan_of(ray)
    assert (plan.task, plan.wish.npus_per_node, plan.wish.model, plan.command) == ("doctor", 16, "/models/m", ())


def test_a_stack_alone_is_compared_with_the_nodes(ray: FakeRay, run: Run) -> None:
    run.at[1] = run.ends(HEALTHY)
    run(stack=stack("cann-9.0.0"))
    wish = plan_of(ray).wish
    assert wish.stack["cann"] == "9.0.0" and wish.npus_per_node is None


def test_why_a_probe_could_not_look_is_counted_once_per_reason(run: Run) -> None:
    nodes = [*HEALTHY[:3], doctor.a3_node(4, npus="npu-smi did not answer within 7.5 s")]
    run.at[1] = run.ends(nodes)
    found = {(one.probe, one.why): one.nodes for one in run().not_measured}
    assert found["hccn", doctor.NO_HCCN] == tuple(doctor.ip(number) for number in range(1, 5))
    assert found["npus", "npu-smi did not answer within 7.5 s"] == ("10.0.0.4",)


def test_the_nodes_words_are_translated_where_they_are_known() -> None:
    assert why_of("npu-smi did not answer within 7.5 s") == Phrase("doctor.why.npu_smi_slow", {"seconds": "7.5"})
    assert why_of(doctor.NO_HCCN) == Phrase("doctor.why.no_hccn", {"file": "/etc/hccn.conf"})
    assert why_of("OSError: {strange} (") == "OSError: {strange} ("


def test_every_plain_reason_in_the_gang_has_a_translation() -> None:
    folder = Path(room.__file__).parents[1] / "gang" / "probes"
    sources = "\n".join(path.read_text() for path in folder.glob("*.py"))
    plain = re.findall(r'NotMeasuredError\("([^"]+)"\)', sources)
    assert len(plain) >= 3
    assert [reason for reason in plain if not isinstance(why_of(reason), Phrase)] == []


def test_what_is_waited_for_is_named(run: Run, ray: FakeRay) -> None:
    ray.start_as = "PENDING"

    def starts() -> None:
        run.job.status = "RUNNING"
        run.job.write(b"[npurun] driver of it\n")

    run.at[40], run.at[80] = starts, run.ends(HEALTHY)
    run()
    assert run.said.ids == ["submit.uploading", "doctor.looking", "doctor.starting", "doctor.waiting"]
    assert run.said[-1][1]["said"] == "[npurun] driver of it"


def refused(run: Run, job: Job | None = None) -> NpurunError:
    with pytest.raises(NpurunError) as caught:
        run(job)
    for language in ("en", "zh"):
        assert "\n" not in caught.value.render(language)
    return caught.value


def test_a_driver_that_ray_does_not_start_is_given_up(run: Run, ray: FakeRay) -> None:
    ray.start_as = "PENDING"
    error = refused(run)
    assert isinstance(error, RunFailedError) and error.text_id == "doctor.not_started"
    assert run.clock.now - room.STOP_BOUND_S <= room.START_BOUND_S + 5
    assert run.job.stops  # asked, as far as Ray does it


def test_packages_of_the_user_may_take_longer(run: Run, ray: FakeRay) -> None:
    ray.start_as = "PENDING"
    run.at[int(room.START_BOUND_S / room.POLL_S) + 20] = run.ends(HEALTHY)
    assert len(run(build_job(pip=["numpy"])).nodes) == 4


def test_a_driver_that_does_not_end_is_stopped(run: Run) -> None:
    error = refused(run)
    assert (error.text_id, error.exit_code) == ("doctor.not_in_time", ExitCode.RUN_FAILED)
    assert run.job.status == "STOPPED"


@pytest.mark.parametrize(
    ("log", "fields", "told"),
    [
        (b"", {"error_type": "RUNTIME_ENV_SETUP_FAILURE", "message": "no space left\nmore"}, "no space left"),
        (b"Traceback\nImportError: no ray here\n", {"code": 1, "error_type": "JOB_ENTRYPOINT"}, "no ray here"),
        (b"END", {"code": 1, "error_type": "JOB_ENTRYPOINT"}, "ray.init failed"),
    ],
)
def test_a_driver_that_fails_is_told_in_one_line(log: bytes, fields: dict[str, Any], told: str, run: Run) -> None:
    def fails() -> None:
        end = End(run.job.submission_id, "start", "driver_error", evidence=("ray.init failed",))
        run.job.write(log.replace(b"END", f"{end.line()}\n".encode()))
        run.job.end("FAILED", **fields)

    run.at[1] = fails
    error = refused(run)
    assert error.text_id == "doctor.failed" and told in str(error)


def test_an_end_without_a_record_is_no_success(run: Run) -> None:
    run.at[1] = lambda: run.job.end("SUCCEEDED", code=0)
    assert refused(run).text_id == "doctor.failed"


def test_an_old_ray_is_refused_before_anything_is_posted(ray: FakeRay, run: Run) -> None:
    ray.version = "2.9.0"
    error = refused(run)
    assert isinstance(error, UsageError) and "2.9.0" in str(error) and ray.posts() == []


def test_a_cluster_that_drops_out_is_waited_for(run: Run, ray: FakeRay) -> None:
    run.at[1] = lambda: ray.fail_next("GET", "/api/jobs/", drop, drop, drop)
    run.at[8] = run.ends(HEALTHY)
    assert len(run().nodes) == 4
    assert run.said.ids.count("doctor.away") == 1


def test_a_cluster_that_stays_away_ends_the_waiting(run: Run, ray: FakeRay) -> None:
    run.at[1] = lambda: ray.__exit__()
    error = refused(run)
    assert isinstance(error, UnreachableError) and error.text_id == "doctor.lost"


def test_a_token_that_is_no_longer_taken_is_told_at_once(run: Run, ray: FakeRay) -> None:
    run.at[1] = lambda: ray.fail_next("GET", "/api/jobs/", says(403, "Forbidden"))
    assert isinstance(refused(run), RayError) and run.slept == 1


def test_a_post_in_doubt_is_not_repeated(run: Run, ray: FakeRay) -> None:
    ray.fail_next("POST", "/api/jobs/", takes_effect_then(drop))
    run.at[1] = run.ends(HEALTHY)
    assert len(run().nodes) == 4 and len(ray.posts()) == 1


def test_a_post_that_never_arrived_is_told_by_its_own_error(run: Run, ray: FakeRay) -> None:
    ray.fail_next("POST", "/api/jobs/", says(500, "ValueError: no agent on the head"))
    error = refused(run)
    assert isinstance(error, RayError) and "no agent" in str(error) and run.clock.now < 2 * room.DOUBT_S


def test_ctrl_c_stops_the_ray_job(run: Run, ray: FakeRay) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    run.at[2] = interrupt
    error = refused(run)
    assert isinstance(error, InterruptedDoctorError) and error.exit_code is ExitCode.INTERRUPTED
    assert run.job.status == "STOPPED" and len(ray.jobs) == 1


def test_ctrl_c_before_ray_has_started_it_says_no_more_than_it_knows(run: Run, ray: FakeRay) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    ray.start_as = "PENDING"
    run.at[2] = interrupt
    error = refused(run)
    assert error.text_id == "doctor.interrupted_going" and run.clock.now < 2 * room.STOP_BOUND_S


def test_lines_of_others_are_not_taken_for_records(run: Run) -> None:
    def ends() -> None:
        other = doctor.log("doctor-00000000-a1", ODD).replace(b"succeeded", b"driver_error")
        broken = b'[npurun] fitness {"attempt": 7}\n[npurun] verdict []\n[npurun] fitness {' + b"[" * 5000 + b"\n"
        run.job.write(other + broken)
        run.ends(HEALTHY)()

    run.at[1] = ends
    found = run()
    assert len(found.nodes) == 4 and [one for one in found.findings if one.severity == "error"] == []


def test_findings_come_errors_first_then_by_node(run: Run) -> None:
    nodes = [doctor.a3_node(1, limits={"files": 1024}), doctor.odd_node(2), HEALTHY[2], doctor.odd_node(4)]
    run.at[1] = run.ends(nodes)
    order = [(one.severity, one.place.node) for one in run().findings if one.id in ("NR503", "NR534")]
    assert order == [("error", "10.0.0.2"), ("error", "10.0.0.4"), ("warning", "10.0.0.1")]


def test_the_request_has_no_value_of_a_secret(ray: FakeRay, run: Run) -> None:
    run.at[1] = run.ends(HEALTHY)
    run(build_job(secrets={"KEY": ("env", "KEY_OF_NODE")}))
    assert json.loads(ray.posts()[0]["runtime_env"]["env_vars"]["NPURUN_SECRETS"]) == {"KEY": {"env": "KEY_OF_NODE"}}
    assert plan_of(ray).secrets == {}
