"""Who gets nothing from the pages: other users, other sites, names that lead here by somebody else's will."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.errors import UsageError
from submitter.ledger import Ledger
from submitter.watch.web.guard import BODY_LIMIT, COOKIE
from submitter.watch.web.hosts import Hosts
from submitter.watch.web.keys import SESSION_S, Keys
from submitter.watch.web.server import bind
from submitter.watch.web.token import FILE_NAME, read_or_make
from tests.support.trained import trained_run
from tests.support.web import TOKEN, Web, web

PATHS = ("/", "/cluster", "/run/r", "/run/nobody", "/texts.json")
DATA = ("/api/runs", "/api/run/r", "/api/run/nobody", "/api/cluster", "/metrics", "/api/run/r/attempts/1/log")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    ledger = Ledger(tmp_path_factory.mktemp("home"))
    trained_run(ledger, "r", steps=30, attempts=1, samples=1)
    with web(ledger, allowed=("gate.example",)) as found:
        yield found
    ledger.close()


@pytest.mark.parametrize("path", PATHS)
def test_without_a_session_every_page_is_the_login(pages: Web, path: str) -> None:
    answer = pages.ask(path)
    assert (answer.status, answer.headers["location"], answer.body) == (303, "/login", b"")


@pytest.mark.parametrize("path", DATA)
def test_without_a_session_no_data_and_no_word_on_what_exists(pages: Web, path: str) -> None:
    answer = pages.ask(path)
    assert answer.status == 401 and answer.json == {"error": "a token is needed"}


@pytest.mark.parametrize("path", DATA)
def test_a_program_shows_the_token(pages: Web, path: str) -> None:
    assert pages.ask(path, headers={"Authorization": f"Bearer {TOKEN}"}).status in (200, 404)
    assert pages.ask(path, headers={"Authorization": "Bearer x"}).status == 401
    assert pages.ask(path, headers={"Authorization": f"Basic {TOKEN}"}).status == 401


@pytest.mark.parametrize("path", [f"/?token={TOKEN}", f"/api/runs?token={TOKEN}", f"/login?token={TOKEN}"])
def test_a_token_in_a_url_opens_nothing(pages: Web, path: str) -> None:
    answer = pages.ask(path)
    assert answer.status in (303, 401, 200) and b"trained" not in answer.body and "set-cookie" not in answer.headers


STRANGE = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "a@localhost", None)


@pytest.mark.parametrize("host", STRANGE)
@pytest.mark.parametrize("path", ["/", "/login", "/api/runs", "/static/icon.svg", "/metrics"])
def test_by_another_name_there_is_nothing(pages: Web, host: str | None, path: str) -> None:
    headers: dict[str, str | None] = {"Cookie": f"{COOKIE}={pages.session()}", "Host": host}
    answer = pages.ask(path, headers=headers)
    assert answer.status in (400, 421) and b"<" not in answer.body


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost", "LOCALHOST:8266", "[::1]:8266", "gate.example:443"])
def test_by_its_own_names_it_answers_whatever_the_tunnels_port(pages: Web, host: str) -> None:
    assert pages.ask("/login", headers={"Host": host}).status == 200


def test_logging_in(pages: Web) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": pages.origin}
    answer = pages.ask("/login", "POST", form, f"token=%20{TOKEN}%0A".encode())
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie and TOKEN not in cookie
    session = cookie.partition("=")[2].partition(";")[0]
    assert pages.ask("/api/runs", headers={"Cookie": f"{COOKIE}={session}"}).status == 200


def test_a_wrong_token_is_told_after_a_while(pages: Web) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": pages.origin}
    began = time.monotonic()
    answer = pages.ask("/login", "POST", form, b"token=wrong")
    assert answer.status == 403 and "set-cookie" not in answer.headers and time.monotonic() - began >= 0.4


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", None, "https://127.0.0.1", "http://localhost:1"])
@pytest.mark.parametrize("path", ["/run/r/stop", "/login", "/logout", "/nodes/release", "/language"])
def test_a_form_of_another_site_does_nothing(pages: Web, path: str, origin: str | None) -> None:
    assert pages.post(path, {}, Origin=origin).status == 403


def test_a_form_without_its_own_sessions_mark_does_nothing(pages: Web) -> None:
    for mark in ("", "x", pages.keys.form_token(pages.session(time.time() - 60))):
        assert pages.post("/run/r/stop", {"csrf": mark}).status == 403


def test_sessions_end_and_none_can_be_made_up() -> None:
    keys, other = Keys("a" * 40), Keys("b" * 40)
    session = keys.new_session(1000.0)
    assert keys.is_session(session, 1000.0 + SESSION_S - 1) and not keys.is_session(session, 1000.0 + SESSION_S)
    assert not other.is_session(session, 1000.0), "a new token ends all sessions"
    later = session.replace(session.partition(".")[0], "99999999999", 1)
    assert not keys.is_session(later, 1000.0)
    assert keys.token not in session and keys.form_token(session) != keys.form_token(keys.new_session(1000.0))


@given(st.text(max_size=80))
def test_no_text_is_a_session(text: str) -> None:
    assert not Keys("a" * 40).is_session(text, 0.0) and not Keys("a" * 40).is_token(text)


def test_every_answer_forbids_frames_scripts_of_others_and_keeping(pages: Web) -> None:
    for path in ("/login", "/", "/api/runs", "/nothing"):
        headers = pages.known(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store" and "server" not in headers


OUTSIDE = ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fview.py", "/static//etc/passwd")


@pytest.mark.parametrize("path", [*OUTSIDE, "/static/\\..\\app.py"])
def test_static_files_are_those_of_one_folder(pages: Web, path: str) -> None:
    answer = pages.known(path)
    assert answer.status in (404, 400) and b"import" not in answer.body and b"root:" not in answer.body


def test_a_body_that_is_too_large_is_refused(pages: Web) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": pages.origin}
    assert pages.ask("/login", "POST", form, b"token=" + b"x" * BODY_LIMIT).status == 413


def test_a_body_without_a_length_is_cut_off(pages: Web) -> None:
    with socket.create_connection(("127.0.0.1", pages.port), timeout=10) as raw:
        head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{pages.port}\r\nOrigin: {pages.origin}\r\n"
        kind = "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n"
        raw.sendall(f"{head}{kind}\r\n".encode())
        sent = 0
        try:
            while sent < 40 * BODY_LIMIT:
                raw.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
                sent += 0x8000
            raw.sendall(b"0\r\n\r\n")
            answer = raw.recv(200)
        except OSError:
            answer = b""
    assert not answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 303"))
    assert pages.ask("/login").status == 200


def test_line_breaks_do_not_reach_the_headers(pages: Web) -> None:
    answer = pages.post("/language", {"language": "zh\r\nX: 1", "back": "//evil.example/"}, Accept=None)
    assert answer.status == 303 and answer.headers["location"] == "/" and "x" not in answer.headers


# the token's file


def test_a_new_token_is_private_and_kept(tmp_path: Path) -> None:
    token = read_or_make(tmp_path)
    assert len(token) >= 40 and read_or_make(tmp_path) == token
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert read_or_make(_folder(tmp_path / "other")) != token


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("how", ["link", "open", "fifo", "short", "empty", "binary", "folder"])
def test_a_token_that_others_may_know_is_refused(tmp_path: Path, how: str) -> None:
    file = tmp_path / FILE_NAME
    if how == "link":
        (tmp_path / "else").write_text("x" * 60)
        (tmp_path / "else").chmod(0o600)
        file.symlink_to(tmp_path / "else")
    elif how == "fifo":
        os.mkfifo(file, 0o600)
    elif how == "folder":
        file.mkdir(0o700)
    else:
        file.write_bytes({"open": b"x" * 60, "short": b"abc", "empty": b"", "binary": b"\xff" * 60}[how])
        file.chmod(0o644 if how == "open" else 0o600)
    with pytest.raises(UsageError) as refused:
        read_or_make(tmp_path)
    assert str(file) in str(refused.value)


def test_a_port_that_is_taken_is_wrong_usage() -> None:
    with bind("127.0.0.1", 0) as bound, pytest.raises(UsageError, match="--port"):
        bind("127.0.0.1", bound.getsockname()[1])
    with pytest.raises(UsageError, match="--port"):
        bind("no.such.host.invalid", 1)


# names


@pytest.mark.parametrize(
    ("bound", "header", "allowed"),
    [
        ("0.0.0.0", "10.0.0.7:8266", True),
        ("0.0.0.0", "[fe80::1]:8266", True),
        ("0.0.0.0", "evil.example", False),
        ("::", "10.0.0.7", True),
        ("10.0.0.7", "10.0.0.7:8266", True),
        ("10.0.0.7", "10.0.0.8:8266", False),
        ("node7", "NODE7:1", True),
        ("127.0.0.1", "10.0.0.7", False),
        ("127.0.0.1", "localhost/evil", False),
        ("127.0.0.1", "user@localhost", False),
        ("127.0.0.1", "localhost?", False),
        ("127.0.0.1", "localhost#x", False),
        ("127.0.0.1", "[::1", False),
        ("127.0.0.1", "localhost?/static/", False),
        ("127.0.0.1", "localhost#/login", False),
        ("127.0.0.1", "localhost\\login", False),
    ],
)
def test_which_names_are_allowed(bound: str, header: str, allowed: bool) -> None:
    assert Hosts(bound).allows(header) is allowed


@given(st.text(max_size=60))
def test_any_header_is_judged_without_an_error(text: str) -> None:
    hosts = Hosts("127.0.0.1")
    assert hosts.allows(text) in (True, False) and hosts.same(text, text) in (True, False)
