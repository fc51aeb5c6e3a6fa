"""What to run: the job files that ship with npurun, found by name."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SUFFIX = ".yaml"


def shipped() -> list[Path]:
    """The shipped job files, sorted by name."""
    return sorted(FOLDER.glob(f"*{SUFFIX}"))


def find(name_or_path: str) -> Path:
    """The file of a shipped job's name, with or without `.yaml`, or of a path. FileNotFoundError: neither.

    A bare name is the shipped job, whatever lies in the current directory; `name.yaml` is a file there first.
    """
    by_name = {path.stem: path for path in shipped()}
    if name_or_path in by_name:
        return by_name[name_or_path]
    if os.path.lexists(name_or_path):
        return Path(name_or_path)
    stem = name_or_path.removesuffix(SUFFIX)
    if stem in by_name:
        return by_name[stem]
    raise FileNotFoundError(name_or_path)
