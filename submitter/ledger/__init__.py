"""What was submitted: runs and attempts, in one SQLite file. The only room that writes state to disk."""

from submitter.ledger.home import LedgerError, default_home, prepare_home
from submitter.ledger.ledger import Attempt, Ledger, Quarantined, Run

__all__ = ["Attempt", "Ledger", "LedgerError", "Quarantined", "Run", "default_home", "prepare_home"]
