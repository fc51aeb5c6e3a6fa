"""The durable record: runs, attempts, decisions, metrics, node samples, alerts, events, quarantine, the one lock.

One SQLite file in the ledger's home, with the packages beside it. The only room that writes state to disk.
"""

from submitter.ledger.columns import Columns
from submitter.ledger.database import LockLostError
from submitter.ledger.home import LedgerError, default_home, prepare_home
from submitter.ledger.journal import Journal
from submitter.ledger.ledger import Ledger
from submitter.ledger.lock import BEAT_EVERY_S, STALE_AFTER_S, LockHeldError, held, is_stale
from submitter.ledger.model import (
    Attempt,
    Decided,
    Event,
    Holder,
    Observation,
    Quarantined,
    Run,
    Sample,
    Step,
    StoredAlert,
)
from submitter.ledger.process import this_process

__all__ = [
    "BEAT_EVERY_S",
    "STALE_AFTER_S",
    "Attempt",
    "Columns",
    "Decided",
    "Event",
    "Holder",
    "Journal",
    "Ledger",
    "LedgerError",
    "LockHeldError",
    "LockLostError",
    "Observation",
    "Quarantined",
    "Run",
    "Sample",
    "Step",
    "StoredAlert",
    "default_home",
    "held",
    "is_stale",
    "prepare_home",
    "this_process",
]
