"""The line of `render --as command`, run by bash with Ray's own command line: what it uploads and posts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.packages import gang_package, working_dir_package, write_archive, write_folder
from submitter.gang.plan import Plan
from submitter.render.command import command_line
from submitter.render.plan import plan
from submitter.render.request import Facts, request
from tests.support.builders import job

pytestmark = pytest.mark.real


class Recorder(BaseHTTPRequestHandler):
    """Answers as Ray 2.60's Jobs REST does to its own client, and keeps what it is sent."""

    packages: dict[str, bytes]
    posted: list[dict[str, Any]]

    def do_GET(self) -> None:
        if self.path == "/api/version":
            self._answer(200, {"version": "4", "ray_version": "2.60.0", "ray_commit": "-", "session_name": "-"})
        else:  # /api/packages/gcs/<name>: absent
            self._answer(404, {})

    def do_PUT(self) -> None:
        self.packages[self.path.rsplit("/", 1)[-1]] = self._body()
        self._answer(200, {})

    def do_POST(self) -> None:
        self.posted.append(json.loads(self._body()))
        self._answer(200, {"job_id": "x", "submission_id": self.posted[-1]["submission_id"]})

    def log_message(self, *_: object) -> None:
        """Silent."""

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _answer(self, status: int, document: dict[str, str]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server() -> Iterator[tuple[str, type[Recorder]]]:
    recorder = type("OneTest", (Recorder,), {"packages": {}, "posted": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), recorder) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}", recorder
        running.shutdown()
        thread.join(timeout=10)


@pytest.mark.timeout(120)
def test_ray_s_own_client_posts_the_same_request(tmp_path: Path, server: tuple[str, type[Recorder]]) -> None:
    address, recorder = server
    user = tmp_path / "user's dir"
    user.mkdir()
    (user / "train.py").write_text("print(1)")
    (user / "left.json").write_text("{}")
    made = job(
        flags={"HOSTILE": 'it\'s "$(touch pwned)"; \\'},
        groups={"x": {"a.b": "c d"}},
        secrets={"WANDB_API_KEY": ("file", "/etc/keys/wandb")},
        working_dir=str(user),
        excludes=["*.json"],  # must not take plan.json out of npurun's own package
    )
    gang, folder = gang_package(plan(made)), working_dir_package(made.runtime_env)
    assert folder is not None
    body = request(made, Facts("night", 1, (gang.uri,), folder.uri, "0a1b2c", "2.60.0"))
    target = write_folder(gang, tmp_path / "out dir")
    write_archive(folder, target)

    env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "RAY_API_SERVER_ADDRESS": address}
    env["HOME"] = str(tmp_path)
    line = command_line(body, target)
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr

    (posted,) = recorder.posted
    (module_uri,) = posted["runtime_env"].pop("py_modules")
    folder_uri = posted["runtime_env"].pop("working_dir")
    for part in ("py_modules", "working_dir"):
        body["runtime_env"].pop(part)
    posted["runtime_env"].pop("_ray_commit", None)  # Ray's client adds its own commit
    assert posted == body
    with zipfile.ZipFile(BytesIO(recorder.packages[module_uri.removeprefix("gcs://")])) as archive:
        assert Plan.from_json(archive.read("npurun_gang/plan.json").decode()) == plan(made)
        assert "npurun_gang/__main__.py" in archive.namelist()
    with zipfile.ZipFile(BytesIO(recorder.packages[folder_uri.removeprefix("gcs://")])) as archive:
        assert archive.namelist() == ["train.py"]
    assert not (tmp_path / "pwned").exists()
