"""Scripts in the sandbox of `npurun import --verify`, and a look at what they leave behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from submitter.importer.verify import Recording, SandboxError, record
from tests.support.processes import wait_gone

ROOT = Path(__file__).parents[2]
PERL = pytest.mark.skipif(shutil.which("perl", path="/usr/bin:/bin") is None, reason="no perl to attack with")
_MARK = "NPURUN_TEST_VERIFY"
_ASKING = f"""
import sys
from pathlib import Path
from submitter.importer.verify import SandboxError, record
environ = {{"{_MARK}": sys.argv[2]}}
try:
    record(Path("run.sh"), arguments=[], environ=environ, cwd=Path(sys.argv[1]), timeout_s=50)
except SandboxError as error:
    print(error)
"""


class Box:
    """A working directory and a home; whatever a script starts has `mark` (`NAME=value`) in its environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.home = folder / "home"
        self._id = uuid.uuid4().hex
        self.mark = f"{_MARK}={self._id}"
        for one in (self.work, self.home):
            one.mkdir()

    def run(self, script: str, *arguments: str, timeout_s: float = 20, **environ: str) -> Recording:
        (self.work / "run.sh").write_text(script)
        environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", _MARK: self._id, **environ}
        return record(Path("run.sh"), arguments=arguments, environ=environ, cwd=self.work, timeout_s=timeout_s)

    def asking(self, before: str = "", wrapper: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Another process that runs `before` and then asks for `run.sh` to be recorded."""
        command = [*wrapper, sys.executable, "-c", before + _ASKING, str(self.work), self._id]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def told(recording: Recording) -> list[str]:
    """The arguments of all recorded commands."""
    return [word for one in recording.commands for word in one.argv[1:]]


def facts(recording: Recording) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in told(recording))


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    box = Box(tmp_path)
    try:
        box.run("exit 0")
    except SandboxError as error:
        if error.values.get("step") not in ("unshare", "setgroups", "uid_map"):
            raise
        pytest.skip(str(error))
    yield box
    wait_gone(box.mark, bound_s=5)
    assert [one for one in psutil.Process().children() if "inside.main" in " ".join(one.cmdline())] == []
