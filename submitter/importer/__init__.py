"""A published launch script (bash) → a job file that runs the same command."""
