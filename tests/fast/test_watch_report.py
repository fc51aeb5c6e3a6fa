"""`npurun report`: one page whose numbers are the ledger's, that quotes without obeying, and that asks nobody."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from submitter.ledger import Ledger
from submitter.metrics.names import CURVES
from submitter.watch.report import report
from submitter.watch.report.charts import DIGITS, NAMES_SHOWN
from submitter.watch.web.series import POINTS
from tests.support.cli import environment, npurun
from tests.support.runs import Told
from tests.support.trained import FAILURES, NOW_MS, trained_run

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "npurun")
    yield ledger
    ledger.close()


def page_of(ledger: Ledger, run: str = "r", language: str = "en") -> str:
    return report(ledger, run, now_ms=NOW_MS, language=language)


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def words_of(page: str) -> str:
    """What a reader sees."""
    body = re.sub(r"<script.*?</script>|<style.*?</style>", "", page[page.index("<body>") :], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def told(ledger: Ledger, **begin: Any) -> Told:
    run = Told(ledger, "r", began_ms=NOW_MS - 60 * 60_000)
    run.begin(1, 0, **begin)
    return run


def test_curves_are_the_steps_that_count_and_beside_them_those_trained_again(ledger: Ledger) -> None:
    run = trained_run(ledger, "r", steps=120, attempts=3, metrics=12)
    data = data_of(page_of(ledger))
    rows = {(row.step, row.attempt): row.metrics for row in ledger.steps("r")}
    name = CURVES["reward"][0]
    newest = {step: max(attempt for one, attempt in rows if one == step) for step in range(1, 121)}
    assert data["curves"][name]["step"] == list(range(1, 121))
    expected = [rows[step, newest[step]][name] for step in range(1, 121)]
    assert data["curves"][name]["value"] == pytest.approx(expected, rel=10 ** (1 - DIGITS))
    assert data["attempts"] == [
        {"attempt": part.attempt, "step": 0 if part.attempt == 1 else (part.resumed_from or 0) + 1}
        for part in run.parts
    ]
    again = {(step, part["attempt"]) for part in data["again"][name] for step in part["step"]}
    assert again == {(step, attempt) for step, attempt in rows if step and attempt != newest[step]} and again


def test_every_metric_is_there_and_has_a_place(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=40, attempts=2, metrics=40)
    page = page_of(ledger)
    names = ledger.metric_names("r")
    assert set(data_of(page)["curves"]) == set(names)
    assert sorted(re.findall(r'data-name="([^"]+)"', page)) == sorted(names)


def test_more_metrics_than_a_page_takes_are_told(ledger: Ledger) -> None:
    run = told(ledger)
    metrics = {f"made_up/{number:04}": 1.0 for number in range(NAMES_SHOWN + 7)}
    ledger.record_steps(run.run, 1, [(1, NOW_MS, metrics)])
    page = page_of(ledger)
    assert len(data_of(page)["curves"]) == NAMES_SHOWN
    assert "7 more are not shown; npurun export r has them" in words_of(page)


def test_a_long_curve_keeps_its_extremes(ledger: Ledger) -> None:
    run = told(ledger)
    values = [float(step % 7) for step in range(1, 30_001)]
    values[12_345], values[23_456] = 500.0, -500.0
    ledger.record_steps(
        run.run, 1, [(step, NOW_MS, {"actor/grad_norm": value}) for step, value in enumerate(values, 1)]
    )
    curve = data_of(page_of(ledger))["curves"]["actor/grad_norm"]
    assert len(curve["step"]) <= POINTS + 2
    assert curve["value"][curve["step"].index(12_346)] == 500.0 and min(curve["value"]) == -500.0
    assert (curve["step"][0], curve["step"][-1]) == (1, 30_000)


def test_phases_over_time_add_up_to_the_step(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=60, attempts=1)
    found = data_of(page_of(ledger))["phases"]
    assert {"generation", "actor_update", "other"} <= set(found["seconds"]) and found["step"][-1] == 60
    rows = {row.step: row.metrics for row in ledger.steps("r")}
    for place, step in enumerate(found["step"]):
        spent = sum(seconds[place] for seconds in found["seconds"].values())
        assert spent == pytest.approx(rows[step]["timing_s/step"] + rows[step].get("timing_s/testing", 0.0), rel=1e-3)


def test_attempts_say_why_they_ended_and_what_followed(ledger: Ledger) -> None:
    run = trained_run(ledger, "r", steps=48, attempts=4, nodes=2, state="failed")
    said = words_of(page_of(ledger))
    for part in run.parts:
        assert part.failure.reason in said and part.failure.evidence in said
        assert f"{part.first} – {part.last}" in said or part.attempt == 1
    assert "attempt 1 ended with device_lost on node 10.0.0.2: attempt 2 follows at once without it" in said
    assert "13 steps trained again" in said and "actor_rollout_ref.rollout.gpu_memory_utilization" in said
    assert "NR907" in said and "most of it in generation" in said


def test_what_logs_and_metrics_hold_stays_text(ledger: Ledger) -> None:
    run = told(ledger, arguments=[f"trainer.note={HOSTILE}"])
    ledger.record_steps(run.run, 1, [(1, NOW_MS, {HOSTILE: 1.0, 'a"/><img src=x>': 2.0})])
    run.end(1, 30, FAILURES[0].reason, evidence=HOSTILE)
    page = page_of(ledger)
    assert set(data_of(page)["curves"]) == {HOSTILE, 'a"/><img src=x>'}
    assert page.count("<script") == 3 and "<img" not in page
    assert words_of(page).count(HOSTILE) >= 3  # the argument, the evidence, the metric's name


def test_its_policy_allows_its_own_scripts_and_nothing_else(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=5, attempts=1)
    page = page_of(ledger)
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert found is not None
    policy = dict(one.split(" ", 1) for one in html.unescape(found[1]).split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts]
    assert policy["script-src"].split() == [f"'sha256-{one}'" for one in hashes] and len(scripts) == 2
    assert policy["default-src"] == "'none'" and policy["img-src"] == "data:"
    assert not re.findall(r'(?:src|href)="(?!data:)', page)


def test_no_secret_is_in_it(ledger: Ledger) -> None:
    key = "hf_" + "aB3dE5gH" * 4
    run = told(ledger, arguments=["trainer.db_password=hunter2horse"], env={"WANDB_API_KEY": "0f" * 20, "NOTE": key})
    run.begin(2, 40, arguments=["trainer.db_password=other3horse"], env={"NOTE": key[::-1]})
    run.end(1, 30, FAILURES[0].reason, evidence=f"login with SWANLAB_API_KEY={'1a' * 20} and {key}")
    page = page_of(ledger)
    assert not [one for one in ("hunter2horse", "other3horse", "0f" * 20, key, "1a" * 20) if one in page]
    assert words_of(page).count("***") >= 5


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_was_not_measured_is_no_zero(ledger: Ledger, language: str) -> None:
    trained_run(ledger, "r", steps=5, attempts=1, metrics=3, devices=None, alerts=0)
    Told(ledger, "bare", began_ms=NOW_MS - 600_000).begin(1, 0)
    unknown = {"en": "not measured", "zh": "未测量"}[language]
    assert "npu-smi: not found" in words_of(page_of(ledger, "r", language))
    said = words_of(page_of(ledger, "bare", language))
    assert said.count(unknown) >= 5 and not re.findall(r"(?<![\d.:])0(?![\d.:])", said.partition("bare")[2][:250])


def test_chinese_has_no_english_words(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=30, attempts=3)
    said = words_of(page_of(ledger, "r", "zh")).partition("参数与环境变量")[0]
    assert "曲线" in said and "第 1 次尝试" in said
    for line in (one.evidence for one in FAILURES):
        said = said.replace(line, "")
    assert not re.findall(r"(?<![\w/.-])[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}", said)


def test_command_writes_the_file_whole(ledger: Ledger, tmp_path: Path) -> None:
    trained_run(ledger, "r", steps=30, attempts=2)
    target = tmp_path / "my report.html"
    done = npurun("report", "r", "-o", str(target), "--lang", "zh", home=tmp_path)
    assert (done.code, done.out) == (0, "") and str(target) in done.err
    assert target.read_text().startswith("<!doctype html>") and 'lang="zh-CN"' in target.read_text()
    piped = npurun("report", "r", home=tmp_path)
    assert piped.code == 0 and piped.out.rstrip().endswith("</html>")


def test_no_such_run(ledger: Ledger, tmp_path: Path) -> None:
    done = npurun("report", "nope", "-o", str(tmp_path / "x.html"), home=tmp_path)
    assert done.code == 2 and "nope" in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("missing", ["jinja2", "youplot"])
def test_without_the_extra_one_line_says_how_to_install_it(ledger: Ledger, tmp_path: Path, missing: str) -> None:
    trained_run(ledger, "r", steps=5, attempts=1)
    with patch.dict(sys.modules, {missing: None}):
        done = npurun("report", "r", "-o", str(tmp_path / "x.html"), home=tmp_path)
    assert done.code == 2 and len(done.err.splitlines()) == 1
    assert missing in done.err and "pip install 'npurun[web]'" in done.err


def test_a_terminal_is_told_to_name_a_file(ledger: Ledger, tmp_path: Path) -> None:
    import os
    import pty
    import subprocess

    trained_run(ledger, "r", steps=5, attempts=1)
    leader, follower = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "submitter", "report", "r"],
            stdout=follower,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            timeout=30,
        )
    finally:
        os.close(leader)
        os.close(follower)
    assert done.returncode == 2 and b"npurun report r -o r.html" in done.stderr
