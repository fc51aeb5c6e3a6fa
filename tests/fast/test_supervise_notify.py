"""Notifications: over real HTTP, without ever telling the address, and without holding anything up."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from submitter.errors import UsageError
from submitter.supervise.notify import VARIABLE, Message, Notifier, Targets, read_targets, shown
from submitter.texts import text

SECRET = "s3cr3t-t0ken"
MESSAGE = Message("failed", "run-1", "job", 2, "device_lost", 17, 100, "10.0.0.3", 1.5, "第二次尝试失败")


@dataclass
class Hook:
    url: str = ""
    answers: list[int] = field(default_factory=list)
    """Statuses of the next answers; 200 after them."""
    got: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            made.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(made.answers.pop(0) if made.answers else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_address[1]}/robot/send?access_token={SECRET}"
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


class Told(list[str]):
    def __call__(self, text_id: str, **values: object) -> None:
        self.append(text(text_id, "en", **values))


def notifier(targets: Targets) -> tuple[Notifier, Told]:
    told = Told()
    return Notifier(targets, told, sleep=lambda _: None), told


def test_a_webhook_gets_the_message_as_json(hook: Hook) -> None:
    sender, told = notifier(Targets((hook.url,)))
    sender.send(MESSAGE)
    sender.flush(20)
    assert told == []
    assert hook.got == [
        {
            **{"event": "failed", "run": "run-1", "job": "job", "attempt": 2, "reason": "device_lost", "step": 17},
            **{"total_steps": 100, "node": "10.0.0.3", "time": 1.5, "text": "第二次尝试失败"},
        }
    ]


def test_a_server_that_restarts_is_tried_again(hook: Hook) -> None:
    hook.answers = [502, 503]
    sender, told = notifier(Targets((hook.url,)))
    sender.send(MESSAGE)
    sender.flush(20)
    assert (len(hook.got), told) == (3, [])


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/{}", "http://127.0.0.1:99999/{}", "https://no.such.host.invalid/{}", "http://a b/{}"]
)
def test_what_cannot_be_reached_is_told_once_and_without_the_secret(url: str) -> None:
    sender, told = notifier(Targets((url.format(SECRET),)))
    sender.send(MESSAGE)
    sender.flush(40)
    assert len(told) == 1
    assert SECRET not in told[0]
    assert SECRET not in repr(Targets((url.format(SECRET),)))


def test_a_refusal_names_its_status(hook: Hook) -> None:
    hook.answers = [403] * 3
    sender, told = notifier(Targets((hook.url,)))
    sender.send(MESSAGE)
    sender.flush(20)
    assert told == ["http://127.0.0.1 did not take the notification in 3 tries: HTTP 403"]


def test_apprise_delivers_to_its_own_schemes(hook: Hook) -> None:
    pytest.importorskip("apprise")
    sender, told = notifier(Targets(apprise=(hook.url.replace("http://", "json://"),)))
    sender.send(MESSAGE)
    sender.flush(30)
    assert told == []
    assert hook.got[0]["message"] == "第二次尝试失败"


def test_an_address_that_apprise_does_not_know_is_told_without_it() -> None:
    pytest.importorskip("apprise")
    sender, told = notifier(Targets(apprise=(f"nosuch://{SECRET}",)))
    sender.send(MESSAGE)
    sender.flush(30)
    (line,) = told
    assert "apprise does not know such an address" in line and SECRET not in line


def test_without_targets_nothing_waits() -> None:
    sender, told = notifier(Targets())
    sender.send(MESSAGE)
    sender.flush(0)
    assert told == []


def test_targets_come_from_file_and_variable(tmp_path: Path) -> None:
    file = tmp_path / "notify"
    file.write_text("# ours\nhttps://hook/x # the team\n\ndingtalk://token\n")
    file.chmod(0o600)
    found = read_targets(tmp_path, {VARIABLE: "http://other/y"})
    assert found.webhooks == ("http://other/y", "https://hook/x")
    assert found.apprise == ("dingtalk://token",)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_use_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "notify"
    file.write_text(f"https://hook/{SECRET}\n")
    file.chmod(mode)
    with pytest.raises(UsageError) as refused:
        read_targets(tmp_path, {})
    assert f"{mode:04o}" in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("form", ["{}", "https://[{}"])
def test_a_line_that_is_no_address_is_not_repeated(tmp_path: Path, form: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_targets(tmp_path, {VARIABLE: form.format(SECRET)})
    assert SECRET not in str(refused.value)


def test_no_file_is_no_target(tmp_path: Path) -> None:
    assert read_targets(tmp_path, {}) == Targets()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://user:pw@oapi.dingtalk.com/robot?token=x", "https://oapi.dingtalk.com"),
        ("dingtalk://token/phone", "dingtalk://…"),
    ],
)
def test_only_scheme_and_host_are_shown(url: str, told: str) -> None:
    assert shown(url) == told
