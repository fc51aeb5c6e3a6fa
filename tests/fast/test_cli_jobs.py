"""`npurun jobs`: what the table tells of each job, what its options pick, and how it looks on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

import jobs
from submitter.cli.wrap import columns
from tests.fast.test_cli_completion import complete
from tests.fast.test_cli_table import on_a_terminal
from tests.support.cli import MAIN_JOB, npurun

_CORPUS = Path(__file__).parents[1] / "data" / "corpus"
_PROGRAM = "import sys; sys.argv[1:] = ['jobs']; from submitter.cli.main import run; run()"


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if these were the jobs that ship: more kinds than do."""
    monkeypatch.setattr(jobs, "FOLDER", _CORPUS)


def picked(home: Path, *options: str) -> list[dict[str, object]]:
    result = npurun("jobs", "--json", *options, home=home)
    assert (result.code, result.err) == (0, "")
    return list(result.document)


def test_the_main_job_in_json_and_in_the_table(tmp_path: Path) -> None:
    (job,) = [job for job in picked(tmp_path) if job["name"] == MAIN_JOB]
    assert job == {
        "name": MAIN_JOB,
        "summary": "GRPO, Qwen3.5-122B-A10B, 4K prompt + 32K response, 4 nodes x 16 NPUs",
        "file": str(jobs.find(MAIN_JOB)),
        "stack": "cann-9.0.0",
        "model": "Qwen3.5-122B-A10B",
        "algorithm": "grpo",
        "engine": "megatron",
        "rollout": "vllm",
        "nodes": 4,
        "npus_per_node": 16,
        "max_prompt_length": 4096,
        "max_response_length": 32768,
    }
    (row,) = [line for line in npurun("jobs", home=tmp_path).out.splitlines() if line.startswith(MAIN_JOB)]
    cells = [cell for cell in row.split("  ") if cell]
    assert [cell.strip() for cell in cells[1:]] == [
        *("Qwen3.5-122B-A10B", "grpo", "megatron", "vllm", "4 × 16", "4K + 32K")
    ]


def test_it_tells_of_the_files_not_of_this_environment(tmp_path: Path) -> None:
    changed = npurun("jobs", home=tmp_path, env={"NNODES": "77", "rollout_name": "sglang"})
    assert changed.out == npurun("jobs", home=tmp_path).out


@pytest.mark.parametrize(
    ("option", "text", "fact"),
    [
        ("model", "30b", "model"),
        ("algorithm", "DAPO", "algorithm"),
        ("engine", "fsdp2", "engine"),
        ("rollout", "sgl", "rollout"),
        ("stack", "8.5", "stack"),
    ],
)
@pytest.mark.usefixtures("corpus")
def test_an_option_picks_by_a_part_of_the_fact(tmp_path: Path, option: str, text: str, fact: str) -> None:
    found, every = picked(tmp_path, f"--{option}", text), picked(tmp_path)
    assert 0 < len(found) < len(every)
    assert found == [job for job in every if text.lower() in str(job[fact] or "").lower()]


@pytest.mark.usefixtures("corpus")
def test_nodes_are_compared_as_a_whole_and_options_must_all_hold(tmp_path: Path) -> None:
    assert {job["nodes"] for job in picked(tmp_path, "--nodes", "1")} == {1}
    both = picked(tmp_path, "--nodes", "4", "--engine", "megatron")
    assert both and {(job["nodes"], job["engine"]) for job in both} == {(4, "megatron")}


@pytest.mark.usefixtures("corpus")
def test_where_nothing_is_picked_it_says_what_there_is(tmp_path: Path) -> None:
    result = npurun("jobs", "--engine", "deepspeed", home=tmp_path)
    assert (result.code, result.out) == (0, "")
    assert "--engine deepspeed" in result.err and "fsdp, fsdp2, megatron" in result.err
    assert "1, 2, 3, 4, 8, 16" in npurun("jobs", "--nodes", "6", home=tmp_path).err
    together = npurun("jobs", "--rollout", "sglang", "--engine", "veomni", "--json", home=tmp_path)
    assert together.document == [] and "--rollout sglang --engine veomni" in together.err


@pytest.mark.usefixtures("corpus")
def test_every_job_of_many_kinds_has_its_facts(tmp_path: Path) -> None:
    found = picked(tmp_path)
    assert {job["algorithm"] for job in found} >= {"grpo", "dapo", "ppo", "rloo", "remax"}
    assert {job["engine"] for job in found} == {"fsdp", "fsdp2", "megatron", "mindspeed", "veomni"}
    assert [job["name"] for job in found if None in (job["rollout"], job["engine"], job["algorithm"])] == []


def test_options_complete_with_what_there_is(tmp_path: Path) -> None:
    assert MAIN_JOB in complete("npurun render qwen3_5", tmp_path)
    assert complete("npurun jobs --engine MEGA", tmp_path) == ["megatron"]
    assert "4" in complete("npurun jobs --nodes ", tmp_path)
    assert "--algorithm" in complete("npurun jobs --a", tmp_path)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_narrow_terminal_has_every_name_whole_and_the_model_below_it(tmp_path: Path, lang: str) -> None:
    lines = on_a_terminal(_PROGRAM, tmp_path, COLUMNS="80", TERM="dumb", NPURUN_LANG=lang)
    assert all(columns(line) <= 80 for line in lines)
    assert [line.split()[0] for line in lines[1:] if not line.startswith(" ")] == [path.stem for path in jobs.shipped()]
    below = [line.strip() for line in lines if line.startswith("  ")]
    for shown, job in zip(below, picked(tmp_path), strict=True):
        assert str(job["model"]).startswith(shown.removesuffix("…")) and len(shown) >= len("Qwen3-8B")


def test_a_row_a_job_from_the_width_on_that_it_takes(tmp_path: Path) -> None:
    whole = npurun("jobs", home=tmp_path).out.splitlines()
    takes = max(map(columns, whole))
    assert on_a_terminal(_PROGRAM, tmp_path, COLUMNS=str(takes), TERM="dumb") == whole
    narrow = on_a_terminal(_PROGRAM, tmp_path, COLUMNS=str(takes - 1), TERM="dumb")
    assert len(narrow) == 1 + 2 * len(jobs.shipped())
