"""`npurun serve` with its pages: beside whoever cares for the runs, and never instead of it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from submitter.ledger import Ledger
from submitter.watch.web.server import bind
from submitter.watch.web.token import FILE_NAME
from tests.support.cli import COMMAND, cold, environment
from tests.support.processes import wait_for
from tests.support.supervisor import holder_pid
from tests.support.trained import trained_run

WAIT_S = 30


class Serve:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []

    def told(self, event: str) -> dict[str, Any]:
        """The next line of that kind."""
        assert self.process.stdout is not None
        for text in self.process.stdout:
            self.lines.append(json.loads(text))
            if self.lines[-1]["event"] == event:
                return self.lines[-1]
        raise AssertionError(f"ended without {event}: {self.lines}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


@contextmanager
def serve(home: Path, *arguments: str) -> Iterator[Serve]:
    words = [*COMMAND, "serve", "--json", *arguments]
    with subprocess.Popen(words, env=environment(home), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Serve(process)
        finally:
            if process.poll() is None:
                process.kill()


@contextmanager
def serving(home: Path) -> Iterator[Serve]:
    """One that cares for the runs by now, without pages."""
    with serve(home, "--no-web") as served:
        served.told("supervise.serving")
        yield served


@pytest.fixture
def home(tmp_path: Path) -> Path:
    ledger = Ledger(tmp_path / "npurun")
    trained_run(ledger, "r", steps=20, attempts=1, state="succeeded", now_ms=int(time.time() * 1000))
    ledger.close()
    return tmp_path


def runs(home: Path, url: str) -> list[str]:
    token = (home / "npurun" / FILE_NAME).read_text().strip()
    with urlopen(Request(f"{url}api/runs", headers={"Authorization": f"Bearer {token}"}), timeout=WAIT_S) as answer:
        return [row["run"] for row in json.load(answer)]


def test_pages_beside_the_supervisor(home: Path) -> None:
    with serve(home, "--port", "0") as served:
        told = served.told("web.serving")
        url = told["values"]["url"]
        assert url.startswith("http://127.0.0.1:") and told["values"]["file"] == str(home / "npurun" / FILE_NAME)
        served.told("supervise.serving")
        assert holder_pid(home / "npurun") == served.process.pid
        assert runs(home, url) == ["r"]
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{url}api/runs", timeout=WAIT_S)
        assert served.end() == 0
        assert served.told("supervise.left.told")
    token = (home / "npurun" / FILE_NAME).read_text().strip()
    assert token not in json.dumps(served.lines)


def test_pages_while_another_one_cares_and_then_instead_of_it(home: Path) -> None:
    with serving(home) as first, serve(home, "--port", "0") as second:
        url = second.told("web.serving")["values"]["url"]
        told = second.told("supervise.standing_by")
        assert told["values"]["pid"] == first.process.pid and runs(home, url) == ["r"]
        assert first.end() == 0
        second.told("supervise.serving")
        wait_for(lambda: holder_pid(home / "npurun") == second.process.pid, bound_s=WAIT_S, what="the lock is taken")
        assert second.end(signal.SIGINT) == 0


def test_who_stands_by_leaves_at_once(home: Path) -> None:
    with serving(home) as first, serve(home, "--port", "0") as second:
        second.told("supervise.standing_by")
        assert second.end() == 0 and first.process.poll() is None
        assert first.end() == 0


def test_a_port_that_is_taken_is_told_before_anything_is_begun(home: Path) -> None:
    with bind("127.0.0.1", 0) as taken:
        done = cold("serve", "--port", str(taken.getsockname()[1]), home=home)
    assert done.code == 2 and "--port" in done.err and len(done.err.splitlines()) == 1
    assert holder_pid(home / "npurun") is None


@pytest.mark.parametrize("port", ["70000", "-1", "x", "80 "])
def test_what_is_no_port(home: Path, port: str) -> None:
    done = cold("serve", "--port", port, home=home)
    assert done.code == 2 and "port" in done.err


def test_without_the_extra_the_supervisor_works_alone(home: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    code = (
        "import importlib.util, sys; find = importlib.util.find_spec\n"
        "import submitter.cli.serve_pages as pages\n"
        "pages.find_spec = lambda name: None if name == 'uvicorn' else find(name)\n"
        "from submitter.cli.main import run; run(sys.argv[1:])"
    )
    words = [COMMAND[0], "-c", code, "serve", "--json", "--port", "0"]
    with subprocess.Popen(words, env=environment(home), stdout=subprocess.PIPE, text=True) as process:
        served = Serve(process)
        assert served.told("web.not_installed")["values"]["missing"] == "uvicorn"
        served.told("supervise.serving")
        assert served.end() == 0
    assert not (home / "npurun" / FILE_NAME).exists()


def test_on_an_open_address_it_warns(home: Path) -> None:
    with serve(home, "--host", "0.0.0.0", "--port", "0") as served:
        served.told("web.serving")
        assert "ssh -L" in served.told("web.open")["text"]
        served.told("supervise.serving")
        assert served.end() == 0
