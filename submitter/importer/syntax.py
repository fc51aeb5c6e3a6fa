"""A script's text → its syntax tree, by shfmt (`shfmt --to-json`): plain dicts and lists, as its README describes."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from submitter.errors import Place, UsageError
from submitter.gang.secret_like import redacted
from submitter.importer.comments import with_closed_comments

Node = dict[str, Any]

MAX_BYTES = 1_000_000
"""Fifty times the longest published launch script."""
_MAX_TREE_BYTES = 60_000_000
"""Of shfmt's answer: 10,000 lines of arguments have 10 MB."""
_TIMEOUT_S = 20
_MAX_REPAIRS = 30
_DOTTED_KEY = re.compile(r"\[([A-Za-z_][\w-]*(?:[./-][\w-]+)+)\](?==)")
_ELEMENT = re.compile(r"(\d+):(\d+): (`\[x\]` must be followed|array element values must be words)")
_AT = re.compile(r"^(?:<standard input>:)?(\d+):\d+: (.*)$", re.MULTILINE)


def read_source(path: Path, shown: str) -> str:
    """The script's text. UsageError: not there, too long, binary, not UTF-8, or with Windows line ends."""
    place = Place(shown)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
            raise UsageError("importer.not_a_file", place)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError("importer.unreadable", place, reason=error.strerror or str(error)) from None
    except ValueError:  # a NUL in the path
        raise UsageError("importer.unreadable", place, reason="not a file's name") from None
    if len(data) > MAX_BYTES:
        raise UsageError("importer.too_long", place, limit=MAX_BYTES)
    if b"\0" in data:
        raise UsageError("importer.binary", place)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError("importer.not_utf8", Place(shown, line)) from None
    if "\r\n" in text:
        line = text.count("\n", 0, text.index("\r\n")) + 1
        raise UsageError("importer.windows_lines", Place(shown, line))
    return text


def parse(text: str, shown: str) -> Node:
    """The File node. UsageError: a syntax error, with its line, or nesting that is too deep."""
    text = with_closed_comments(text)
    for _ in range(_MAX_REPAIRS):
        done = _parsed(text, shown)
        if len(done.stdout) > _MAX_TREE_BYTES:
            raise UsageError("importer.too_long", Place(shown), limit=MAX_BYTES)
        if done.returncode == 0:
            return _tree(done.stdout, shown)
        repaired = _repaired(text, done.stderr.decode(errors="replace"))
        if repaired is None:
            break
        text = repaired
    raise _syntax_error(done.stderr.decode(errors="replace"), shown)


def _parsed(text: str, shown: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [_shfmt(), "--to-json", "--language-dialect", "bash"],
            input=text.encode(),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError("importer.parse_slow", Place(shown), limit=_TIMEOUT_S) from None


def _repaired(text: str, stderr: str) -> str | None:
    """shfmt takes two things for errors that bash does not; what they stand for is spelled so that both read it."""
    if "arithmetic" in stderr and (quoted := _DOTTED_KEY.sub(r'["\1"]', text)) != text:  # declare -A M=([a.b]=1)
        return quoted
    found = _ELEMENT.search(stderr)
    if found is None:
        return None
    lines = text.split("\n")
    line, column = int(found[1]) - 1, int(found[2]) - 1
    as_bytes = lines[line].encode()
    sign = b"[" if found[3] == "`[x]` must be followed" else b"="  # A=(--freq [0]*4), A=($X.lr=1): words, no index
    at = as_bytes.rfind(sign, 0, column + 1)
    if at < 0:
        return None
    lines[line] = (as_bytes[:at] + b"\\" + as_bytes[at:]).decode()
    return "\n".join(lines)


def _tree(output: bytes, shown: str) -> Node:
    try:
        tree: Node = json.loads(output)
    except RecursionError:
        raise UsageError("importer.too_deep", Place(shown)) from None
    return tree


def line_of(node: Node) -> int:
    """1-based."""
    return int(node["Pos"]["Line"])


def end_line(node: Node) -> int:
    return int(node["End"]["Line"])


def comments_of(node: Node) -> tuple[str, ...]:
    """Those above a statement or an element and the one behind it, without `#`."""
    texts = [(line_of(one) if "Pos" in one else 0, one.get("Text", "").strip()) for one in node.get("Comments", [])]
    return tuple(redacted(text) for line, text in texts if not (line == 1 and text.startswith("!")))


def _shfmt() -> str:
    """The one that npurun's own installation brought, before any other on PATH."""
    own = Path(sysconfig.get_path("scripts")) / "shfmt"
    found = str(own) if own.is_file() else shutil.which("shfmt")
    if found is None:
        raise UsageError("importer.no_shfmt")
    return found


def _syntax_error(stderr: str, shown: str) -> UsageError:
    if "goroutine" in stderr or "fatal error" in stderr:
        return UsageError("importer.too_deep", Place(shown))
    found = _AT.search(stderr)
    if found is None:
        return UsageError("importer.syntax", Place(shown), problem=stderr.strip()[:300])
    return UsageError("importer.syntax", Place(shown, int(found[1])), problem=found[2][:300])
