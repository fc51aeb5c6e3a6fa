"""What was submitted: runs and attempts, in one SQLite file. The only room that writes state to disk."""

from submitter.ledger.ledger import Attempt, Ledger, LedgerError, Run, default_home

__all__ = ["Attempt", "Ledger", "LedgerError", "Run", "default_home"]
