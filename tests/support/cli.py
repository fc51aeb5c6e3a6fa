"""The `npurun` command as a user meets it: in this process with its output captured, or as a cold process."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click

from submitter.cli import main

MAIN_JOB = "qwen3_5_122b_a10b_32k"
COMMAND = (sys.executable, "-c", "from submitter.cli.main import run; run()")
SENTENCE = re.compile(r"(?<![\w/.-])[A-Za-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}")
"""Four English words in a row."""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """stdout as exactly one JSON document."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        assert list(self.document) == ["error"]
        return self.document["error"]


def npurun(*arguments: str, home: Path, env: Mapping[str, str] | None = None, encoding: str = "utf-8") -> Result:
    """Runs the entry point here, with an empty environment but for `env`; its ledger is in `home`."""
    out, err = _stream(encoding), _stream(encoding)
    with (
        patch.dict(os.environ, environment(home, env), clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        main.prepare_streams()
        code = main._run(list(arguments))
    return Result(int(code), _text(out, encoding), _text(err, encoding))


def cold(*arguments: str, home: Path, env: Mapping[str, str] | None = None, **settings: Any) -> Result:
    """Runs `npurun` as a process of its own."""
    process = subprocess.run(
        [*COMMAND, *arguments],
        env=environment(home, env),
        capture_output=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        **settings,
    )
    return Result(process.returncode, process.stdout.decode(), process.stderr.decode())


def environment(home: Path, env: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(Path(main.__file__).parents[2]), os.environ.get("PYTHONPATH")])
        ),
    }
    return {**kept, "HOME": str(home), "NPURUN_HOME": str(home / "npurun"), **(env or {})}


def english(text: str) -> list[str]:
    """Lines with an English sentence in them, but for the operating system's words."""
    return [line for line in text.replace(os.strerror(errno.ENOENT), "").splitlines() if SENTENCE.search(line)]


def parses(words: Sequence[str]) -> None:
    """Raises what click raises for a command line (without `npurun`), and carries out nothing."""
    if words[0] in main.COMMANDS:
        commands()[words[0]].make_context(words[0], list(words[1:]))
    else:
        main.npurun.make_context("npurun", list(words))


def commands() -> dict[str, click.Command]:
    context = click.Context(main.npurun)
    found = {name: main.npurun.get_command(context, name) for name in main.COMMANDS}
    return {name: command for name, command in found.items() if command is not None}


def _stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)


def _text(stream: io.TextIOWrapper, encoding: str) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode(encoding)
