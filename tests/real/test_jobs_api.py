"""The client, the log and the commands behind `logs` and `stop` on a real Ray with token authentication."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from submitter.cluster.auth import Token
from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.exit_codes import ExitCode
from submitter.ledger import Ledger
from submitter.supervise.follow import follow
from submitter.supervise.stop import stop
from tests.support.head import CutProxy, Head, started_head
from tests.support.jobs_contract import CONTRACT, body, wait_status

pytestmark = pytest.mark.real

PRINTS = """python3 -c "
import time
for n in range({count}):
    print('line', n, chr(0x6b65) * 20, flush=n % 7 == 0)
    time.sleep({pause})
" """


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with started_head() as head:
        yield head


def _lines(count: int) -> list[str]:
    return [f"line {n} {'步' * 20}" for n in range(count)]


def _nothing(_text_id: str, /, **_values: object) -> None:
    pass


class Seen(list[str]):
    """The printed lines; `at` says what happens when a line comes for the first time."""

    def __init__(self, at: dict[str, Callable[[], object]]) -> None:
        super().__init__()
        self._at = at

    def __call__(self, line: str) -> None:
        if line.startswith("line "):
            self.append(line)
        self._at.pop(line, lambda: None)()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("check", CONTRACT)
def test_contract(head: Head, check: Callable[[RayClient], None]) -> None:
    check(head.client)


@pytest.mark.timeout(60)
def test_token_and_address_are_told_apart(head: Head) -> None:
    for token, text_id in [(None, "cluster.token_wanted"), (Token("wr0ng", "x"), "cluster.token_refused")]:
        with pytest.raises(RayError) as caught:
            RayClient(head.address, token=token).version()
        assert caught.value.text_id == text_id
    with pytest.raises(RayError) as caught:
        RayClient(f"http://{head.gcs_address}").version()
    assert caught.value.text_id == "cluster.gcs_port"


@pytest.mark.timeout(180)
def test_a_log_through_connections_that_are_cut(head: Head) -> None:
    target = urlsplit(head.address)
    proxy = CutProxy(str(target.hostname), int(target.port or 0))
    head.client.post_job(body("cut-a1", PRINTS.format(count=1500, pause=0.004)))
    seen = Seen(dict.fromkeys(_lines(1500)[100::300], proxy.cut))
    outcome = follow(RayClient(proxy.address, token=head.token), "cut-a1", out=seen, tell=_nothing)
    proxy.close()
    assert outcome.exit_code is ExitCode.DONE
    assert seen == _lines(1500)
    assert proxy.cuts >= 5


@pytest.mark.timeout(240)
def test_a_dashboard_that_is_killed_and_comes_back(head: Head) -> None:
    head.client.post_job(body("restart-a1", PRINTS.format(count=400, pause=0.05)))
    told: list[str] = []

    def kill() -> None:
        killed.append(head.kill_dashboard())

    def tell(text_id: str, /, **_values: object) -> None:
        told.append(text_id)
        if text_id == "follow.away" and len(killed) == 1:
            killed.append(killed[0])
            killed[0].start_again()

    killed: list[object] = []
    seen = Seen({_lines(400)[50]: kill})
    outcome = follow(head.client, "restart-a1", out=seen, tell=tell)
    assert outcome.exit_code is ExitCode.DONE
    assert seen == _lines(400)
    assert "follow.away" in told and "follow.back" in told


@pytest.mark.timeout(120)
def test_stop_waits_for_the_end(head: Head, tmp_path: Path) -> None:
    head.client.post_job(body("halt-a1", PRINTS.format(count=100_000, pause=0.1)))
    wait_status(head.client, "halt-a1", "RUNNING")
    found = stop("halt", Ledger(tmp_path / "home"), head.client, tell=_nothing, care=bool)
    assert found["state"] == "stopped"
    outcome = follow(head.client, "halt-a1", out=Seen({}), tell=_nothing)
    assert outcome.exit_code is ExitCode.STOPPED
