"""Tokens are found as Ray finds them, sent to nobody else, and never shown; CA bundles work."""

import http.server
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.cluster.auth import find_token
from submitter.cluster.client import RayClient, from_environment
from submitter.cluster.errors import RayError
from submitter.cluster.logs import JobLog
from submitter.errors import UsageError
from tests.support.fake_ray import FakeRay, redirects_to

SECRET = "7f3a-secret-token"
TLS = Path(__file__).parents[1] / "data" / "tls"


@pytest.fixture
def guarded() -> Iterator[FakeRay]:
    with FakeRay(token=SECRET) as ray:
        yield ray


@pytest.fixture
def secure() -> Iterator[FakeRay]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    with FakeRay(token=SECRET, tls=context) as ray:
        yield ray


def test_the_order_of_the_sources(tmp_path: Path) -> None:
    default = tmp_path / ".ray" / "auth_token"
    default.parent.mkdir()
    default.write_text("of-home\n")
    named = tmp_path / "named token"
    named.write_text("of-path\r\n")
    home = {"HOME": str(tmp_path)}
    path = {**home, "RAY_AUTH_TOKEN_PATH": str(named)}

    def found(environ: dict[str, str]) -> tuple[str, str] | None:
        token = find_token(environ)
        return token and (token.value, token.source)

    assert found({**path, "RAY_AUTH_TOKEN": " of-variable\n"}) == ("of-variable", "RAY_AUTH_TOKEN")
    assert found(path) == ("of-path", str(named))
    assert found(home) == ("of-home", str(default))
    assert found({"HOME": str(tmp_path / "none")}) is None
    assert found({**home, "RAY_AUTH_MODE": "disabled"}) is None


def test_unusable_tokens_are_told_without_their_value(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n")
    for environ, text_id in [
        ({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "absent")}, "cluster.token_unreadable"),
        ({"RAY_AUTH_TOKEN_PATH": str(tmp_path)}, "cluster.token_unreadable"),
        ({"RAY_AUTH_TOKEN_PATH": str(empty)}, "cluster.token_empty"),
        ({"RAY_AUTH_TOKEN": f"{SECRET}\nX-Evil: 1"}, "cluster.token_malformed"),
        ({"RAY_AUTH_TOKEN": f"{SECRET}密"}, "cluster.token_malformed"),
    ]:
        with pytest.raises(UsageError) as caught:
            find_token({"HOME": str(tmp_path), **environ})
        assert caught.value.text_id == text_id
        assert SECRET not in str(caught.value)


def test_a_token_opens_calls_and_log(guarded: FakeRay) -> None:
    client = from_environment(guarded.address, {"RAY_AUTH_TOKEN": SECRET, "HOME": "/nowhere"})
    guarded.add_job("run-a1", "SUCCEEDED", log=b"hello\n")
    assert client.version() == "2.60.0"
    assert JobLog(client, "run-a1", tell=_never).read(5) == ["hello"]


def test_no_token_and_a_wrong_one_are_told_apart(guarded: FakeRay) -> None:
    with pytest.raises(RayError) as none:
        from_environment(guarded.address, {"HOME": "/nowhere"}).version()
    assert none.value.text_id == "cluster.token_wanted" and "401" in str(none.value)
    with pytest.raises(RayError) as wrong:
        from_environment(guarded.address, {"RAY_AUTH_TOKEN": "wr0ng"}).version()
    assert wrong.value.text_id == "cluster.token_refused"
    assert "RAY_AUTH_TOKEN" in str(wrong.value) and "wr0ng" not in str(wrong.value)


def test_a_token_that_the_server_repeats_is_masked(guarded: FakeRay) -> None:
    from tests.support.fake_ray import says

    guarded.fail_next("GET", "/api/version", says(500, f"ValueError: bad header Bearer {SECRET}"))
    with pytest.raises(RayError) as caught:
        from_environment(guarded.address, {"RAY_AUTH_TOKEN": SECRET}).version()
    assert SECRET not in str(caught.value) and "***" in str(caught.value)


def test_the_token_does_not_follow_a_redirect_to_another_port(guarded: FakeRay) -> None:
    seen: list[str | None] = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Authorization"))
            self.send_response(200)
            self.send_header("Content-Length", "23")
            self.end_headers()
            self.wfile.write(b'{"ray_version": "9.9"} ')

        def log_message(self, format: str, *args: object) -> None:
            pass

    other = http.server.HTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.handle_request, daemon=True).start()
    guarded.fail_next("GET", "/api/version", redirects_to(f"http://127.0.0.1:{other.server_port}/x"))
    client = from_environment(guarded.address, {"RAY_AUTH_TOKEN": SECRET})
    assert client.version() == "9.9"
    assert seen == [None]
    other.server_close()
    # On the same host and port it stays.
    guarded.fail_next("GET", "/api/version", redirects_to("/api/version"))
    assert client.version() == "2.60.0"


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", None])
def test_a_ca_bundle_opens_an_https_address(secure: FakeRay, variable: str | None) -> None:
    bundle = str(TLS / "ca.pem")
    environ = {"RAY_AUTH_TOKEN": SECRET, **({variable: bundle} if variable else {})}
    client = from_environment(secure.address, environ, ca_bundle=None if variable else bundle)
    secure.add_job("run-a1", "SUCCEEDED", log=b"over tls\n")
    assert client.version() == "2.60.0"
    assert JobLog(client, "run-a1", tell=_never).read(5) == ["over tls"]
    assert client.at(secure.address).version() == "2.60.0"


def test_an_unknown_certificate_is_refused(secure: FakeRay) -> None:
    client = RayClient(secure.address, timeout_s=5)
    for call in (client.version, lambda: JobLog(client, "run-a1", tell=_raise).read(0.1)):
        with pytest.raises(RayError) as caught:
            call()
        assert caught.value.text_id == "cluster.tls_untrusted"
        assert "--ca" in str(caught.value)


def test_https_to_a_plain_port_is_told(guarded: FakeRay) -> None:
    with pytest.raises(RayError) as caught:
        RayClient(guarded.address.replace("http:", "https:"), timeout_s=5).version()
    assert caught.value.text_id in ("cluster.tls", "cluster.dropped")


@pytest.mark.parametrize("content", [None, b"no pem"])
def test_an_unusable_bundle_is_told_at_once(tmp_path: Path, content: bytes | None) -> None:
    bundle = tmp_path / "ca.pem"
    if content is not None:
        bundle.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        from_environment("https://h:1", {"SSL_CERT_FILE": str(bundle)})
    assert caught.value.text_id == "cluster.ca_unreadable"
    assert "SSL_CERT_FILE" in str(caught.value.place)


def _never(text_id: str, /, **values: object) -> None:
    raise AssertionError((text_id, values))


def _raise(_text_id: str, /, *, error: Exception, **_values: object) -> None:
    raise error
