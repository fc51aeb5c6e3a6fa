"""A log of one long attempt, as large as wanted, and the table of signatures as `grep -E` would be given it."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from submitter.recovery.signatures import Signature, signatures

REAL = Path(__file__).parents[1] / "data" / "verl_logs" / "fail-node-loss.log.gz"
REASON, NODE = "raylet_lost", "127.0.0.2"
"""What that log says, however often its steps are repeated."""
_FIRST_STEP, _FAILURE = b" step:1 - ", b"(raylet)\x1b[0m Raylet is terminated"
_PIECES = (
    (re.compile(r"\(\?P<\w+>|\(\?i?:"), "("),
    (re.compile(r"\\d"), "[0-9]"),
    (re.compile(r"\\w"), "[A-Za-z0-9_]"),
    (re.compile(r"\\s"), "[[:space:]]"),
    (re.compile(r"\\S"), "[^[:space:]]"),
    (re.compile(r"(?<=[*+?}])\?"), ""),
)
"""Of Python's patterns, what POSIX spells otherwise."""


def write_log(path: Path, size: int) -> int:
    """One attempt of about `size` bytes whose node is lost at the end; its length."""
    start, steps, failure = _parts()
    with path.open("wb") as log:
        log.write(start)
        while log.tell() + len(failure) < size:
            log.write(steps)
        log.write(failure)
        return log.tell()


def _parts() -> tuple[bytes, bytes, bytes]:
    data = gzip.decompress(REAL.read_bytes())
    first = data.rfind(b"\n", 0, data.index(_FIRST_STEP)) + 1
    failure = data.rfind(b"\n", 0, data.index(_FAILURE)) + 1
    return data[:first], data[first:failure], data[failure:]


def grep_patterns() -> str:
    """A line for each signature; where POSIX has no such pattern, its literal core."""
    return "".join(f"{line}\n" for line in map(_posix, signatures()))


def cores() -> str:
    return "".join(f"{one.literal}\n" for one in signatures())


def _posix(signature: Signature) -> str:
    pattern = signature.pattern or re.escape(signature.literal)
    for piece, told in _PIECES:
        pattern = piece.sub(lambda _, told=told: told, pattern)
    known = "(?" not in pattern and _understood(pattern)
    return pattern if known else re.sub(r"([][\\.*^$+?(){}|])", r"\\\1", signature.literal)


def _understood(pattern: str) -> bool:
    return subprocess.run(["grep", "-qE", "--", pattern], input=b"x", capture_output=True, timeout=10).returncode < 2


@dataclass(frozen=True)
class Cost:
    cpu_s: float
    """User and system: the share of a busy machine says nothing."""
    rss_mib: float
    out: bytes


_MEASURED = """
import json, os, sys
_, status, usage = os.wait4(os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
said = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss]
print(json.dumps(said), file=sys.stderr)
"""
"""In a small process: Linux counts into a program's ru_maxrss what was there before its exec, here all of pytest."""


def cost(command: Sequence[str], env: dict[str, str]) -> Cost:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _MEASURED, *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **env},
        check=True,
    )
    code, cpu_s, kib = json.loads(done.stderr.splitlines()[-1])
    assert code in (0, 1), done.stderr  # 1: grep found nothing
    return Cost(cpu_s, kib / 1024, done.stdout)


def diagnose_cost(log: Path, home: Path) -> Cost:
    """Of a cold `npurun diagnose LOG --json`."""
    program = "from submitter.cli.main import run; run()"
    return cost([sys.executable, "-c", program, "diagnose", str(log), "--json"], {"NPURUN_HOME": str(home)})


def grep_cost(log: Path, patterns: Path, form: str) -> Cost:
    """`form`: `-E` or `-F`."""
    return cost(["grep", "-a", "-c", form, "-f", str(patterns), str(log)], {"LC_ALL": "C"})
