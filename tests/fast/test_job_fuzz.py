"""Whatever bytes a job file holds: a Job or a UsageError of one line, in bounded time, never anything else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs
from submitter.arguments.assemble import argv, flags
from submitter.errors import UsageError
from submitter.job.model import Job
from tests.support.job_files import HOME, load_text
from tests.support.values import HOSTILE

SHIPPED = jobs.find("qwen3_5_122b_a10b_32k").read_text()
LINES = SHIPPED.splitlines(keepends=True)
PIECES = (
    "\t", "\n", "  ", "- ", ": ", "? ", "{", "}", "[", "]", "&a ", "*a", "<<: ", "!!", "!x ", "|\n", ">\n", "'", '"',
    "#", "---\n", "...\n", "%YAML 1.2\n", "${", "}", "${{", "}}", "${TP}", "${{ TP * 2 }}", "$text: ", "null", "0x1f",
    "1:2", "\\", "\0", "\x85", "\u2028", "\ufeff", "é", "=", "~", "@", "`", "0" * 200, "(" * 50, "[" * 40,
)  # fmt: skip


def outcome(text: str | bytes, folder: Path, **environ: str) -> Job | UsageError:
    try:
        job = load_text(text, folder, environ={**HOME, **environ})
    except UsageError as error:
        for language in ("en", "zh"):
            line = error.render(language)
            assert len(line.splitlines()) == 1
            line.encode()
        assert error.place is not None
        assert error.place.file or (error.place.key or "").startswith("environment variable ")
        return error
    for argument in (*argv(job), *(f"{name}={value}" for name, value in flags(job).items())):
        assert "\0" not in argument
        argument.encode()
    return job


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_any_bytes(folder: Path, text: str | bytes) -> None:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    assert isinstance(outcome(text, folder), UsageError)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_pieces_of_yaml(folder: Path, pieces: list[str]) -> None:
    outcome("".join(pieces), folder)
    outcome(f"name: t\narguments:\n  data:\n    a: {''.join(pieces)}", folder)


@settings(max_examples=150)
@given(st.data())
def test_the_shipped_job_damaged(folder: Path, data: st.DataObject) -> None:
    text = SHIPPED
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 20))
        text = text[:start] + data.draw(st.sampled_from([*PIECES, ""])) + text[end:]
    outcome(text, folder)


@settings(max_examples=150)
@given(st.permutations(range(len(LINES))), st.integers(1, len(LINES)))
def test_the_shipped_job_shuffled(folder: Path, order: list[int], count: int) -> None:
    outcome("".join(LINES[index] for index in order[:count]), folder)


_KEYS = st.sampled_from(
    ["name", "summary", "stack", "cluster", "nodes", "npus_per_node", "labels", "on_unfit", "place_wait_s", "variables",
     "env", "trainer", "module", "launcher", "torchrun", "nproc_per_node", "master_addr", "master_port", "arguments",
     "data", "recovery", "max_attempts", "max_hours", "first_step_min", "resume", "on_reason", "runtime_env",
     "working_dir", "excludes", "pip", "secrets", "file", "$text", "A", "quoting", "constants", "script", "imported",
     "launch_line", "decided", "unquoted"]
)  # fmt: skip
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(HOSTILE),
    st.sampled_from(["${A}", "${{ A }}", "verbatim"]),
)
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=5)),
    max_leaves=20,
)


@settings(max_examples=100)
@given(st.dictionaries(_KEYS, _TREES, max_size=10), st.sampled_from(HOSTILE))
def test_any_tree_of_known_keys(folder: Path, tree: dict[str, object], text: str) -> None:
    sound = {
        "name": "t",
        "cluster": {"nodes": 1, "npus_per_node": 1},
        "trainer": {"module": "m"},
        "variables": {"A": 5},
        "arguments": {"data": {"a": "${A}"}},
    }
    for base in ({}, sound):
        outcome(yaml.safe_dump({**base, **tree}), folder, A=text)
    for key in tree:
        outcome(yaml.safe_dump({**sound, key: tree[key]}), folder)
