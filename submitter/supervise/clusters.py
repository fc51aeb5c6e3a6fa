"""The clusters of all runs, and which of them answer. Away is a state of a cluster: never an end, never an error."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.errors import NpurunError, UnreachableError, UsageError

T = TypeVar("T")

Connect = Callable[[str], RayClient]
"""A client of the cluster at an address, with what this process knows of tokens now. May raise UsageError."""

BACKOFF_FIRST_S = 1.0
BACKOFF_MAX_S = 60.0
REFUSED_RETRY_S = 60.0
"""A token that is wrong stays so until somebody puts another one into its file."""
JITTER = 0.25
PROBED_WAIT_S = 1.0
_NOT_LET_IN = frozenset({401, 403})
_UNDERSTOOD = frozenset({400, 413, 422})
"""What was sent is refused as it is."""


class CredentialsError(NpurunError):
    """There is no client to be had: what should be shown to the cluster cannot be read. Says what the cause says."""


class Cluster:
    """One address. Not for several threads but for `do`."""

    def __init__(self, address: str, connect: Connect, clock: Callable[[], float], rng: random.Random) -> None:
        self.address = address
        self.away_since_s: float | None = None
        self._connect = connect
        self._clock = clock
        self._rng = rng
        self._client: RayClient | None = None
        self._failures = 0
        self._next_at_s = 0.0
        self._probed = False

    @property
    def away(self) -> bool:
        return self.away_since_s is not None

    def ask_at_s(self) -> float:
        """From when on it may be asked. While it is away one question is out at a time: a dashboard that hangs holds
        each of them up for the client's whole timeout."""
        return self._clock() + PROBED_WAIT_S if self._probed else self._next_at_s

    @contextmanager
    def asked(self) -> Iterator[None]:
        """While a question is out."""
        probe = self.away
        self._probed = self._probed or probe
        try:
            yield
        finally:
            self._probed = self._probed and not probe

    def do(self, work: Callable[[RayClient], T]) -> T:
        """In a lane's thread."""
        client = self._client
        if client is None:
            try:
                client = self._client = self._connect(self.address)
            except UsageError as error:
                raise CredentialsError(error.text_id, error.place, **error.values) from error
        return work(client)

    def failed(self, error: NpurunError) -> None:
        """It did not answer, or will not have us."""
        now = self._clock()
        self.away_since_s = now if self.away_since_s is None else self.away_since_s
        self._failures += now >= self._next_at_s  # several questions may have been out
        if not_let_in(error):
            self._client = None  # the next one reads the token anew
            pause = REFUSED_RETRY_S
        else:
            pause = min(BACKOFF_FIRST_S * 2 ** min(self._failures - 1, 10), BACKOFF_MAX_S)
        self._next_at_s = now + pause * (1 + JITTER * self._rng.uniform(-1, 1))

    def answered(self) -> float | None:
        """For how long it had been away; None if it was not."""
        away_s = None if self.away_since_s is None else self._clock() - self.away_since_s
        self.away_since_s, self._failures, self._next_at_s = None, 0, 0.0
        return away_s


def not_let_in(error: NpurunError) -> bool:
    """It is reached, and does not know us; or we have nothing to show."""
    return isinstance(error, CredentialsError) or (isinstance(error, RayError) and error.status in _NOT_LET_IN)


def is_away(error: NpurunError) -> bool:
    """Asking again may help. A proxy whose Ray is restarting answers with nearly any status, too."""
    if isinstance(error, RayError):
        return error.status not in _UNDERSTOOD
    return isinstance(error, UnreachableError | CredentialsError)
