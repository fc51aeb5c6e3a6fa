"""What npurun relies on in Ray's Jobs REST and State API: the same checks for the fake and for a real Ray."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError, is_duplicate
from submitter.cluster.logs import JobLog
from submitter.cluster.packages import Package
from tests.support.processes import wait_for

BOUND_S = 60.0
"""A job's first start on a busy machine."""
ODD_LOG = "中文\r50%\r100%\n\x1b[1mbold\x1b[0m\r\n".encode() + b"GBK \xce\xd2\n\nno newline at the end"
ODD_LINES = ["中文", "50%", "100%", "\x1b[1mbold\x1b[0m", "GBK ��", "", "no newline at the end"]


def writes(log: bytes, then: str = "time.sleep(600)") -> str:
    """An entrypoint that writes `log` and goes on with a Python statement. The fake understands it too."""
    data = base64.b64encode(log).decode()
    return (
        f"python3 -c \"import base64, sys, time; sys.stdout.buffer.write(base64.b64decode('{data}')); "
        f'sys.stdout.flush(); {then}"'
    )


def body(submission_id: str, entrypoint: str = "true", **fields: Any) -> bytes:
    return json.dumps({"entrypoint": entrypoint, "submission_id": submission_id, **fields}).encode()


def wait_status(client: RayClient, submission_id: str, *wanted: str) -> JobInfo:
    def found() -> JobInfo | None:
        info = client.job(submission_id)
        return info if info is not None and info.status in wanted else None

    info = wait_for(found, bound_s=BOUND_S, what=f"{submission_id} is {wanted}")
    assert info is not None
    return info


def version_and_head(client: RayClient) -> None:
    assert re.match(r"\d+\.\d+", client.version())
    head = client.head()
    assert re.fullmatch(r"[0-9a-f]{56}", head.node_id)
    assert head.node_id in [node["node_id"] for node in client.nodes()]


def packages(client: RayClient) -> None:
    package = Package("_ray_pkg_00112233445566778899aabbccddeeff.zip", b"PK\x05\x06" + b"\0" * 18)
    assert not client.has_package(package.uri)
    client.put_package(package)
    assert client.has_package(package.uri)


def posts(client: RayClient) -> None:
    assert client.post_job(body("posted-a1", metadata={"npurun_run": "posted"})) == "posted-a1"
    info = client.job("posted-a1")
    assert info is not None and info.metadata["npurun_run"] == "posted"
    assert "posted-a1" in [job.submission_id for job in client.jobs()]
    with pytest.raises(RayError) as twice:
        client.post_job(body("posted-a1"))
    assert is_duplicate(twice.value) and twice.value.status == 500
    for wrong in ({"no_such_field": 1}, {"metadata": {"a": 1}}):
        with pytest.raises(RayError) as caught:
            client.post_job(body("wrong-a1", **wrong))
        assert caught.value.refused and not is_duplicate(caught.value)
        assert "Error" in str(caught.value) and "Traceback" not in str(caught.value)
    assert client.job("wrong-a1") is None


def unknown_jobs(client: RayClient) -> None:
    assert client.job("nobody-a1") is None
    assert client.log_tail("nobody-a1", 5) == ""
    with pytest.raises(RayError) as caught:
        client.stop("nobody-a1")
    assert caught.value.status == 404 and "does not exist" in str(caught.value)


def life_and_stop(client: RayClient) -> None:
    client.post_job(body("living-a1", writes(b"one\ntwo\n")))
    wait_status(client, "living-a1", "RUNNING")
    wait_for(lambda: "two" in client.log_tail("living-a1", 1), bound_s=BOUND_S, what="the log")
    assert client.log_tail("living-a1", 1).splitlines() == ["two"]
    assert client.stop("living-a1") is True
    info = wait_status(client, "living-a1", "STOPPED")
    assert info.ended and info.driver_exit_code is None and info.start_ms and info.end_ms
    assert client.stop("living-a1") is False


def failure(client: RayClient) -> None:
    client.post_job(body("failing-a1", writes(b"last words\n", "sys.exit(3)")))
    info = wait_status(client, "failing-a1", "FAILED")
    assert (info.driver_exit_code, info.error_type) == (3, "JOB_ENTRYPOINT_COMMAND_ERROR")
    assert "last words" in info.message


def pending_is_not_stoppable(client: RayClient) -> None:
    client.post_job(body("waiting-a1", entrypoint_resources={"no_such_resource": 1}))
    assert client.stop("waiting-a1") is True
    info = client.job("waiting-a1")
    assert info is not None and info.status == "PENDING"
    assert client.log_tail("waiting-a1", 5) == ""


def starters(client: RayClient) -> None:
    """What starts a job and watches it: there while it is pending and while it runs, gone after its end."""
    client.post_job(body("starting-a1", entrypoint_resources={"no_such_resource": 1}))
    wait_for(lambda: client.has_starter("starting-a1"), bound_s=BOUND_S, what="the actor of a pending job")
    client.post_job(body("ending-a1", writes(b"here\n")))
    wait_status(client, "ending-a1", "RUNNING")
    assert client.has_starter("ending-a1")
    client.stop("ending-a1")
    wait_status(client, "ending-a1", "STOPPED")
    wait_for(lambda: not client.has_starter("ending-a1"), bound_s=BOUND_S, what="the actor's end")
    assert not client.has_starter("nobody-a1")


def odd_logs(client: RayClient) -> None:
    """Ray's own ways to the log fail on these bytes; npurun's do not."""
    client.post_job(body("odd-a1", writes(ODD_LOG, "pass")))
    wait_status(client, "odd-a1", "SUCCEEDED")
    assert b"".join(client.whole_log("odd-a1")).endswith(ODD_LOG)
    log = JobLog(client, "odd-a1", tell=lambda *_, **__: None)
    lines = log.read(5.0)
    assert (lines + log.finish())[-len(ODD_LINES) :] == ODD_LINES


CONTRACT: list[Callable[[RayClient], None]] = [
    version_and_head,
    packages,
    posts,
    unknown_jobs,
    life_and_stop,
    failure,
    pending_is_not_stoppable,
    starters,
    odd_logs,
]
