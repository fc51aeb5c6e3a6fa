"""The one pass over a log finds what a look at each line would, whatever the chunks, and keeps a bounded part."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.recovery import logs, scan
from submitter.recovery.lines import decode
from submitter.recovery.logs import Source
from submitter.recovery.scan import Matcher, Scanned
from submitter.recovery.signatures import Signature

TABLE = (
    Signature("a", "alpha-core"),
    Signature("b", "alpha", r"alpha (?P<ip>\d+\.\d+)"),
    Signature("c", "core of", r"(?:first|second) core of (?P<size>\d+)"),
    Signature("d", "行错误"),
)
MATCHER = Matcher(TABLE)
PIECES = st.sampled_from(
    [
        "alpha-core",
        "alpha 1.2",
        "alpha",
        "first core of 7",
        "core of 7",
        "行错误",
        " ",
        "\r",
        "\x1b[31m",
        "\0",
        "x" * 50,
        "é",
    ]
)
LINES = st.lists(st.lists(PIECES, max_size=5).map("".join), max_size=30)


def _scan(data: bytes, size: int = 1 << 18, table: Matcher = MATCHER) -> Scanned:
    return scan.scan(Source("log", lambda: [data[at : at + size] for at in range(0, len(data), size)]), table)


def _found(scanned: Scanned) -> dict[str, list[int]]:
    finds = [find for segment in scanned.segments for find in segment.finds]
    return {
        one.reason: [find.spot.line for find in finds if find.signature is one]
        for one in TABLE
        if any(find.signature is one for find in finds)
    }


def _by_line(lines: Sequence[str]) -> dict[str, list[int]]:
    """What each line's states (a progress bar's) hold, looked at one by one."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(lines, start=1):
        for one in TABLE:
            if any(one.core in state and one.find(decode(state)) is not None for state in line.encode().split(b"\r")):
                found.setdefault(one.reason, []).append(number)
    return found


@given(LINES, st.integers(1, 64))
def test_it_finds_what_a_look_at_each_line_would(lines: list[str], size: int) -> None:
    expected, found = _by_line(lines), _found(_scan("\n".join(lines).encode(), size))
    assert found.keys() == expected.keys()
    for reason, numbers in expected.items():
        assert found[reason] == numbers or (
            len(numbers) > scan.FIRST_FINDS
            and found[reason][: scan.FIRST_FINDS] == numbers[: scan.FIRST_FINDS]
            and found[reason][-1] == numbers[-1]
        )


@given(st.binary(max_size=400), st.integers(1, 64))
def test_no_bytes_raise(data: bytes, size: int) -> None:
    assert _found(_scan(b"alpha-core\n" + data, size))["a"][0] == 1


def test_of_many_lines_the_first_and_the_last_are_kept() -> None:
    lines = [f"alpha-core {number}" for number in range(100_000)]
    (segment,) = _scan("\n".join(lines).encode()).segments
    numbers = [find.spot.line for find in segment.finds if find.signature.reason == "a"]
    assert numbers == [1, 2, 3, 4, 5, 99_996, 99_997, 99_998, 99_999, 100_000]


def test_a_core_in_a_line_of_megabytes_has_its_surroundings() -> None:
    line = b"(W pid=3, ip=10.0.0.7) " + b"x" * 3_000_000 + b" alpha-core right here " + b"y" * 500_000
    (segment,) = _scan(b"one\n" + line + b"\nthree alpha-core\n").segments
    first, last = (find for find in segment.finds if find.signature.reason == "a")
    assert (first.spot.line, last.spot.line) == (2, 3)
    assert "alpha-core right here" in first.spot.text and len(first.spot.text) < 10_000
    near = (b"(W pid=3, ip=10.0.0.7) " + b"x" * 10_000 + b" alpha-core") + b"\n"
    (segment,) = _scan(near).segments
    assert segment.finds[0].spot.origin.ip == "10.0.0.7"


def test_a_core_at_a_seam_of_blocks_is_seen() -> None:
    for cut in range(1, 12):
        data = b"x" * (logs.LINE_BYTES - cut) + b"alpha-core" + b"y" * 100
        assert _found(_scan(data)) == {"a": [1]}, cut


def test_the_time_of_a_line_is_its_own_or_that_of_the_line_before() -> None:
    log = b"2026-11-30 11:00:00,5 start\nno time alpha-core\n2026-11-30 11:00:07,0 alpha-core\n"
    (segment,) = _scan(log).segments
    times = [find.spot.time for find in segment.finds]
    assert times[0] is not None and times[1] is not None and times[1] - times[0] == pytest.approx(6.5)


def test_a_start_after_an_end_begins_another_attempt() -> None:
    attempt = "ray init kwargs: {}\nConnecting to existing Ray cluster\n(T pid=1) step:1 - a:1\nalpha-core %d\n"
    end = "Error executing job with overrides: []\nTraceback (most recent call last):\nValueError: x\n"
    whole = "".join(attempt % number + end for number in range(30)) + attempt % 30
    scanned = _scan(whole.encode(), 100)
    assert scanned.attempts == 31 and len(scanned.segments) == scan.SEGMENTS
    newest = scanned.segments[-1]
    assert [find.spot.text for find in newest.finds] == ["alpha-core 30"]
    assert len(newest.marked("start")) == 2 and [one.values["step"] for one in newest.marked("step")] == ["1"]
    assert [trace.root.type for trace in scanned.segments[0].traces] == ["ValueError"]
    assert newest.traces == []


def test_a_mark_is_read_only_where_it_is_one() -> None:
    log = (
        b"step:1 - loss:2\ntraining/global_step:3 - x:1\n(T pid=1) step:2 - x\nmy step:7 of 9\n"
        b"2026-11-30 12:04:06,601\tWARN cli.py:85 -- \x1b[33mJob 'a b' was stopped\x1b[39m\nJob 'c' succeeded in life\n"
        b"say [npurun] end {}\n"
    )
    (segment,) = _scan(b"head\n" + log).segments
    assert [one.values["step"] for one in segment.marked("step")] == ["1", "2"]
    assert [one.values["word"] for one in segment.marked("word")] == ["was stopped"]
    assert not segment.marked("end")


def test_a_traceback_may_go_on_in_many_blocks() -> None:
    frames = "".join(f'  File "/x/{index}.py", line {index}, in f\n    pass\n' for index in range(200))
    data = f"head\nTraceback (most recent call last):\n{frames}ValueError: the end\n".encode()
    for size in (37, 1000, 1 << 18):
        (segment,) = _scan(data, size).segments
        (trace,) = segment.traces
        assert (trace.line, trace.root.text, len(trace.root.frames)) == (2, "ValueError: the end", 200)


def test_the_tail_is_kept_for_what_nobody_knows() -> None:
    data = b"".join(b"%d %s\n" % (number, b"z" * 90) for number in range(20_000))
    scanned = _scan(data)
    kept = b"".join(block.data for block in scanned.tail)
    assert data.endswith(kept) and len(kept) < 3 * logs.BLOCK_BYTES
    assert scanned.tail[0].line == 1 + data[: len(data) - len(kept)].count(b"\n")
    assert scanned.size == len(data)


def test_the_finds_of_a_pattern_give_its_groups() -> None:
    (segment,) = _scan(b"\x1b[33msecond core of 12\x1b[0m and alpha 4.5\n").segments
    assert [dict(find.values) for find in segment.finds] == [{"size": "12"}, {"ip": "4.5"}]
    assert re.fullmatch("second core of 12 and alpha 4.5", segment.finds[0].spot.text)
