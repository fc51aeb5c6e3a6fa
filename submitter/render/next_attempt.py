"""The body of an earlier attempt -> that of the next one. Pure: the job file is not needed, and may have changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from runtime_env.build import (
    ATTEMPT_FLAG,
    CHANGES_FLAG,
    QUARANTINE_FLAG,
    TRAINED_FLAG,
    logs_of_attempt,
)
from runtime_env.ids import submission_id
from submitter.gang.attempt_safe import as_in_job
from submitter.render.request import ATTEMPT_KEY, NODE_ID_LABEL, RUN_KEY


def next_request(
    body: Mapping[str, Any],
    *,
    attempt: int,
    head_node_id: str,
    quarantine: Sequence[str],
    changes: Sequence[str],
    trained: int,
) -> dict[str, Any]:
    """What is posted as attempt number `attempt` of the run that `body`, any earlier attempt, belongs to.

    `quarantine`: IPs of nodes to leave out; `changes`: `key=value`, all that are made so far; `trained`: the highest
    step of all earlier attempts, 0 for none. UsageError when run and attempt make no valid submission id.
    """
    made = copy.deepcopy(dict(body))
    made["submission_id"] = submission_id(made["metadata"][RUN_KEY], attempt)
    before = int(made["metadata"][ATTEMPT_KEY])
    made["metadata"][ATTEMPT_KEY] = str(attempt)
    if "entrypoint_label_selector" in made:
        made["entrypoint_label_selector"] = {NODE_ID_LABEL: head_node_id}
    said = {
        ATTEMPT_FLAG: made["submission_id"],
        QUARANTINE_FLAG: ",".join(quarantine),
        CHANGES_FLAG: json.dumps(list(changes)) if changes else "",
        TRAINED_FLAG: str(trained),
    }
    env = {**logs_of_attempt(as_in_job(made["runtime_env"]["env_vars"], before), attempt), **said}
    made["runtime_env"]["env_vars"] = {name: env[name] for name in sorted(env) if env[name] or name not in said}
    return made
