"""Where the sandbox keeps what is its own."""

OWN = "/.npurun"
STUBS = f"{OWN}/bin"
RECORDS = f"{OWN}/records"
STUB = f"{STUBS}/npurun-stub"
"""The one program that all names of STUBS lead to."""
EMPTY = ("tmp", "run", "root", "home", "dev", "proc")
"""Folders of `/` that begin empty."""
