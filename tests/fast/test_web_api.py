"""What the pages' scripts read: the ledger's numbers, and what its user may see of logs and arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.ledger import Ledger
from submitter.watch.live import LiveRun
from submitter.watch.web import logs
from submitter.watch.web.series import series
from tests.support.fake_ray import FakeRay
from tests.support.runs import Told
from tests.support.trained import NOW_MS, Trained, trained_run
from tests.support.web import Web, web


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


@pytest.fixture
def run(ledger: Ledger) -> Trained:
    return trained_run(ledger, "r", steps=200, attempts=3, nodes=2)


@pytest.fixture
def pages(ledger: Ledger, run: Trained) -> Iterator[Web]:
    with web(ledger, wall_ms=lambda: NOW_MS) as found:
        yield found


def test_all_runs(pages: Web, ledger: Ledger) -> None:
    trained_run(ledger, "none", steps=20, attempts=1, devices=None, state="failed", alerts=0)
    rows = {row["run"]: row for row in pages.known("/api/runs").json}
    assert (rows["r"]["step"], rows["r"]["state"], rows["r"]["attempts"], rows["r"]["alerts"]) == (200, "running", 3, 1)
    assert rows["none"]["state"] == "failed"


def test_one_run(pages: Web, ledger: Ledger) -> None:
    found = pages.known("/api/run/r").json
    view = LiveRun(ledger, "r").view(NOW_MS)
    assert (found["step"], found["reward"], found["state"]) == (view.step, view.reward, "running")
    assert [one["attempt"] for one in found["attempts"]] == [1, 2, 3]
    assert found["nodes"][0]["devices"][15]["npu"] == 15
    assert found["curves"] == {} and found["dashboard"]["job"] == "http://127.0.0.1:1/#/jobs/r-a3"
    assert pages.known("/api/run/nobody").status == 404
    assert pages.known("/run/nobody").status == 404 and pages.known("/nothing").status == 404


def test_curves_are_those_of_the_ledger(pages: Web, ledger: Ledger, run: Trained) -> None:
    found = pages.known("/api/run/r/series?name=actor/entropy&name=no/such&name=val-core/math500/acc/mean@1").json
    assert set(found["names"]) == {"actor/entropy", "val-core/math500/acc/mean@1"}
    curve = found["names"]["actor/entropy"]
    assert curve["step"] == list(range(1, 201))
    kept = {(one.step, one.attempt): one.metrics["actor/entropy"] for one in ledger.steps("r") if one.step}
    starts = {part.attempt: part.resumed_from or 0 for part in run.parts}
    for step, value in zip(curve["step"], curve["value"], strict=True):
        assert value == kept[step, max(attempt for attempt, start in starts.items() if step > start)]
    assert [one["attempt"] for one in found["attempts"]] == [1, 2, 3]
    assert found["attempts"][1]["step"] == starts[2] + 1
    void = found["void"]["actor/entropy"]
    assert [one["attempt"] for one in void] == [1, 2] and void[0]["step"][0] == starts[2] + 1


def test_only_what_came_since(pages: Web, ledger: Ledger) -> None:
    query = "/api/run/r/series?name=actor/entropy"
    first = pages.known(query).json
    assert first["reset"] is True
    same = pages.known(f"{query}&after={first['size']}").json
    assert same["reset"] is False and same["names"]["actor/entropy"] == {"step": [], "value": []}
    ledger.record_steps(
        "r", 3, [(201, NOW_MS + 1, {"actor/entropy": 0.25}), (202, NOW_MS + 2, {"actor/entropy": math.nan})]
    )
    more = pages.known(f"{query}&after={first['size']}").json
    assert more["names"]["actor/entropy"] == {"step": [201], "value": [0.25]}
    assert more["size"] == first["size"] + 2


def test_a_later_attempt_makes_everything_new(ledger: Ledger, run: Trained) -> None:
    live = LiveRun(ledger, "r")
    size = len(live.columns(()).steps)
    Told(ledger, "r").begin(4, 10_000_000, resumed_from=190)
    ledger.record_steps("r", 4, [(191, NOW_MS + 5, {"actor/entropy": 0.5})])
    live.refresh()
    found = series(live.columns(["actor/entropy"]), 1000, size)
    assert found["reset"] is True and found["names"]["actor/entropy"]["step"][-1] == 191
    assert found["void"]["actor/entropy"][-1] == {
        "attempt": 3,
        "step": list(range(191, 201)),
        "value": [one.metrics["actor/entropy"] for one in ledger.steps("r", 3) if one.step > 190],
    }


def test_extremes_survive_the_thinning(ledger: Ledger, pages: Web) -> None:
    trained_run(ledger, "long", steps=5_000, attempts=1, metrics=6)
    ledger.record_steps(
        "long", 1, [(5_001, NOW_MS, {"actor/grad_norm": 1e6}), (5_002, NOW_MS, {"actor/grad_norm": -1e6})]
    )
    curve = pages.known("/api/run/long/series?name=actor/grad_norm&points=200").json["names"]["actor/grad_norm"]
    assert len(curve["step"]) <= 220 and {1e6, -1e6} <= set(curve["value"])
    assert (curve["step"][0], curve["step"][-1]) == (1, 5_002)


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "points=0", "points=99999999999999999999", "name=%00", "name="]
)
def test_odd_questions_have_answers(pages: Web, query: str) -> None:
    assert pages.known(f"/api/run/r/series?{query}").status == 200


def test_names_of_metrics(pages: Web, ledger: Ledger) -> None:
    assert pages.known("/api/run/r/metrics").json == ledger.metric_names("r")


def test_arguments_flags_and_what_differs(pages: Web) -> None:
    found = pages.known("/api/run/r/attempts/3/facts").json
    assert found["arguments"]["algorithm.adv_estimator"] == "grpo"
    changed = {one["key"]: (one["left"], one["right"]) for one in found["differences"]}
    assert changed["actor_rollout_ref.rollout.gpu_memory_utilization"] == (None, "0.6")
    assert pages.known("/api/run/r/attempts/1/facts").json["differences"] == []
    assert pages.known("/api/run/r/attempts/9/facts").status == 404


def test_a_secret_never_reaches_a_page(ledger: Ledger) -> None:
    token = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
    told = Told(ledger, "s")
    told.begin(1, 0, arguments=[f"+trainer.hub={token}", "+trainer.db_password=hunter2horse"], env={"HF_TOKEN": token})
    told.end(1, 5, "hung", evidence=f"GET https://hub/x?token={token}")
    told.begin(2, 9, arguments=["+trainer.db_password=horse3hunter"], changes=[f"+trainer.hub={token}"])
    with web(ledger) as pages:
        for path in ("/api/run/s", "/api/run/s/attempts/1/facts", "/api/run/s/attempts/2/facts", "/run/s"):
            said = pages.known(path).text
            assert not any(secret in said for secret in (token, "hunter2horse", "horse3hunter"))


def test_the_cluster(pages: Web) -> None:
    (found,) = pages.known("/api/cluster").json
    assert found["address"] == "http://127.0.0.1:1" and found["runs"] == ["r"]
    assert {node["node"] for node in found["nodes"]} == {"10.0.0.1", "10.0.0.3"}
    (kept,) = found["quarantine"]
    assert kept["node"] == "10.0.0.2" and kept["finding"] == "device_lost" and kept["why"]


def test_prometheus_with_the_token(pages: Web) -> None:
    answer = pages.ask("/metrics", headers={"Authorization": f"Bearer {pages.keys.token}"})
    assert answer.status == 200 and 'npurun_step{run="r"} 200.0' in answer.text


# what a page may do


def test_a_stop_is_a_wish_and_somebody_is_made_to_care(ledger: Ledger, run: Trained) -> None:
    cared: list[int] = []
    with web(ledger, care=lambda: cared.append(1)) as pages:
        for _ in range(2):
            answer = pages.post("/run/r/stop", {}).json
            assert answer["ok"] is True and "r" in answer["message"]
        assert pages.post("/run/nobody/stop", {}).json["ok"] is False
    found = ledger.run("r")
    assert found is not None and found.wanted == "stop" and cared == [1, 1]


def test_a_resume_says_why_it_cannot(pages: Web, ledger: Ledger) -> None:
    trained_run(ledger, "done", steps=20, attempts=1, state="succeeded")
    answer = pages.post("/run/done/resume", {}).json
    assert answer["ok"] is False and "done" in answer["message"]
    said = pages.post("/run/done/resume", {}, **{"Accept-Language": "zh-CN"}).json["message"]
    assert "已完成" in said


def test_a_resume(ledger: Ledger) -> None:
    trained_run(ledger, "f", steps=20, attempts=1, state="failed")
    with web(ledger) as pages:
        assert pages.post("/run/f/resume", {}).json["ok"] is True
    found = ledger.run("f")
    assert found is not None and found.state == "active"


def test_a_node_is_released_once(pages: Web, ledger: Ledger) -> None:
    form = {"node": "10.0.0.2", "address": "http://127.0.0.1:1"}
    assert pages.post("/nodes/release", form).json["ok"] is True
    assert ledger.quarantined(NOW_MS) == []
    assert pages.post("/nodes/release", form).json["ok"] is False


def test_without_scripts_a_form_leads_back(pages: Web) -> None:
    answer = pages.post("/run/r/stop", {"back": "/run/r"}, Accept="text/html")
    assert (answer.status, answer.headers["location"]) == (303, "/run/r")


# logs


@pytest.fixture
def logged(ray: FakeRay, ledger: Ledger) -> Iterator[Web]:
    told = Told(ledger, "l", address=ray.address)
    told.begin(1, 0)
    lines = [f"line {number} <script>alert({number})</script>" for number in range(1, 3001)]
    lines[1500] = "ValueError: \x1b[31mneedle\x1b[0m in WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567"
    ray.add_job("l-a1", log=("\n".join(lines) + "\nthe end").encode())
    with web(ledger) as found:
        yield found


def test_the_end_of_a_log(logged: Web) -> None:
    found = logged.known("/api/run/l/attempts/1/log?tail=3").json
    assert [text for _, text in found["lines"]][-1] == "the end" and found["lines"][0][0] is None
    assert "<script>" in found["lines"][0][1], "text is text: it is the page that must not take it for more"


def test_a_text_in_a_log_and_the_lines_around_it(logged: Web) -> None:
    found = logged.known("/api/run/l/attempts/1/log?find=NEEDLE").json
    ((number, text),) = found["lines"]
    assert number == 1501 and "0123456789abcdef" not in text
    around = logged.known(f"/api/run/l/attempts/1/log?line={number}").json["lines"]
    assert around[0][0] == 1501 - logs.AROUND_LINES and around[-1][0] == 1501 + logs.AROUND_LINES
    assert logged.known("/api/run/l/attempts/1/log?find=nowhere").json == {"lines": [], "cut": False}
    many = logged.known("/api/run/l/attempts/1/log?find=line").json
    assert len(many["lines"]) == logs.MATCHES_MOST and many["cut"] is True


def test_a_log_that_is_not_there_any_more(ray: FakeRay, logged: Web, ledger: Ledger) -> None:
    del ray.jobs["l-a1"]
    assert "does not have this attempt's log" in logged.known("/api/run/l/attempts/1/log").json["error"]
    Told(ledger, "away").begin(1, 0)
    assert "127.0.0.1:1" in logged.known("/api/run/away/attempts/1/log").json["error"]


def test_a_ledger_that_cannot_be_read_is_told(pages: Web, ledger: Ledger) -> None:
    ledger.close()
    for path in ("/api/run/r", "/run/r"):
        answer = pages.known(path)
        assert answer.status == 500 and "Traceback" not in answer.text
