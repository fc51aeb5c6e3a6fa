"""What to run: the job files that ship with npurun, found by name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SUFFIX = ".yaml"


@dataclass(frozen=True)
class ShippedJob:
    name: str
    summary: str
    path: Path


def shipped() -> list[Path]:
    """The shipped job files, sorted by name."""
    return sorted(FOLDER.glob(f"*{SUFFIX}"))


def shipped_jobs() -> list[ShippedJob]:
    """Name and summary of each shipped job, sorted by name."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    heads = [(path, yaml.load(path.read_bytes(), Loader=loader)) for path in shipped()]
    return [ShippedJob(head["name"], head["summary"], path) for path, head in heads]


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
