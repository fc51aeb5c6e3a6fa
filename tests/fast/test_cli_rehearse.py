"""`npurun rehearse`: the rehearsal's cluster gets the job by the path of submit; its folder goes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from submitter.errors import NotPlacedError
from submitter.exit_codes import ExitCode
from submitter.job.model import Job
from submitter.rehearsal import rehearse as room
from submitter.supervise.outcome import Outcome
from tests.support.cli import MAIN_JOB, npurun
from tests.support.fake_ray import FakeRay

RunJob = Callable[[Job, str, Mapping[str, Path]], ExitCode]


class Rehearsal:
    """Stands for the room: takes what the command gives it, and submits to a fake Ray."""

    def __init__(self, ray: FakeRay) -> None:
        self.ray = ray
        self.fails: Exception | None = None
        self.seen: dict[str, Any] = {}

    def __call__(self, job: Job, *, nodes: int | None, workdir: Path, tell: Any, run_job: RunJob) -> ExitCode:
        self.seen = {"job": job, "nodes": nodes, "workdir": workdir, "existed": workdir.is_dir()}
        if self.fails:
            raise self.fails
        extra = workdir / "extra"
        extra.mkdir()
        return run_job(job, self.ray.address, {"extra_package": extra})


@pytest.fixture
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> Any:
    with FakeRay() as ray:
        stub = Rehearsal(ray)
        monkeypatch.setattr(room, "rehearse", stub)
        yield stub


@pytest.mark.parametrize(("status", "code"), [("SUCCEEDED", 0), ("FAILED", 1), ("STOPPED", 6)])
def test_the_outcome_is_the_submissions(status: str, code: int, rehearsal: Rehearsal, tmp_path: Path) -> None:
    rehearsal.ray.start_as = status
    result = npurun("rehearse", MAIN_JOB, "--nodes", "2", "--set", "TP=4", "--", "x=1", home=tmp_path)
    assert result.code == code and len(rehearsal.ray.posts()) == 1
    job = rehearsal.seen["job"]
    assert (rehearsal.seen["nodes"], job.variables["TP"].text, job.extra_arguments) == (2, "4", ("x=1",))


def test_nothing_of_it_stays(rehearsal: Rehearsal, tmp_path: Path) -> None:
    rehearsal.ray.start_as = "SUCCEEDED"
    assert npurun("rehearse", MAIN_JOB, home=tmp_path).code == 0
    assert rehearsal.seen["existed"] and not rehearsal.seen["workdir"].exists()
    assert not (tmp_path / "npurun").exists()  # its runs are not the user's
    rehearsal.fails = NotPlacedError("rehearsal.no_such_text")
    with pytest.raises(KeyError):  # even when it ends in a bug
        npurun("rehearse", MAIN_JOB, home=tmp_path)
    assert not rehearsal.seen["workdir"].exists()


def test_checks_refuse_before_anything_starts(rehearsal: Rehearsal, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(
        "name: t\ncluster: {nodes: 2, npus_per_node: 2}\ntrainer: {module: m}\narguments: {}\nenv: {RANK: 0}\n"
    )
    assert npurun("rehearse", str(file), home=tmp_path).code == 3
    assert rehearsal.seen == {}


def test_an_interrupted_rehearsal_is_not_told_to_go_on(
    rehearsal: Rehearsal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_client: Any, submission_id: str, *, tell: Any, **_more: Any) -> Outcome:
        tell("follow.interrupted", run=submission_id)
        return Outcome(ExitCode.INTERRUPTED, "RUNNING", "interrupted", None)

    monkeypatch.setattr("submitter.supervise.follow.follow", interrupted)
    result = npurun("rehearse", MAIN_JOB, home=tmp_path)
    assert result.code == 130
    assert "goes on" not in result.err
