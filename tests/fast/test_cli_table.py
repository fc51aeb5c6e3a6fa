"""Tables and help text at the width of a terminal, in both languages."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from submitter.cli.wrap import columns, wrap
from tests.support.cli import COMMAND, environment

RUN = "qwen3-5-122b-a10b-32k-a1b2c3d4"
TABLE = f"""\
from submitter.cli.table import Column, print_table
columns = (Column("run"), Column("state"), Column("summary", wraps=True))
print_table(columns, [("{RUN}", None, "one two three " * 8), ("世界\\x1b[2J", "running", "x")])
"""


def on_a_terminal(program: str, home: Path, code: int = 0, **env: str) -> list[str]:
    """What `program` prints on a terminal before it ends with `code`."""
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [*COMMAND[:2], program], stdout=slave, timeout=30, env=environment(home, {"TERM": "xterm", **env})
        )
        assert done.returncode == code
        os.close(slave)
        slave = -1
        return _all(master).decode().splitlines()
    finally:
        os.close(master)
        if slave >= 0:
            os.close(slave)


def _all(master: int) -> bytes:
    data = b""
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # EIO: the terminal's other end is closed
            return data
        if not piece:
            return data
        data += piece


def in_a_pipe(code: str, home: Path) -> list[str]:
    done = subprocess.run([*COMMAND[:2], code], capture_output=True, timeout=30, check=True, env=environment(home))
    return done.stdout.decode().splitlines()


def test_in_a_pipe_a_row_is_a_line_and_nothing_is_cut(tmp_path: Path) -> None:
    lines = in_a_pipe(TABLE, tmp_path)
    assert len(lines) == 3 and all(line == line.rstrip() for line in lines)
    assert lines[1].split()[:2] == [RUN, "-"] and lines[1].endswith("three")
    assert "\x1b" not in "".join(lines)


def test_on_a_terminal_text_wraps_and_names_stay_whole(tmp_path: Path) -> None:
    lines = on_a_terminal(TABLE, tmp_path, COLUMNS="80", TERM="dumb")
    assert len(lines) > 3 and all(columns(line) <= 80 for line in lines)
    assert sum(RUN in line for line in lines) == 1
    narrow = on_a_terminal(TABLE, tmp_path, COLUMNS="20", TERM="dumb")
    assert sum(RUN in line for line in narrow) == 1


def test_values_cannot_move_the_cursor(tmp_path: Path) -> None:
    assert "\x1b[2J" not in "".join(on_a_terminal(TABLE, tmp_path, COLUMNS="80"))


def test_colour_only_on_a_terminal_that_wants_it(tmp_path: Path) -> None:
    assert any("\x1b[1m" in line for line in on_a_terminal(TABLE, tmp_path))
    assert not any("\x1b[3" in line for line in on_a_terminal(TABLE, tmp_path, NO_COLOR="1"))
    assert not any("\x1b" in line for line in on_a_terminal(TABLE, tmp_path, TERM="dumb"))


@given(st.text(st.sampled_from("ab 中文，。（）“”`"), max_size=200), st.integers(2, 40))
def test_wrapping_loses_nothing(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(columns(line) <= width or " " not in line.strip("`") or "`" in line for line in lines)


def test_wrapping_counts_columns_and_keeps_punctuation_off_the_start() -> None:
    assert columns("ab世界") == 6
    assert wrap("世界世界，世界", 8) == ["世界世", "界，世界"]
    assert wrap("run `npurun logs X` now", 12) == ["run", "`npurun logs X`", "now"]
    assert wrap("", 10) == [""]
