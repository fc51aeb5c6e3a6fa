"""Steps as verl logs them, however the log is cut."""

from __future__ import annotations

import gzip
import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.step_lines import (
    FILE_LOGGER,
    LINE_BYTES,
    Step,
    StepReader,
    merged,
    step_of,
    steps_in,
    trained,
)

LOGS = Path(__file__).parents[1] / "data/verl_logs"


@pytest.mark.parametrize("actor", ["TaskRunner", "TaskRunnerV1"])
def test_a_step_as_verl_prints_it(actor: str) -> None:
    step = step_of(
        f"\x1b[36m({actor} pid=812, ip=10.0.0.2)\x1b[0m step:12 - actor/pg_loss:-0.5 - actor/lr:1e-06"
        " - critic/score/mean:np.float64(0.25) - num_turns/min:np.int32(2) - actor/grad_norm:nan - a/kl:-inf"
        " - training/global_step:12 - timing_s/step:61.5"
        "\x1b[32m [repeated 2x across cluster] (Ray deduplicates logs by default.)\x1b[0m"
    )
    assert step is not None and step.number == 12
    assert math.isnan(step.metrics.pop("actor/grad_norm"))
    assert step.metrics == {
        "actor/pg_loss": -0.5,
        "actor/lr": 1e-06,
        "critic/score/mean": 0.25,
        "num_turns/min": 2.0,
        "a/kl": -math.inf,
        "training/global_step": 12.0,
        "timing_s/step": 61.5,
    }


@pytest.mark.parametrize(
    "line",
    [
        "timing_s/step:12 - x:1",
        "[response] First step:3 - mix the flour",
        "training/global_step:12 - x:1",
        "step: 12 - x:1",
        "step:x - y:1",
        "{'step:12'}",
        "step:9999999999999999999 - x:1",
    ],
)
def test_what_is_no_step(line: str) -> None:
    assert step_of(line) is None
    assert StepReader().feed(f"{line}\n".encode()) == []


def test_a_progress_bar_before_it_on_the_same_line() -> None:
    line = (
        "Training Progress:   0%|          | 0/8 [00:00<?]\rTraining Progress: 12%|█▎| 1/8 [00:02<00:19]\rstep:1 - a:2"
    )
    assert step_of(line) == Step(1, {"a": 2.0}) == step_of(f"{line}\r")


def test_what_is_no_number_is_left_out() -> None:
    assert step_of("step:1 - a:x - b:np.float64(oops) - :3 - c - d:True - e:1e999 - f: 2 ") == Step(
        1, {"e": math.inf, "f": 2.0}
    )


def test_step_0_is_a_validation_and_a_step_logged_in_parts_is_one() -> None:
    steps = steps_in(["step:0 - val:1", "step:2 - a:1", "step:1 - a:1", "step:2 - a:3 - val:2", "noise"])
    assert steps == [Step(0, {"val": 1.0}), Step(1, {"a": 1.0}), Step(2, {"a": 3.0, "val": 2.0})]
    assert trained(steps) == [1, 2]


@pytest.mark.parametrize(
    ("log", "steps", "names"),
    [
        ("healthy-2-nodes", range(9), 84),
        ("healthy-4-nodes", range(9), 84),
        ("healthy-resumed-from-step-6", range(7, 13), 84),
    ],
)
def test_real_logs_cut_anywhere(log: str, steps: range, names: int) -> None:
    data = gzip.decompress((LOGS / f"{log}.log.gz").read_bytes())
    whole = steps_in(data.decode("utf-8", "replace").splitlines())
    assert [step.number for step in whole] == list(steps)
    assert min(len(step.metrics) for step in whole if step.number) >= names
    for size in (7, 1000, 65_536, len(data)):
        reader = StepReader()
        read = [step for at in range(0, len(data), size) for step in reader.feed(data[at : at + size])]
        assert merged(read) == whole


_LINES = st.one_of(
    st.sampled_from(
        [
            b"step:3 - a:1",
            b"(A pid=1, ip=10.0.0.1) step:4 - b:np.float64(2.5)",
            b"\r 5%\rstep:5 - c:1",
            b"noise step:6 - d:1",
        ]
    ),
    st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")),
)


@given(st.lists(_LINES, max_size=20), st.lists(st.integers(0, 400), max_size=12))
def test_cut_anywhere_nothing_changes(lines: list[bytes], cuts: list[int]) -> None:
    log = b"".join(line + b"\n" for line in lines)
    edges = [0, *sorted(min(cut, len(log)) for cut in cuts), len(log)]
    reader = StepReader()
    read = [step for begin, end in pairwise(edges) for step in reader.feed(log[begin:end])]
    assert read == [step for line in log.split(b"\n") if (step := step_of(line.decode("utf-8", "replace")))]


@given(st.text(max_size=200))
def test_any_line_is_read_without_an_error(text: str) -> None:
    step = step_of(f"step:1 - {text}".replace("\n", " "))
    assert step is None or all(isinstance(value, float) for value in step.metrics.values())


def test_of_a_line_that_never_ends_little_is_kept() -> None:
    reader = StepReader()
    for _ in range(5):
        assert reader.feed(b"x" * (LINE_BYTES // 2)) == []
    assert len(reader._rest) <= LINE_BYTES
    assert reader.feed(b"step:9 - a:1\nstep:1 - a:1\n") == [Step(1, {"a": 1.0})]


def test_a_step_after_days_of_a_progress_bar() -> None:
    reader = StepReader()
    for _ in range(5):
        assert reader.feed(b"\rTraining: 5%" + b"." * (LINE_BYTES // 2)) == []
    assert reader.feed(b"\rstep:1 - a:1\n") == [Step(1, {"a": 1.0})]


def test_the_file_logger() -> None:
    lines = [
        json.dumps({"step": 1, "data": {"a": 1, "b": 0.5, "ok": True, "name": "x"}}),
        '{"step": 2, "data": {"a": null, "b": 2}}',
        '{"step": "3", "data": {}}',
        '{"step": 4, "data": 5}',
        "[" * 100_000,
        '{"step": 5, "data": {"a": %s}}' % ("9" * 400),
        '{"step": 6, "da',
    ]
    reader = StepReader(FILE_LOGGER)
    assert reader.feed("\n".join(lines).encode()) == [Step(1, {"a": 1.0, "b": 0.5}), Step(2, {"b": 2.0})]
