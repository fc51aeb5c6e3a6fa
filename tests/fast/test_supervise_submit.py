"""One submission, exactly once: names, adoption, doubt, and what is on disk when the POST goes out."""

from __future__ import annotations

import json
import random
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime_env.ids import check_run
from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.errors import UnreachableError, UsageError
from submitter.job.model import Job
from submitter.ledger import Ledger
from submitter.supervise.submit import Submission, mint_run, submit, total_steps
from submitter.texts import text
from tests.support import fake_ray
from tests.support.builders import job as build_job
from tests.support.builders import number
from tests.support.fake_ray import FakeRay, says, takes_effect_after, takes_effect_then

HASTY_S = 0.4
JOB = build_job(flags={"VLLM_USE_V1": "1"})


@pytest.fixture
def client(ray: FakeRay) -> RayClient:
    return RayClient(ray.address)


@pytest.fixture
def hasty(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> RayClient:
    """Waits for no answer to a POST for long."""
    client = RayClient(ray.address)
    monkeypatch.setattr(client, "post_job", RayClient(ray.address, timeout_s=HASTY_S).post_job)
    monkeypatch.setattr("submitter.cluster.client.POST_TIMEOUT_S", HASTY_S)
    return client


class Said(list[tuple[str, dict[str, object]]]):
    def __call__(self, text_id: str, /, **values: object) -> None:
        self.append((text_id, values))

    @property
    def ids(self) -> list[str]:
        return [text_id for text_id, _ in self]


def _submit(client: RayClient, ledger: Ledger, job: Job = JOB, run: str | None = None, **changes: Any) -> Submission:
    settings = {"tell": Said(), "clock": lambda: 1000.0, "rng": random.Random(1), "sleep": lambda _s: None}
    return submit(job, client, ledger, run=run, **{**settings, **changes})


def test_a_submission_and_what_it_leaves_behind(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    said = Said()
    made = _submit(client, ledger, tell=said)
    assert re.fullmatch(r"tiny-[a-z0-9]{8}", made.run)
    assert made == Submission(made.run, 1, f"{made.run}-a1", adopted=False)
    (body,) = ray.posts()
    assert body["submission_id"] == made.submission_id
    assert body["entrypoint_label_selector"] == {"ray.io/node-id": fake_ray.HEAD_ID}
    assert body["metadata"]["npurun_run"] == made.run
    assert [f"gcs://{name}" for name in ray.packages] == body["runtime_env"]["py_modules"]
    assert said.ids == ["submit.uploading"]
    assert len(text("submit.uploading", **said[0][1])) <= 80
    noted, (attempt,) = ledger.run(made.run), ledger.attempts(made.run)
    assert noted is not None and noted.spec == body["metadata"]["npurun_spec"]
    assert json.loads(attempt.body) == body
    assert attempt.posted_ms == 1_000_000


def test_what_is_written_down_is_byte_for_byte_what_is_posted(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    made = _submit(client, ledger)
    (posted,) = [body for method, path, _, body in ray.requests if (method, path) == ("POST", "/api/jobs/")]
    assert posted.decode() == ledger.attempts(made.run)[0].body


def test_the_intent_is_on_disk_before_the_post(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    seen: list[list[str]] = []

    def look(_handler: Any, answer: Any) -> None:
        seen.append(list(Ledger(ledger.path.parent).runs()))
        answer()

    ray.fail_next("POST", "/api/jobs/", look)
    made = _submit(client, ledger)
    assert seen == [[made.run]]


def test_no_post_when_the_ledger_cannot_be_written(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    ledger._database.connection.execute("PRAGMA query_only = 1")
    with pytest.raises(UsageError) as caught:
        _submit(client, ledger)
    assert caught.value.text_id == "ledger.readonly"
    assert ray.posts() == []


def test_packages_that_are_there_are_not_sent_again(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    for _ in range(2):
        _submit(client, ledger, rng=random.Random())
    assert len([path for method, path, _, _ in ray.requests if method == "PUT"]) == 1


def test_the_working_dir_travels_too(ray: FakeRay, client: RayClient, ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "my code"
    folder.mkdir()
    (folder / "reward.py").write_text("x = 1")
    _submit(client, ledger, build_job(working_dir=str(folder)))
    (body,) = ray.posts()
    assert body["runtime_env"]["working_dir"].removeprefix("gcs://") in ray.packages
    assert len(ray.packages) == 2


@pytest.mark.parametrize("run", ["a/b", "A", "a b", "", "-a", "a" * 58, "x'; echo $y", "a\n"])
def test_bad_names_are_refused_before_anything_is_asked(
    ray: FakeRay, client: RayClient, ledger: Ledger, run: str
) -> None:
    with pytest.raises(UsageError):
        _submit(client, ledger, run=run)
    assert ray.requests == [] and list(ledger.runs()) == []


@given(name=st.text(min_size=1, max_size=80), seed=st.integers())
def test_minted_names_are_always_good(name: str, seed: int) -> None:
    run = mint_run(name, random.Random(seed))
    assert check_run(run) == run and re.search(r"-[a-z0-9]{8}$", run)


def test_minted_names_keep_the_jobs() -> None:
    assert mint_run("qwen3_5_122b_a10b_32k", random.Random(1)).startswith("qwen3-5-122b-a10b-32k-")
    assert len(mint_run("x" * 100, random.Random(1))) == 57


def test_a_live_run_with_the_same_spec_is_adopted(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    first = _submit(client, ledger, run="mine")
    assert _submit(client, ledger, run="mine") == Submission("mine", 1, "mine-a1", adopted=True)
    assert not first.adopted and len(ray.posts()) == 1
    # Also from another machine, whose ledger knows nothing, and after the head has moved.
    ray.nodes = [fake_ray.head_row("c" * 56)]
    other = Ledger(ledger.path.parent.parent / "other")
    assert _submit(client, other, run="mine").adopted
    assert len(ray.posts()) == 1


def test_a_live_run_with_another_spec_is_refused_with_both(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    _submit(client, ledger, run="mine")
    with pytest.raises(UsageError) as caught:
        _submit(client, ledger, build_job(flags={"VLLM_USE_V1": "0"}), run="mine")
    assert caught.value.text_id == "submit.other_spec"
    assert ray.posts()[0]["metadata"]["npurun_spec"][:12] in str(caught.value)
    assert caught.value.values["there"] != caught.value.values["here"]
    assert len(ray.posts()) == 1


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED", "STOPPED"])
def test_the_name_of_an_ended_run_is_refused(ray: FakeRay, client: RayClient, ledger: Ledger, status: str) -> None:
    _submit(client, ledger, run="mine")
    ray.jobs["mine-a1"].end(status)
    with pytest.raises(UsageError) as caught:
        _submit(client, ledger, run="mine")
    assert caught.value.text_id == "submit.run_ended"
    # Ray forgets when its head goes; the ledger does not.
    ledger.record_end("mine-a1", state=status, reason=None, end=None, started_ms=1, ended_ms=2)
    del ray.jobs["mine-a1"]
    with pytest.raises(UsageError) as caught:
        _submit(client, ledger, run="mine")
    assert caught.value.text_id == "submit.run_ended"
    assert len(ray.posts()) == 1


def test_the_newest_attempt_counts(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    _submit(client, ledger, run="mine")
    spec = ray.jobs["mine-a1"].metadata
    ray.jobs["mine-a1"].end("FAILED")
    ray.add_job("mine-a2", metadata=spec)
    assert _submit(client, ledger, run="mine") == Submission("mine", 2, "mine-a2", adopted=True)


def test_a_run_that_the_cluster_has_lost_is_refused(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    _submit(client, ledger, run="mine")
    ray.jobs.clear()
    with pytest.raises(UsageError) as caught:
        _submit(client, ledger, run="mine")
    assert caught.value.text_id == "submit.run_forgotten"


@pytest.mark.parametrize("first_was_posted", [True, False])
def test_between_the_supervisors_intent_and_its_post_nothing_is_posted_anew(
    ray: FakeRay, client: RayClient, ledger: Ledger, first_was_posted: bool
) -> None:
    """Nor where the cluster has forgotten everything: the first id would be free again."""
    _submit(client, ledger, run="mine", supervised=True)
    noted = ledger.run("mine")
    assert noted is not None
    if not first_was_posted:
        ledger._database.connection.execute("UPDATE attempts SET posted_ms = NULL")
    ledger.record_end("mine-a1", state="LOST", reason="cluster_lost", end=None, started_ms=1, ended_ms=2)
    intent = {"address": noted.address, "spec": noted.spec, "job": "j", "total_steps": None, "body": b"{}"}
    ledger.record_intent(run="mine", attempt=2, submission_id="mine-a2", now_ms=3, supervised=True, **intent)
    ray.jobs.clear()
    assert _submit(client, ledger, run="mine") == Submission("mine", 1, "mine-a1", adopted=True)
    assert len(ray.posts()) == 1
    posted = [one.posted_ms is not None for one in ledger.attempts("mine")]
    assert posted == [first_was_posted, False]


def test_a_run_of_another_cluster_is_refused(client: RayClient, ledger: Ledger) -> None:
    _submit(client, ledger, run="mine")
    with FakeRay() as other, pytest.raises(UsageError) as caught:
        _submit(RayClient(other.address), ledger, run="mine")
    assert caught.value.text_id == "submit.run_elsewhere"
    assert client.address in str(caught.value)


def test_a_crash_before_the_post_is_made_good_by_the_same_name(
    ray: FakeRay, client: RayClient, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("submitter.supervise.submit.post", _crash)
        with pytest.raises(KeyboardInterrupt):
            _submit(client, ledger, run="mine")
    assert list(ledger.runs()) == ["mine"] and ray.posts() == []
    assert not _submit(client, ledger, run="mine").adopted
    assert len(ray.posts()) == 1


def _crash(*_args: object, **_kw: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("fault", [fake_ray.hang, fake_ray.drop, fake_ray.truncated, says(500, "oops"), fake_ray.html])
def test_a_post_that_took_effect_without_an_answer_is_found(
    ray: FakeRay, hasty: RayClient, ledger: Ledger, fault: fake_ray.Fault
) -> None:
    ray.fail_next("POST", "/api/jobs/", takes_effect_then(fault))
    said = Said()
    made = _submit(hasty, ledger, tell=said)
    assert made.adopted and list(ray.jobs) == [made.submission_id]
    assert "submit.looking" in said.ids
    assert ledger.attempts(made.run)[0].posted_ms is not None


@pytest.mark.parametrize("fault", [fake_ray.hang, fake_ray.drop, says(500, "No available agent to submit job")])
def test_a_post_that_took_no_effect_is_repeated_under_the_same_id(
    ray: FakeRay, hasty: RayClient, ledger: Ledger, fault: fake_ray.Fault
) -> None:
    ray.fail_next("POST", "/api/jobs/", fault)
    made = _submit(hasty, ledger)
    assert list(ray.jobs) == [made.submission_id]
    assert {body["submission_id"] for body in ray.posts()} == {made.submission_id}


def test_a_slow_post_that_arrives_during_the_repetition_is_one_submission(
    ray: FakeRay, client: RayClient, ledger: Ledger
) -> None:
    arrive = threading.Event()
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:  # all looks but one were in vain
            arrive.set()
            while not ray.jobs:
                ray.closing.wait(0.01)

    ray.fail_next("POST", "/api/jobs/", takes_effect_after(arrive, fake_ray.drop))
    made = _submit(client, ledger, sleep=sleep)
    assert made.adopted and list(ray.jobs) == [made.submission_id] and len(ray.posts()) == 1


def test_a_duplicate_of_something_else_is_refused(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    taken = mint_run(JOB.name, random.Random(1))
    ray.add_job(f"{taken}-a1", metadata={"npurun_spec": "f" * 64})
    with pytest.raises(UsageError) as caught:
        _submit(client, ledger)
    assert caught.value.text_id == "submit.other_spec" and "ffffffffffff" in str(caught.value)
    assert list(ledger.runs()) == []  # it is somebody else's


def test_a_refusal_withdraws_no_intent_but_its_own(
    ray: FakeRay, client: RayClient, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first POST is in doubt: it may still arrive, and its intent has to be there then."""
    monkeypatch.setattr("submitter.supervise.post.LOOK_AFTER_S", (0.0,))
    ray.fail_next("POST", "/api/jobs/", *[fake_ray.drop] * 3)
    with pytest.raises(UnreachableError):
        _submit(client, ledger, run="mine")
    ray.fail_next("POST", "/api/jobs/", says(401, "Unauthorized"))
    with pytest.raises(RayError):
        _submit(client, ledger, run="mine", clock=lambda: 2000.0)
    assert list(ledger.runs()) == ["mine"]


def test_doubt_that_stays_is_told_with_the_way_out(ray: FakeRay, client: RayClient, ledger: Ledger) -> None:
    ray.fail_next("POST", "/api/jobs/", takes_effect_then(fake_ray.drop))
    ray.fail_next(
        "GET", "/api/jobs/mine-a1", says(404, "Job mine-a1 does not exist"), says(404, "Job mine-a1 does not exist")
    )
    ray.fail_next("GET", "/api/jobs/mine-a1", *[fake_ray.drop] * 40)
    ray.fail_next("POST", "/api/jobs/", *[fake_ray.drop] * 2)
    with pytest.raises(UnreachableError) as caught:
        _submit(client, ledger, run="mine")
    assert caught.value.text_id == "submit.in_doubt" and "--run mine" in str(caught.value)
    ray._faults.clear()
    assert _submit(client, ledger, run="mine").adopted
    assert list(ray.jobs) == ["mine-a1"]
    # From now on it is known to have arrived: when Ray forgets it, it is not posted a second time.
    ray.jobs.clear()
    with pytest.raises(UsageError) as forgotten:
        _submit(client, ledger, run="mine")
    assert forgotten.value.text_id == "submit.run_forgotten" and ray.jobs == {}


@pytest.mark.parametrize("fault", [says(401, "Unauthorized"), says(400, "TypeError: unknown field")])
def test_a_refused_post_is_not_repeated_and_leaves_the_name_free(
    ray: FakeRay, client: RayClient, ledger: Ledger, fault: fake_ray.Fault
) -> None:
    ray.fail_next("POST", "/api/jobs/", fault)
    with pytest.raises(RayError):
        _submit(client, ledger, run="mine")
    assert len(ray.posts()) == 1 and list(ledger.runs()) == []
    assert not _submit(client, ledger, build_job(flags={"A": "b"}), run="mine").adopted


def test_an_old_ray_gets_resources_instead_of_labels_and_a_very_old_one_is_refused(
    ray: FakeRay, client: RayClient, ledger: Ledger
) -> None:
    ray.version = "2.50.1"
    _submit(client, ledger)
    assert "entrypoint_resources" in ray.posts()[0] and "entrypoint_label_selector" not in ray.posts()[0]
    ray.version = "2.9.3"
    with pytest.raises(UsageError, match=r"2\.9\.3"):
        _submit(client, ledger, run="old")
    assert len(ray.posts()) == 1 and "old" not in ledger.runs()


@pytest.mark.parametrize(
    ("groups", "extra", "steps"),
    [
        ({"trainer": {"trainer.total_training_steps": number("6")}}, (), 6),
        ({"trainer": {"trainer.total_training_steps": number("6")}}, ("trainer.total_training_steps=9",), 9),
        ({"trainer": {"trainer.total_training_steps": None}}, (), None),
        ({"trainer": {"trainer.total_epochs": number("6")}}, (), None),
    ],
)
def test_the_steps_that_a_job_asks_for(groups: Any, extra: tuple[str, ...], steps: int | None) -> None:
    assert total_steps(build_job(groups=groups, extra=extra)) == steps
