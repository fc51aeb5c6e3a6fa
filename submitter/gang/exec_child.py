"""Becomes the program in its arguments, which then dies with the process that started it (Linux).

A program of its own, since running code between fork and exec is not safe in a driver whose Ray threads hold locks.
Started by path: imports nothing of the package.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""Survives exec. Sent when the parent's *thread* that forked ends: the driver forks in its main
thread, and a probe's thread waits for its child."""


def main(parent: int, command: "list[str]") -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        raise SystemExit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"[npurun] cannot start {command[0]}: {error.strerror}\n")
        raise SystemExit(127) from None


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
