"""Calls to Ray: what comes back, and each way in which nothing does, in one line and within its time."""

import json
import socket
import threading
import time
from collections.abc import Callable

import pytest

from submitter.cluster import transport
from submitter.cluster.client import HeadNode, RayClient
from submitter.cluster.errors import RayError, is_duplicate
from submitter.cluster.packages import Package
from submitter.errors import UsageError
from submitter.exit_codes import ExitCode
from tests.support import fake_ray
from tests.support.fake_ray import FakeRay, head_row, says

TIMEOUT_S = 0.5


@pytest.fixture
def client(ray: FakeRay) -> RayClient:
    return RayClient(ray.address, timeout_s=TIMEOUT_S)


def _error(call: Callable[[], object]) -> RayError:
    with pytest.raises(RayError) as caught:
        call()
    assert caught.value.exit_code is ExitCode.UNREACHABLE
    for language in ("en", "zh"):
        assert "\n" not in caught.value.render(language)
    return caught.value


@pytest.mark.parametrize(
    ("fault", "text_id", "in_doubt"),
    [
        (fake_ray.hang, "cluster.no_answer", True),
        (fake_ray.html, "cluster.not_json", True),
        (says(200, "[" * 200_000, "application/json"), "cluster.not_json", True),
        (fake_ray.truncated, "cluster.truncated", True),
        (fake_ray.drop, "cluster.dropped", True),
        (says(401, "Unauthorized"), "cluster.token_wanted", False),
        (says(403, "Forbidden"), "cluster.token_wanted", False),
        (says(404, "404: Not Found"), "cluster.no_route", False),
        (says(429, '{"msg": "Max number of in-progress requests"}'), "cluster.busy", False),
        (says(400, "Traceback\nTypeError: unexpected keyword argument 'x'"), "cluster.refused", False),
        (says(500, fake_ray.traceback_of("ValueError: out of luck")), "cluster.server_error", True),
        (says(502, "<html>Bad Gateway</html>", "text/html"), "cluster.server_error", True),
        (says(200, "[]"), "cluster.not_ray", True),
        (says(200, "{}"), "cluster.not_ray", True),
        (fake_ray.redirects_to("http://127.0.0.1:1/"), "cluster.redirect_refused", False),
    ],
)
def test_each_failure_of_a_post(
    ray: FakeRay,
    client: RayClient,
    monkeypatch: pytest.MonkeyPatch,
    fault: fake_ray.Fault,
    text_id: str,
    in_doubt: bool,
) -> None:
    monkeypatch.setattr("submitter.cluster.client.POST_TIMEOUT_S", TIMEOUT_S)
    ray.fail_next("POST", "/api/jobs/", fault)
    error = _error(lambda: client.post_job(b"{}"))
    assert error.text_id == text_id
    assert error.in_doubt is in_doubt
    assert ray.address in str(error)


def test_rays_own_message_is_cut_out_of_its_traceback(ray: FakeRay, client: RayClient) -> None:
    ray.fail_next("POST", "/api/jobs/", says(500, fake_ray.traceback_of("ValueError: label 'a b' is wrong")))
    error = _error(lambda: client.post_job(b"{}"))
    assert str(error).endswith("ValueError: label 'a b' is wrong")
    assert "Traceback" not in str(error)


def test_a_message_without_end_is_cut(ray: FakeRay, client: RayClient) -> None:
    ray.fail_next("GET", "/api/version", says(500, "x" * 100_000))
    assert len(str(_error(client.version))) < 500


def test_nothing_listens(ray: FakeRay) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = _error(RayClient(f"http://127.0.0.1:{port}").version)
    assert error.text_id == "cluster.port_refused" and not error.in_doubt


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 70 + ".invalid"])
def test_a_name_that_does_not_exist(host: str) -> None:
    error = _error(RayClient(f"http://{host}:8265").version)
    assert error.text_id == "cluster.name_not_resolved" and not error.in_doubt


@pytest.mark.parametrize(
    ("greeting", "text_id"),
    [
        # What a GCS of Ray 2.60 sends back to an HTTP/1.1 request: an HTTP/2 SETTINGS frame.
        (b"\x00\x00\x18\x04\x00\x00\x00\x00\x00\x00\x04\x00@\x00\x00\x00\x05\x00@\x00\x00\x00\x06", "cluster.gcs_port"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "cluster.not_http"),
    ],
)
def test_a_port_that_speaks_something_else(greeting: bytes, text_id: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(greeting)

        threading.Thread(target=serve, daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert _error(RayClient(address, timeout_s=5).version).text_id == text_id


def test_a_server_that_trickles_is_cut_off(client: RayClient, ray: FakeRay) -> None:
    def trickle(handler: fake_ray.Handler, _answer: Callable[[], None]) -> None:
        handler.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not ray.closing.wait(0.05):
            handler.raw(b" ")

    ray.fail_next("GET", "/api/version", trickle)
    started = time.monotonic()
    assert _error(client.version).text_id == "cluster.no_answer"
    assert time.monotonic() - started < 10 * TIMEOUT_S


def test_a_body_without_end_is_refused(ray: FakeRay, client: RayClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BODY_LIMIT_BYTES", 1000)
    ray.fail_next("GET", "/api/version", says(200, " " * 5000))
    assert _error(client.version).text_id == "cluster.too_large"


def test_proxies_of_the_environment_are_not_used(client: RayClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert client.version() == "2.60.0"


def test_redirects_of_a_get_are_followed_three_times(ray: FakeRay, client: RayClient) -> None:
    once = fake_ray.redirects_to("/api/version?again")
    ray.fail_next("GET", "/api/version", once, once, once)
    assert client.version() == "2.60.0"
    ray.fail_next("GET", "/api/version", once, once, once, once)
    assert _error(client.version).text_id == "cluster.redirects"
    ray.fail_next("GET", "/api/version", fake_ray.redirects_to("http://u:pw@h/"))
    assert _error(client.version).text_id == "cluster.redirect_refused"


def test_a_path_in_front_of_rays_own(ray: FakeRay) -> None:
    assert _error(RayClient(ray.address + "/ray").version).text_id == "cluster.no_route"
    assert ray.requests[-1][1] == "/ray/api/version"


def test_the_head_is_the_living_one(ray: FakeRay, client: RayClient) -> None:
    dead = head_row("d" * 56, "10.0.0.9", state="DEAD", start_time_ms=5)
    workers = [head_row(f"{n:056x}", f"10.0.1.{n}", is_head_node=False) for n in range(200)]
    ray.nodes = [dead, *workers, head_row("b" * 56, "10.0.0.2", start_time_ms=3)]
    assert client.head() == HeadNode("b" * 56, "10.0.0.2")
    assert len(client.nodes()) == 202
    ray.nodes = [dead]
    assert _error(client.head).text_id == "cluster.no_head"


def test_packages_are_uploaded_once(ray: FakeRay, client: RayClient) -> None:
    package = Package("_ray_pkg_0123.zip", b"PK\x00\xff" * 1000)
    assert not client.has_package(package.uri)
    client.put_package(package)
    assert client.has_package(package.uri)
    assert ray.packages == {package.name: package.data}


def test_jobs_leave_plain_drivers_out(ray: FakeRay, client: RayClient) -> None:
    ray.add_job("run-a1", "FAILED", metadata={"npurun_run": "run"}, message="no", driver_exit_code=3)
    found = client.jobs()
    assert [(job.submission_id, job.status, job.driver_exit_code) for job in found] == [("run-a1", "FAILED", 3)]
    assert found[0].metadata == {"npurun_run": "run"} and found[0].ended


def test_a_404_of_another_server_is_no_missing_job(ray: FakeRay, client: RayClient) -> None:
    assert client.job("run-a1") is None
    ray.fail_next("GET", "/api/jobs/run-a1", says(404, "nginx"))
    assert _error(lambda: client.job("run-a1")).text_id == "cluster.no_route"


@pytest.mark.parametrize("hostile", ["a/b", "..", "a b", "a'; echo $x", "", "A", "x" * 64, "a\n"])
def test_hostile_ids_never_reach_the_cluster(ray: FakeRay, client: RayClient, hostile: str) -> None:
    for call in (client.job, client.stop, lambda value: list(client.whole_log(value))):
        with pytest.raises(UsageError, match="submission id"):
            call(hostile)
    assert ray.requests == []


def test_the_log_tail_is_cheap_and_survives_any_byte(ray: FakeRay, client: RayClient) -> None:
    ray.add_job("run-a1", log=b"one\nbad \xff byte\nthree\n")
    assert client.log_tail("run-a1", 2) == "bad � byte\nthree\n"
    assert client.log_tail("other-a1", 2) == ""
    ray.add_job("pending-a1", "PENDING")
    assert client.log_tail("pending-a1", 2) == ""
    ray.add_job("starting-a1").log.unlink()
    assert client.log_tail("starting-a1", 2) == ""


@pytest.mark.parametrize("status", [404, 429])
def test_a_state_api_without_a_place_is_gone_round(ray: FakeRay, client: RayClient, status: int) -> None:
    ray.add_job("run-a1", log="一\n二\n三\n".encode())
    ray.fail_next("GET", "/api/v0/logs/file", *[says(status, "no")] * 2)
    assert client.log_tail("run-a1", 2) == "二\n三\n"
    assert b"".join(client.whole_log("run-a1")).decode() == "一\n二\n三\n"


def test_a_cut_log_is_no_short_log(ray: FakeRay, client: RayClient) -> None:
    ray.add_job("run-a1", log=b"x" * 50)
    ray.fail_next("GET", "/api/v0/logs/file", fake_ray.truncated)
    assert _error(lambda: client.log_tail("run-a1", 5)).text_id == "cluster.truncated"


def test_an_unknown_field_is_refused_for_good(ray: FakeRay, client: RayClient) -> None:
    error = _error(lambda: client.post_job(json.dumps({"entrypoint_label_selectors": {}}).encode()))
    assert error.refused and not error.in_doubt and "entrypoint_label_selectors" in str(error)


def test_a_duplicate_is_recognised_in_rays_500(ray: FakeRay, client: RayClient) -> None:
    body = json.dumps({"entrypoint": "true", "submission_id": "run-a1"}).encode()
    assert client.post_job(body) == "run-a1"
    error = _error(lambda: client.post_job(body))
    assert error.status == 500 and is_duplicate(error)
