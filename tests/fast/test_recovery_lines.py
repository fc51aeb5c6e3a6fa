"""What one line says besides its words: who wrote it, when, and how grave its writer finds it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.recovery.lines import Origin, decode, is_mild, split_origin, time_of, year_of
from submitter.recovery.pattern_literals import literals_of


@pytest.mark.parametrize(
    ("line", "origin", "rest"),
    [
        ("(WorkerDict pid=22126, ip=10.0.0.2) hello", Origin("WorkerDict", 22126, "10.0.0.2"), "hello"),
        ("(TaskRunnerV1 pid=9046) step:2 - a:1", Origin("TaskRunnerV1", 9046), "step:2 - a:1"),
        ("(pid=3349)   warnings.warn(", Origin("", 3349), "  warnings.warn("),
        ("(raylet, ip=10.0.0.3) killed", Origin("raylet", None, "10.0.0.3"), "killed"),
        ("(autoscaler +19s) Error: no", Origin("autoscaler"), "Error: no"),
        ("(raylet) Raylet is terminated.", Origin("raylet"), "Raylet is terminated."),
        (
            "(vLLMHttpServer pid=5, ip=10.0.0.4) (EngineCore_DP0 pid=7) ERROR 11-30 11:53:38 [core.py:712] Traceback",
            Origin("vLLMHttpServer", 5, "10.0.0.4"),
            "Traceback",
        ),
        ("[npurun] from 10.0.0.9 plog-12.log: [ERROR] x", Origin("plog-12.log", None, "10.0.0.9"), "[ERROR] x"),
        ("[rank3]: Traceback", Origin(rank=3), "Traceback"),
        ("[default1]:[rank1]: boom", Origin(rank=1), "boom"),
        ("(W pid=5, ip=train-9-worker-0) x", Origin("W", 5, "train-9-worker-0"), "x"),
        ("2025-07-03T14:20:51.565839352Z (W pid=5) Traceback", Origin("W", 5), "Traceback"),
        ("2025-07-03T14:20:51.565+08:00 stderr F   File", Origin(), "  File"),
        ("[2025-05-10 00:18:21] (W pid=5) [rank15]:[E510 x", Origin("W", 5, rank=15), "[E510 x"),
        ("2026-11-30 11:59:10,968 (W pid=5, ip=10.0.0.3) x", Origin("W", 5, "10.0.0.3"), "x"),
        ("Nov 30 11:59:10 node-3 bash[12]: (W pid=5) x", Origin("W", 5), "x"),
        ("Nov  3 11:59:10 (pid=5) x", Origin("", 5), "x"),
        ("10.0.0.3: (W pid=5) x", Origin("W", 5), "x"),
        ("worker-1  | [rank3]: x", Origin(rank=3), "x"),
        ("2026-11-30 11:59:10,968 INFO (W pid=5) x", Origin(), "2026-11-30 11:59:10,968 INFO (W pid=5) x"),
        ("ray::W.f() (pid=5, ip=10.0.0.3) x", Origin(), "ray::W.f() (pid=5, ip=10.0.0.3) x"),
        ("[2026-11-30 11:59:10,968 E 1 1] (raylet) x", Origin(), "[2026-11-30 11:59:10,968 E 1 1] (raylet) x"),
        ("(not a prefix) text", Origin(), "(not a prefix) text"),
        ("plain", Origin(), "plain"),
    ],
)
def test_prefixes_say_who_wrote_a_line(line: str, origin: Origin, rest: str) -> None:
    assert split_origin(line) == (origin, rest)


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-30 11:53:38,250 ERROR x",
        "[2026-11-30 11:53:38,250 E 15265 15265] (raylet) x",
        "[ERROR] HCCL(1234,python):2026-11-30-11:53:38.250.001 [x.cc:12]",
        "INFO:2026-11-30 11:53:38,250:Saved",
        "2026/11/30 11:53:38.250 x",
    ],
)
def test_times_of_all_forms_are_one_clock(line: str) -> None:
    known = time_of("2026-11-30 11:53:38.250")
    assert known is not None and time_of(line) == pytest.approx(known, abs=0.002)
    assert year_of(line) == 2026


def test_a_time_without_a_year_needs_one() -> None:
    for line in ("ERROR 11-30 11:53:38 [core.py:7] x", "W1130 11:53:38.000000 17182 x.py:56] y"):
        assert time_of(line) is None
        assert time_of(line, 2026) == time_of("2026-11-30 11:53:38")
    assert time_of("[rank15]:[E510 00:18:19.5 x.cpp:629] y", 2025) == time_of("2025-05-10 00:18:19,5")


@pytest.mark.parametrize("line", ["", "9999-99-99 99:99:99", "version 12.0-3 2:1", "2026-13-01 00:00:00"])
def test_digits_that_are_no_time_are_none(line: str) -> None:
    assert time_of(line, 2026) is None


@given(st.text(max_size=200))
def test_no_line_breaks_the_readers(line: str) -> None:
    split_origin(line)
    time_of(line, 2026)
    is_mild(line)
    assert "\x1b" not in decode(line.encode("utf-8", "replace"))


def test_bytes_of_other_encodings_are_text() -> None:
    assert decode("内存不足 out of memory".encode("gb18030")) == "内存不足 out of memory"
    assert decode(b"\x1b[36m(pid=1)\x1b[0m a\x00b\xff\r") == "(pid=1) ab\ufffd"
    assert decode("naïve".encode("latin-1")) == "na\ufffdve"


@pytest.mark.parametrize(
    ("line", "mild"),
    [
        ("WARNING:2026-11-30 11:48:00,1:x failed", True),
        ("x.py:41: UserWarning: veomni is not available: ModuleNotFoundError", True),
        ("[2026-11-30 11:59:10,968 W 1 1] (raylet) x", True),
        ("[2026-11-30 11:59:10,968 E 1 1] (raylet) x", False),
        ("INFO: Error code: ERROR", False),
        ("RuntimeError: x", False),
    ],
)
def test_the_writer_says_how_grave_it_is(line: str, mild: bool) -> None:
    assert is_mild(line) == mild


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        (r"abc\d+def", (("abc",), ("def",))),
        (r"(?P<x>abc)def", (("abcdef",),)),
        (r"(?:first|second) x.*", (("first", "second"),)),
        (r"(?:first|\d+) tail", ((" tail",),)),
        (r"(?:maybe)?sure", (("sure",),)),
        (r"(?:very)+ sure", (("very",), (" sure",))),
        (r"(?i)abc", ()),
        (r"(?i:abc)def", (("def",),)),
        (r"(?!nope)yes", (("yes",),)),
    ],
)
def test_what_a_pattern_needs_is_read_off_it(pattern: str, clauses: tuple[tuple[str, ...], ...]) -> None:
    assert literals_of(pattern) == clauses


def test_what_is_known_to_be_there_is_not_looked_for() -> None:
    assert literals_of(r"(?:Error.*core|core.*failed)", "core") == (("Error", "failed"),)
    assert literals_of(r"(?:core|core.*failed)", "core") == ()
