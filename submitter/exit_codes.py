"""Every exit code of `npurun`, in one table."""

from enum import IntEnum


class ExitCode(IntEnum):
    DONE = 0
    RUN_FAILED = 1
    """The run failed, whatever the trainer's own code."""
    USAGE = 2
    """Wrong usage, or a job file that cannot be read."""
    CHECK_FAILED = 3
    UNREACHABLE = 4
    """The cluster cannot be reached, or does not answer as Ray."""
    NOT_PLACED = 5
    """The gang could not be placed within its bound."""
    STOPPED = 6
    INTERRUPTED = 130
    """Ctrl-C ended the following; the run goes on."""
