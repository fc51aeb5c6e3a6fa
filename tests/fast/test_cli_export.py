"""`npurun export`: every step that counts once, by step, as CSV or JSON; files are whole or not there."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.ledger import Ledger
from submitter.watch.export import PAGE_STEPS, as_csv, as_json, export
from tests.support.cli import environment, npurun
from tests.support.trained import NOW_MS, Trained, trained_run


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def trained(ledger: Ledger, **settings: int) -> Trained:
    return trained_run(ledger, "r", **{"steps": 120, "attempts": 3, "metrics": 12, **settings})  # type: ignore[arg-type]


def test_each_step_once_by_the_attempt_that_counts(ledger: Ledger) -> None:
    run = trained(ledger)
    rows = rows_of("".join(as_csv(export(ledger, "r"))))
    assert [int(row["step"]) for row in rows] == list(range(121))
    starts = {part.attempt: (part.resumed_from or 0) for part in run.parts}
    for row in rows[1:]:
        expected = max(attempt for attempt, start in starts.items() if int(row["step"]) > start)
        assert int(row["attempt"]) == expected and row["counts"] == "true"
    newest = ledger.newest_steps(["r"])["r"]
    assert {name: float(rows[-1][name]) for name in newest.metrics} == newest.metrics
    assert float(rows[-1]["seen"]) == NOW_MS / 1000


def test_all_has_the_others_too(ledger: Ledger) -> None:
    run = trained(ledger)
    rows = rows_of("".join(as_csv(export(ledger, "r", every=True))))
    assert len(rows) == 1 + sum(part.last - part.first + 1 for part in run.parts)
    again = [row for row in rows if row["counts"] == "false"]
    assert {row["attempt"] for row in again} == {"1", "2"} and len(again) == len(rows) - 121


def test_more_steps_than_are_read_at_once(ledger: Ledger) -> None:
    trained(ledger, steps=2 * PAGE_STEPS + 1, attempts=2, metrics=3)
    assert [row.step.step for row in export(ledger, "r").rows] == list(range(2 * PAGE_STEPS + 2))


def test_numbers_that_are_none_and_names_that_hurt(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=1, attempts=1, metrics=1, alerts=0, samples=0)
    hostile = 'a,"b"\n=c\ud800'
    ledger.record_steps("r", 1, [(2, 1000, {hostile: float("nan"), "inf": float("-inf")}), (3, 2000, {"late": 1.5})])
    rows = rows_of("".join(as_csv(export(ledger, "r"))))
    assert (rows[2][hostile], rows[2]["inf"], rows[2]["late"]) == ("nan", "-inf", "")
    assert (rows[3]["late"], rows[3][hostile]) == ("1.5", "")
    document = json.loads("".join(as_json(export(ledger, "r"))))
    assert document["steps"][2]["metrics"] == {hostile: None, "inf": None}
    assert document["steps"][3] == {"step": 3, "attempt": 1, "seen": 2.0, "counts": True, "metrics": {"late": 1.5}}
    assert hostile in document["names"] and document["run"] == "r"


def test_a_run_without_steps(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=1, attempts=1)
    ledger._database.connection.execute("DELETE FROM metrics")
    assert json.loads("".join(as_json(export(ledger, "r"))))["steps"] == []
    assert rows_of("".join(as_csv(export(ledger, "r")))) == []


@pytest.fixture
def home(tmp_path: Path, ledger: Ledger) -> Path:
    trained(ledger)
    return tmp_path / "home"


def test_the_command(home: Path, tmp_path: Path) -> None:
    env = {"NPURUN_HOME": str(home)}
    printed = npurun("export", "r", home=tmp_path, env=env)
    assert printed.code == 0 and len(rows_of(printed.out)) == 121 and printed.err == ""
    target = tmp_path / "out.json"
    target.write_text("old")
    written = npurun("export", "r", "--json", "-o", str(target), home=tmp_path, env=env)
    assert (written.code, written.out) == (0, "") and "written" in written.err
    assert len(json.loads(target.read_text())["steps"]) == 121
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_steps_far_apart_take_no_longer_than_neighbours(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=2, attempts=1)
    ledger.record_steps("r", 1, [(999_999_999, NOW_MS, {})])
    begin = time.monotonic()
    steps = [row.step.step for row in export(ledger, "r").rows]
    assert steps[-1] == 999_999_999 and time.monotonic() - begin < 2.0


def test_what_is_no_file_is_written_to_and_stays_what_it_is(home: Path, tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    link.symlink_to(target)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for path in (pipe, link):
            assert npurun("export", "r", "-o", str(path), home=tmp_path, env={"NPURUN_HOME": str(home)}).code == 0
        assert stat.S_ISFIFO(pipe.lstat().st_mode) and os.read(reader, 4) == b"step"
    finally:
        os.close(reader)
    assert link.is_symlink() and target.read_text().startswith("step,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "nobody"),
        (("r", "-o", "/no/such/folder/x"), "No such file or directory"),
        (("r", "-o", "/tmp"), "it is a folder"),
        (("r", "-o", "a\0b"), "cannot be written"),
    ],
)
def test_wrong_usage_is_one_line(home: Path, arguments: tuple[str, ...], said: str) -> None:
    done = npurun("export", *arguments, home=home, env={"NPURUN_HOME": str(home)})
    assert done.code == 2 and said in done.err and done.out == "" and len(done.err.splitlines()) == 1


def test_both_forms_at_once_are_wrong_usage(home: Path) -> None:
    done = npurun("export", "r", "--csv", "--json", home=home, env={"NPURUN_HOME": str(home)})
    assert done.code == 2 and done.error["message"] == "it is either --csv or --json"


def test_a_reader_that_has_enough(home: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m submitter export r | head -1",
        shell=True,
        env=environment(home, {"NPURUN_HOME": str(home)}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith("step,attempt,seen,counts,") and done.stderr == ""


def test_memory_does_not_grow_with_the_steps(ledger: Ledger) -> None:
    trained(ledger, steps=20_000, attempts=1, metrics=40)
    for _ in export(ledger, "r").rows:  # what reading itself needs
        break
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = sum(len(line) for line in as_csv(export(ledger, "r")))
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert size > 10e6 and grown_mb < size / 1e6
