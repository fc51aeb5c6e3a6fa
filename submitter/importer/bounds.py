"""An end to every import: whatever the script, it takes no more than so much time and memory."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from submitter.errors import Place, UsageError

SECONDS = 10.0
"""Of this process's own work, however busy the machine is: published scripts take a tenth of a second, patterns and
templates of a hostile one can be exponential."""
_AGAIN_S = 0.5
MEMORY_BYTES = 4 << 30
"""Of address space: an import needs 50 MB."""


class _TimeOverError(Exception):
    """Not a UsageError: nothing on the way takes it for one of its own."""


@contextmanager
def bounded(shown: str) -> Iterator[None]:
    """For the main thread, which has the signals. UsageError: the time is over, or the memory."""

    def over(_signal: int, _frame: FrameType | None) -> None:
        raise _TimeOverError

    before = signal.signal(signal.SIGPROF, over)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    # Again and again: an exception in a destructor or a callback of the garbage collector is lost.
    signal.setitimer(signal.ITIMER_PROF, SECONDS, _AGAIN_S)
    try:
        yield
    except _TimeOverError:
        raise UsageError("importer.too_slow", Place(shown), limit=f"{SECONDS:g}") from None
    except MemoryError:
        raise UsageError("importer.too_large", Place(shown), limit=MEMORY_BYTES >> 30) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, before)
