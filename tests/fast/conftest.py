"""What the rooms outside the cluster are tested with: a fake Ray, and a ledger of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from submitter.ledger import Ledger
from submitter.supervise import serve
from tests.support.supervisor import end


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


@pytest.fixture
def real_supervisor() -> None:
    """Asked for by tests in which what the supervisor does is looked at: commands start one, as they do for users."""


@pytest.fixture(autouse=True)
def supervisor_stand_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the process that `submit`, `resume` and `stop` start: nothing, which is much faster.

    They take it that one is at work, and nobody acts on the ledger.
    """
    if "real_supervisor" not in request.fixturenames:
        monkeypatch.setattr(serve, "ensure_running", lambda *_, **__: False)


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Supervisors that a command in this process started; they end with the test."""
    found: list[subprocess.Popen[bytes]] = []
    start = serve.start_detached

    def recorded(home: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        found.append(start(home, environ))
        return found[-1]

    monkeypatch.setattr(serve, "start_detached", recorded)
    yield found
    for process in found:
        end(process)
