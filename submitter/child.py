"""A child process whose end is seen whatever ends the waiting for it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

KILLED_S = 10.0
"""After SIGKILL only a hung file system keeps a process for longer than moments."""


def run_child(
    command: Sequence[str], *, timeout_s: float, env: Mapping[str, str] | None = None, own_session: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run `command` without stdin; its exit code, stdout and stderr. Raises subprocess.TimeoutExpired.

    subprocess.run returns from Ctrl-C without waiting for the child that it killed (its `__exit__` says so): the
    child may then still write into the temporary folder that its caller is removing.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=own_session,
    )
    try:
        out, err = process.communicate(timeout=timeout_s)
    except BaseException:  # Ctrl-C above all
        process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=KILLED_S)
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
