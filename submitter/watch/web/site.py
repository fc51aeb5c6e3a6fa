"""What all handlers of the pages share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from submitter.cluster.client import RayClient
from submitter.ledger import Ledger
from submitter.watch.prometheus import Exporter
from submitter.watch.web.hosts import Hosts
from submitter.watch.web.keys import Keys
from submitter.watch.web.runs import Runs
from submitter.watch.web.sessions import Sessions


@dataclass(frozen=True)
class Site:
    ledger: Ledger
    keys: Keys
    hosts: Hosts
    connect: Callable[[str], RayClient]
    """A client of the cluster at an address."""
    care: Callable[[], object]
    """Makes sure that a supervisor runs; returns at once."""
    language: str = "en"
    """Of people whose browser asks for none that is known."""
    wall_ms: Callable[[], int] = lambda: int(time.time() * 1000)

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", Runs(self.ledger))
        object.__setattr__(self, "sessions", Sessions(self.keys))
        object.__setattr__(self, "exporter", Exporter(self.ledger))

    runs: Runs = field(init=False)
    sessions: Sessions = field(init=False)
    exporter: Exporter = field(init=False)
