"""The POST of one submission id, which Ray takes at most once: asking again is safe, and doubt is resolved by a GET."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError, is_duplicate
from submitter.errors import UnreachableError, UsageError
from submitter.render.request import SPEC_KEY, request_bytes
from submitter.texts import Tell

POSTS = 3
LOOK_AFTER_S = (0.0, 1.0, 2.0, 4.0)
"""A POST whose answer was lost can still be on its way inside Ray: it is looked for this often, then repeated."""
SPEC_SHOWN = 12
"""Characters of a spec's hash in an error: enough to tell two apart."""


def post(
    client: RayClient,
    body: Mapping[str, Any],
    *,
    run: str,
    tell: Tell,
    sleep: Callable[[float], None],
) -> bool:
    """Submits `body`; True when the cluster turns out to have it already, with the same spec.

    UsageError: the id is taken by something else. RayError: surely not submitted. UnreachableError `submit.in_doubt`:
    not known whether it was.
    """
    doubt: RayError | None = None
    for _ in range(POSTS):
        try:
            client.post_job(request_bytes(body))
            return False
        except RayError as error:
            if doubt is None and not error.in_doubt and not is_duplicate(error):
                raise
            doubt = error
        tell("submit.looking", run=run, error=doubt)
        found = _look(client, str(body["submission_id"]), sleep)
        if found is not None:
            check_same_spec(found, body, run)
            return True
    raise UnreachableError("submit.in_doubt", run=run, address=client.address, error=doubt)


def check_same_spec(found: JobInfo, body: Mapping[str, Any], run: str) -> None:
    """UsageError when the job on the cluster does something else than `body`."""
    there, here = found.metadata.get(SPEC_KEY, "-"), str(body["metadata"][SPEC_KEY])
    if there != here:
        raise other_spec(run, there=there, here=here)


def other_spec(run: str, *, there: str, here: str) -> UsageError:
    """The error for two hashes of specs that should be one."""
    return UsageError("submit.other_spec", run=run, there=there[:SPEC_SHOWN], here=here[:SPEC_SHOWN])


def _look(client: RayClient, submission_id: str, sleep: Callable[[float], None]) -> JobInfo | None:
    """The job, or None while neither it nor a usable answer comes."""
    for pause in LOOK_AFTER_S:
        sleep(pause)
        try:
            found = client.job(submission_id)
        except RayError:
            continue
        if found is not None:
            return found
    return None
