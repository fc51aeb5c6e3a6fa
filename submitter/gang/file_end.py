"""The end of a text file that others write to."""

from __future__ import annotations

import os
import re
from pathlib import Path

COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_end(path: Path, most_bytes: int) -> tuple[str, bool]:
    """The text of the last `most_bytes`, and whether it begins in the middle; empty for what cannot be read."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most_bytes))
            return file.read(most_bytes).decode(errors="replace"), size > most_bytes
    except OSError:
        return "", False
