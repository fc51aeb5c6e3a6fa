"""What is new in a log's end: every line once, whatever the pieces; and steps as verl prints them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.gang.step_lines import steps_in, trained
from submitter.supervise import log_end
from submitter.supervise.log_end import LINE_BYTES, LogEnd, Piece, bounded


def _last(log: bytes, lines: int) -> Piece:
    kept = log.splitlines(keepends=True)
    return Piece(b"".join(kept[-lines:]), whole=log.count(b"\n") < lines)


def test_lines_come_once_and_the_position_is_the_size() -> None:
    end, log, seen = LogEnd(), b"", []
    for number in range(1000):
        log += f"line {number} {'x' * 40}\n".encode() * (number % 3)
        fresh = end.take(_last(log, 200))
        seen += fresh.lines
        assert (fresh.position, fresh.grown) == (len(log), number % 3 > 0)
    assert sorted(set(seen), key=lambda line: int(line.split()[1])) == list(dict.fromkeys(seen))
    assert len(set(seen)) == 666


def test_a_line_that_is_half_written_waits_for_its_end() -> None:
    end = LogEnd()
    assert end.take(Piece(b"step:1 - a", whole=True)).lines == []
    assert end.take(Piece(b"step:1 - a:2\nstep", whole=True)).lines == ["step:1 - a:2"]


def test_a_gap_makes_the_position_unknown_and_joins_no_lines() -> None:
    end = LogEnd()
    end.take(Piece(b"a" * 5000 + b"half", whole=True))
    fresh = end.take(Piece(b"b\nc\n", whole=False))
    assert (fresh.lines, fresh.grown, fresh.position) == (["b", "c"], True, None)
    assert end.take(Piece(b"a" * 5000 + b"half and b\nc\nd\n", whole=True)).position == 5015


@settings(max_examples=30)
@given(st.lists(st.integers(0, 400), max_size=8), st.integers(1, 60))
def test_no_step_is_lost_while_pieces_overlap(bursts: list[int], width: int) -> None:
    end, log, step, seen = LogEnd(), b"", 0, []
    for burst in bursts:
        for _ in range(burst):
            step += 1
            log += f"step:{step} - loss:{'1' * width}\n".encode()
        seen += end.take(_last(log, log_end.MOST_LINES)).lines
    assert trained(steps_in(seen)) == list(range(1, step + 1))


@given(st.lists(st.binary(max_size=50)), st.integers(1, 100))
def test_bounded_keeps_the_end(chunks: list[bytes], most: int) -> None:
    whole = b"".join(chunks)
    kept, cut = bounded(chunks, most)
    assert whole.endswith(kept)
    assert len(kept) == len(whole) or (cut and len(kept) >= most)


def test_of_a_line_that_never_ends_little_is_kept() -> None:
    log = LogEnd()
    for _ in range(4):
        log.take(Piece(b"\r10 %" + b"." * LINE_BYTES, whole=False))
    assert len(log._partial) == LINE_BYTES
