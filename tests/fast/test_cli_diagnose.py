"""`npurun diagnose`: of files, folders, standard input and runs; `npurun explain` of reasons."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from submitter.ledger import Ledger
from submitter.recovery.reasons import REASONS
from tests.fast.test_cli_table import on_a_terminal
from tests.support.cli import english, npurun
from tests.support.fake_ray import FakeRay

DATA = Path(__file__).parents[1] / "data" / "verl_logs"
NODE_LOSS = DATA / "fail-node-loss.log.gz"


def test_a_log_is_explained_in_words(tmp_path: Path) -> None:
    result = npurun("diagnose", str(NODE_LOSS), home=tmp_path)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].startswith("reason") and "raylet_lost: a node's raylet died" in lines[0]
    assert any(line.startswith("node") and "127.0.0.2" in line for line in lines)
    assert any(line.startswith("  1106  (raylet) Raylet is terminated") for line in lines)
    assert "what to do" in result.out and "Also seen" in result.out


def test_the_words_are_chinese_in_chinese(tmp_path: Path) -> None:
    out = npurun("diagnose", str(NODE_LOSS), "--lang", "zh", home=tmp_path).out
    told = out.partition("证据")[0]
    assert "原因" in told and "处理办法" in told and not english(told)


def test_as_json_it_is_one_document(tmp_path: Path) -> None:
    document = npurun("diagnose", str(NODE_LOSS), "--json", home=tmp_path).document
    assert (document["reason"], document["retry"], document["node"]) == ("raylet_lost", "exclude_node", "127.0.0.2")
    assert document["evidence"][0]["file"] == str(NODE_LOSS) and document["evidence"][0]["line"] == 1106
    assert document["logs"] == [str(NODE_LOSS)] and "\x1b" not in document["evidence"][0]["text"]


def test_several_logs_say_which_line_is_whose(tmp_path: Path) -> None:
    other = tmp_path / "worker.log"
    other.write_text("RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB\n")
    out = npurun("diagnose", str(NODE_LOSS), str(other), home=tmp_path).out
    assert f"{NODE_LOSS}:1106" in out and f"{other}:1" in out


def test_standard_input_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NODE_LOSS.read_bytes())))
    document = npurun("diagnose", "-", "--json", home=tmp_path).document
    assert document["reason"] == "raylet_lost" and document["evidence"][0]["file"] == "-"


def test_an_unknown_failure_is_called_so_and_shows_the_likeliest_lines(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("a\nERROR: the flux is inverted\n")
    result = npurun("diagnose", str(log), home=tmp_path)
    assert result.code == 0 and "unknown: the cause is not known" in result.out
    assert "ERROR: the flux is inverted" in result.out.partition("Evidence")[2]


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    log = tmp_path / "cut.log.gz"
    log.write_bytes(NODE_LOSS.read_bytes()[:15_000])
    result = npurun("diagnose", str(log), home=tmp_path)
    assert result.code == 0 and f"{log} is damaged or ends early" in result.err


@pytest.mark.parametrize("name", ["missing.log", "no/such/folder", "", "nosuchrun", "a\nb"])
def test_what_cannot_be_read_is_wrong_usage(name: str, tmp_path: Path) -> None:
    result = npurun("diagnose", name, home=tmp_path, env={"RAY_API_SERVER_ADDRESS": "http://127.0.0.1:9"})
    assert result.code == 2 and not result.out and len(result.err.splitlines()) == 1
    as_json = npurun("diagnose", name, "--json", home=tmp_path, env={"RAY_API_SERVER_ADDRESS": "http://127.0.0.1:9"})
    assert as_json.code == 2 and as_json.error["message"]


def test_an_attempt_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    result = npurun("diagnose", str(NODE_LOSS), "--attempt", "2", home=tmp_path)
    assert result.code == 2 and "no attempt 2" in result.err
    assert npurun("diagnose", str(NODE_LOSS), "--attempt", "1", home=tmp_path).code == 0
    assert npurun("diagnose", "run-1", "--attempt", "1", home=tmp_path).code == 2


def test_a_run_is_read_from_the_cluster(ray: FakeRay, tmp_path: Path) -> None:
    job = ray.add_job("run-1-a1", log=gzip.decompress(NODE_LOSS.read_bytes()), metadata={"npurun_run": "run-1"})
    job.end("FAILED", code=1, error_type="JOB_ENTRYPOINT_COMMAND_ERROR")
    for name in ("run-1", "run-1/a1"):
        document = npurun("diagnose", name, "--json", "--address", ray.address, home=tmp_path).document
        assert (document["reason"], document["node"]) == ("raylet_lost", "127.0.0.2")
        assert document["logs"] == ["run-1-a1"] and document["evidence"][0]["file"] == "run-1-a1"
    missing = npurun("diagnose", "run-1/a7", "--address", ray.address, home=tmp_path)
    assert missing.code == 2 and "run-1/a7" in missing.err


def test_a_file_of_a_runs_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run-1").write_bytes(NODE_LOSS.read_bytes())
    assert npurun("diagnose", "run-1", "--json", home=tmp_path).document["reason"] == "raylet_lost"


def test_what_the_ledger_knows_needs_no_cluster(tmp_path: Path) -> None:
    known = npurun("diagnose", str(NODE_LOSS), "--json", home=tmp_path).document
    book = Ledger(tmp_path / "npurun")
    intent = {"run": "run-1", "attempt": 1, "submission_id": "run-1-a1", "address": "http://127.0.0.1:9"}
    book.record_intent(**intent, spec="s", job="j", total_steps=None, body=b"{}", now_ms=1)
    book.record_end(
        "run-1-a1", state="FAILED", reason="raylet_lost", end=None, started_ms=1, ended_ms=2, diagnosis=known
    )
    book.close()
    document = npurun("diagnose", "run-1", "--json", "--lang", "zh", home=tmp_path).document
    assert (document["reason"], document["node"]) == ("raylet_lost", "127.0.0.2")
    assert document["evidence"] == known["evidence"] and document["summary"] != known["summary"]


def test_every_reason_explains_itself_in_both_languages(tmp_path: Path) -> None:
    for reason in REASONS:
        for language in ("en", "zh"):
            result = npurun("explain", reason, "--lang", language, home=tmp_path)
            assert result.code == 0 and reason in result.out
    document = npurun("explain", "RAYLET_LOST", "--json", home=tmp_path).document
    assert document["retry"] == "exclude_node" and document["blames_node"] and document["signatures"]


def test_all_reasons_are_listed_by_family(tmp_path: Path) -> None:
    out = npurun("explain", "--reasons", home=tmp_path).out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")] == list(REASONS)
    assert [one["reason"] for one in npurun("explain", "--reasons", "--json", home=tmp_path).document] == list(REASONS)
    assert npurun("explain", "raylet_lost", "--reasons", home=tmp_path).code == 2
    assert npurun("explain", "raylet_lost", "--stack", "cann-9.0.0", home=tmp_path).code == 2
    assert "raylet_lost" in npurun("explain", "raylet_lots", home=tmp_path).err


def test_lines_fit_a_terminal_of_80_columns(tmp_path: Path) -> None:
    log = str(DATA / "fail-too-few-npus.log.gz")
    program = f"from submitter.cli.main import run; run(['diagnose', {log!r}])"
    lines = on_a_terminal(program, tmp_path, COLUMNS="80")
    assert len(lines) > 8
    assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []  # a path is never broken
