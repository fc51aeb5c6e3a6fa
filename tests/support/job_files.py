"""Job files for tests: a small one as text, and a loader for text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from submitter.job.load import load_job
from submitter.job.model import Job

HOME = {"HOME": "/root", "USER": "me"}

HEAD = """\
name: tiny
cluster: {nodes: 1, npus_per_node: 2}
trainer: {module: verl.trainer.main_ppo}
"""
"""Three lines: what is appended starts in line 4."""


def load_text(
    text: str | bytes,
    folder: Path,
    *,
    environ: Mapping[str, str] = HOME,
    sets: Sequence[str] = (),
    extra: Sequence[str] = (),
) -> Job:
    """The job in a file of this text."""
    path = folder / "job.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_job(str(path), environ=environ, sets=sets, extra=extra)
