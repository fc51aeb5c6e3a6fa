"""`npurun check`: one table on stdout, JSON of a fixed shape; `--force` and `--stack`, also of submit and render."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from submitter.cli.wrap import columns
from tests.fast.test_cli_table import on_a_terminal
from tests.support.cli import MAIN_JOB, english, npurun
from tests.support.fake_ray import FakeRay

SECRET = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
BAD = """\
name: bad
stack: cann-9.0.0
cluster: {nodes: 2, npus_per_node: 16}
trainer: {module: my.trainer}
env:
  GLOO_SOCKET_IFNAME: eth0
  RANK: 0
  PATH: /opt/$HOST/bin
  HCCL_IF_IP: 10.0.0.1
arguments: {}
"""


@pytest.fixture
def bad(tmp_path: Path) -> str:
    (tmp_path / "bad.yaml").write_text(BAD)
    return str(tmp_path / "bad.yaml")


def test_in_a_pipe_a_finding_is_a_line_with_errors_first(bad: str, tmp_path: Path) -> None:
    result = npurun("check", bad, home=tmp_path)
    assert (result.code, result.err) == (3, "")
    rows = [line for line in result.out.splitlines() if re.search(r" NR4[12]\d ", line)]
    assert [" ".join(row.split()[:4]) for row in rows] == [
        f"{bad}:7: error NR422 env.RANK:",
        f"{bad}:9: error NR421 env.HCCL_IF_IP:",
        f"{bad}:6: warning NR423 env.GLOO_SOCKET_IFNAME:",
        f"{bad}:8: warning NR415 env.PATH:",
        f"{bad}:8: warning NR416 env.PATH:",
    ]
    assert all("  → " in row for row in rows)
    assert re.match(r"bad on cann-9.0.0: 2 errors, \d+ warnings", result.out.splitlines()[-1])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_a_terminal_a_place_stands_once_and_lines_fit(bad: str, language: str, tmp_path: Path) -> None:
    code = f"from submitter.cli.main import run; run(['check', {bad!r}, '--lang', {language!r}])"
    lines = on_a_terminal(code, tmp_path, code=3, COLUMNS="80", TERM="dumb")
    assert sum(f"{bad}:8" in line for line in lines) == 1
    assert all(columns(line) <= 80 for line in lines if bad not in line)
    assert not any("\x1b" in line for line in lines)
    if language == "zh":
        assert not english("\n".join(lines))


def test_colour_is_for_terminals(bad: str, tmp_path: Path) -> None:
    code = f"from submitter.cli.main import run; run(['check', {bad!r}])"
    text = "\n".join(on_a_terminal(code, tmp_path, code=3))
    assert "\x1b[31merror\x1b[0m" in text and "\x1b[33mwarning\x1b[0m" in text
    assert "\x1b" not in "\n".join(on_a_terminal(code, tmp_path, code=3, NO_COLOR="1"))


def test_json_has_the_designs_shape(bad: str, tmp_path: Path) -> None:
    result = npurun("check", bad, "--json", home=tmp_path)
    assert result.code == 3 and result.err == ""
    document = result.document
    assert {"job", "stack", "findings", "not_checked"} <= set(document)
    assert (document["job"], document["stack"]) == ("bad", "cann-9.0.0")
    assert document["findings"][0]["where"] == {"file": bad, "line": 7, "key": "env.RANK", "node": None}
    assert set(document["findings"][0]) == {"id", "severity", "where", "value", "limit", "message", "fix"}
    assert all(set(one) == {"id", "why"} for one in document["not_checked"])


def test_a_job_that_cannot_be_read_is_usage(tmp_path: Path) -> None:
    result = npurun("check", "nosuchjob", "--json", home=tmp_path)
    assert result.code == 2 and result.error["message"]


def test_warnings_alone_are_no_failure(bad: str, tmp_path: Path) -> None:
    Path(bad).write_text(BAD.replace("  RANK: 0\n", "").replace("  HCCL_IF_IP: 10.0.0.1\n", ""))
    assert npurun("check", bad, home=tmp_path).code == 0


def test_the_arithmetic_of_the_job_is_spelled_out(tmp_path: Path) -> None:
    steps = ["world 4 × 16 = 64; 64 / (TP 2 × PP 4 × CP 4) = DP 2", "train_batch_size 16 × n 5 = 80"]
    out = npurun("check", MAIN_JOB, home=tmp_path).out
    shown = npurun("check", MAIN_JOB, "--json", home=tmp_path).document["arithmetic"]
    assert all(f"arithmetic: {step}" in out and any(line.startswith(step) for line in shown) for step in steps)


def test_the_shipped_job_has_no_error(tmp_path: Path) -> None:
    result = npurun("check", MAIN_JOB, "--json", home=tmp_path)
    assert result.code == 0, result.out
    assert [one for one in result.document["findings"] if one["severity"] == "error"] == []


def test_forced_errors_are_told_and_do_not_refuse(bad: str, tmp_path: Path) -> None:
    for words in (["--force", "NR421,nr422"], ["--force", "NR421", "--force", "NR422"]):
        result = npurun("check", bad, *words, home=tmp_path)
        assert result.code == 0 and result.out.count("overridden by --force") == 2
        assert npurun("check", bad, *words, "--json", home=tmp_path).document["forced"] == ["NR421", "NR422"]
        rendered = npurun("render", bad, *words, home=tmp_path)
        assert rendered.code == 0 and rendered.out and "NR422" in rendered.err


def test_a_refusal_names_what_would_force_it(bad: str, tmp_path: Path) -> None:
    for command in (("render", bad, "--as", "request"), ("render", bad, "--as", "bash"), ("submit", bad)):
        result = npurun(*command, "--force", "NR421", home=tmp_path)
        assert result.code == 3 and result.out == ""
        assert result.err.splitlines()[-1].startswith("npurun: 1 error(s)")
        assert result.err.rstrip().endswith("--force NR421,NR422")


@pytest.mark.parametrize(("form", "last"), [("argv", "my.trainer"), ("env", "")])
def test_what_starts_nothing_is_shown_all_the_same(form: str, last: str, bad: str, tmp_path: Path) -> None:
    result = npurun("render", bad, "--as", form, home=tmp_path)
    assert result.code == 3 and last in result.out and result.out
    assert "NR421" in result.err and "2 error(s): shown all the same" in result.err


def test_force_of_what_is_not_there_is_told(bad: str, tmp_path: Path) -> None:
    result = npurun("check", bad, "--force", "NR415", home=tmp_path)  # a warning refuses nothing
    assert result.code == 3 and "no error NR415" in result.err


@pytest.mark.parametrize("name", ["NR999", "NR42", "", "HCCL_IF_IP", "NR421;NR422"])
def test_force_of_an_unknown_id_is_usage(name: str, bad: str, tmp_path: Path) -> None:
    for command in ("check", "render", "submit"):
        result = npurun(command, bad, "--force", name, home=tmp_path)
        assert (result.code, result.out) == (2, "") and "--force" in result.err


def test_a_secret_is_never_forced(bad: str, tmp_path: Path) -> None:
    Path(bad).write_text(BAD + f"variables: {{WANDB_API_KEY: {SECRET}}}\n")
    for command in ("check", "render", "submit"):
        result = npurun(command, bad, "--force", "NR431", home=tmp_path)
        assert (result.code, result.out) == (2, "") and "NR431" in result.err
    shown = [npurun("check", bad, *words, home=tmp_path) for words in ([], ["--json"])]
    assert all(SECRET not in result.out + result.err and "NR431" in result.out for result in shown)
    refused = npurun("render", bad, home=tmp_path)
    assert "--force does not override NR431" in refused.err


def test_another_stack(bad: str, tmp_path: Path) -> None:
    result = npurun("check", bad, "--stack", "cann-9.1.0,verl=0.9.1", "--json", home=tmp_path)
    assert result.document["stack"] == "cann-9.1.0,verl=0.9.1"


def test_the_stack_decides_what_submit_and_render_refuse(tmp_path: Path) -> None:
    """verl 0.9 hands PYTHONHASHSEED on in its own ray.init, 0.8 does not."""
    file = tmp_path / "own.yaml"
    file.write_text(BAD.replace("my.trainer", "verl.trainer.main_ppo").replace("RANK: 0", "PYTHONHASHSEED: 1"))
    for verl, told in (("0.8.0", False), ("0.9.1", True)):
        for command in ("check", "render", "submit"):
            result = npurun(command, str(file), "--stack", f"cann-9.0.0,verl={verl}", home=tmp_path)
            assert result.code == 3 and ("NR401" in result.out + result.err) is told


@pytest.mark.parametrize("stack", ["cann-0", "cann-9.1.0,verk=0.9.1", "cann-9.1.0,verl=", "", "a\nb"])
def test_a_stack_that_is_none_is_usage(stack: str, bad: str, tmp_path: Path) -> None:
    for command in ("check", "render", "submit"):
        result = npurun(command, bad, "--stack", stack, home=tmp_path)
        assert (result.code, result.out) == (2, "") and result.err.startswith("npurun: --stack: ")


FREE = BAD.replace("  RANK: 0\n", "").replace("  HCCL_IF_IP: 10.0.0.1\n", "")
"""Without the errors."""


def test_a_cluster_is_looked_at_when_its_address_is_given(bad: str, tmp_path: Path) -> None:
    Path(bad).write_text(FREE)
    assert npurun("check", bad, "--json", home=tmp_path).code == 0
    with FakeRay() as ray:  # a head without NPUs
        result = npurun("check", bad, "--address", ray.address, "--json", home=tmp_path)
        assert not ray.posts()
    errors = [one for one in result.document["findings"] if one["severity"] == "error"]
    assert result.code == 3 and [one["id"][:4] for one in errors] == ["NR39"]


def test_what_live_nodes_lack_does_not_refuse_a_submission(bad: str, tmp_path: Path) -> None:
    """They may still come while the gang waits, and the placement has an exit code of its own."""
    Path(bad).write_text(FREE)
    with FakeRay() as ray:
        result = npurun("submit", bad, "--detach", "--address", ray.address, home=tmp_path)
        assert result.code == 0 and len(ray.posts()) == 1
    assert re.search(r"warning NR39\d", result.err)


def test_a_cluster_that_does_not_answer_is_unreachable_after_the_findings(bad: str, tmp_path: Path) -> None:
    Path(bad).write_text(FREE)
    for command in ("check", "submit"):
        result = npurun(command, bad, "--address", "http://127.0.0.1:1", home=tmp_path)
        assert (result.code, result.out) == (4, "")
    assert "NR423" in result.err


def test_what_was_not_composed_is_said(bad: str, tmp_path: Path) -> None:
    document = npurun("check", bad, "--no-compose", "--json", home=tmp_path).document
    assert any("--no-compose" in one["why"] for one in document["not_checked"])


def test_hints_are_for_check_alone(bad: str, tmp_path: Path) -> None:
    Path(bad).write_text(FREE)
    assert " hint NR" in npurun("check", bad, home=tmp_path).out
    assert " hint NR" not in npurun("render", bad, home=tmp_path).err
