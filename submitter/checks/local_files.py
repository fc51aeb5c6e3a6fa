"""What this machine has of the files that a job names, read once for all rules."""

from __future__ import annotations

import os
from typing import TypedDict

from submitter.checks.checkpoint_files import Checkpoint, read_checkpoint
from submitter.checks.data_files import DataFile, read_data
from submitter.checks.model_contents import ModelContents, read_model
from submitter.checks.settings import Settings
from submitter.job.model import Job


class LocalFiles(TypedDict, total=False):
    """Fields of a `Case`."""

    data: tuple[DataFile, ...]
    contents: ModelContents | None
    checkpoint: Checkpoint | None


def files_of(job: Job, settings: Settings) -> LocalFiles:
    """Nothing for a trainer that does not read verl's PPO configuration: its keys mean something else."""
    if not settings.ppo:
        return {}
    environ = {**os.environ, **{flag.name: flag.value for flag in job.flags}}
    return {
        "data": read_data(settings, job.runtime_env.working_dir),
        "contents": read_model(settings, environ),
        "checkpoint": read_checkpoint(settings),
    }
