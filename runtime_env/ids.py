"""Names of runs and attempts. Ray keeps a submission id for ever, and one with odd characters can end as an entry
that can be neither read nor stopped: they are checked before anything is sent."""

from __future__ import annotations

import re

from submitter.errors import UsageError

MAX_RUN_CHARACTERS = 57
MAX_SUBMISSION_ID_CHARACTERS = 63
"""A label value's limit in Ray and Kubernetes; leaves `-a9999` behind the longest run name."""

_RUN = re.compile(r"[a-z0-9][a-z0-9-]*")


def check_run(run: str) -> str:
    """`run` itself; UsageError when it cannot name a run."""
    if not _RUN.fullmatch(run):
        raise UsageError("run.bad_name", None, run=run)
    if len(run) > MAX_RUN_CHARACTERS:
        raise UsageError("run.long_name", None, run=run, length=len(run), limit=MAX_RUN_CHARACTERS)
    return run


def submission_id(run: str, attempt: int) -> str:
    """`<run>-a<attempt>`; UsageError for a bad run name, an attempt below 1, or an id above 63 characters."""
    if attempt < 1:
        raise UsageError("run.bad_attempt", None, attempt=attempt)
    name = f"{check_run(run)}-a{attempt}"
    if len(name) > MAX_SUBMISSION_ID_CHARACTERS:
        raise UsageError("run.long_id", None, name=name, length=len(name), limit=MAX_SUBMISSION_ID_CHARACTERS)
    return name
