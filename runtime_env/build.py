"""Job -> the Ray runtime_env: what every process of an attempt inherits. Pure; package URIs are added by `render`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from runtime_env.ids import submission_id
from submitter.gang.attempt_safe import FIRST, attempt_safe
from submitter.gang.host_facts import NOSET
from submitter.gang.members import (
    ATTEMPT_VARIABLE,
    CHANGES_VARIABLE,
    QUARANTINE_VARIABLE,
    RUN_VARIABLE,
    TRAINED_VARIABLE,
)
from submitter.gang.plan import PACKAGE
from submitter.gang.secrets import REFERENCES_VARIABLE
from submitter.job.model import Job

NOSET_FLAG = NOSET
STOP_WAIT_FLAG = "RAY_JOB_STOP_WAIT_TIME_S"
STOP_WAIT_S = 60
"""Between Ray's SIGTERM and SIGKILL of a stopped job (3 s by default). Has to outlast the driver's own end:
evidence from every node 3 s, 20 s for the trainer between SIGTERM and SIGKILL, then the sweep of what is left."""

PLUGIN_FLAG = "VERL_USE_EXTERNAL_MODULES"
PLUGIN_MODULE = f"{PACKAGE}.verl_plugin"
SECRETS_FLAG = REFERENCES_VARIABLE
RUN_FLAG = RUN_VARIABLE
ATTEMPT_FLAG = ATTEMPT_VARIABLE
QUARANTINE_FLAG = QUARANTINE_VARIABLE
CHANGES_FLAG = CHANGES_VARIABLE
TRAINED_FLAG = TRAINED_VARIABLE
WANDB_RUN_FLAG = "WANDB_RUN_ID"
WANDB_RESUME_FLAG = "WANDB_RESUME"
WANDB_RESUME = "allow"
"""Without it W&B writes over the run that WANDB_RUN_ID names (docs.wandb.ai, "Resume a run")."""
OF_ATTEMPT = (RUN_FLAG, ATTEMPT_FLAG, QUARANTINE_FLAG, CHANGES_FLAG, TRAINED_FLAG, WANDB_RESUME_FLAG)
"""Variables that differ between attempts that do the same."""


def build(job: Job, *, run: str, attempt: int, quarantine: Sequence[str] = ()) -> dict[str, Any]:
    """The runtime_env of one attempt, without package URIs: `{"env_vars": {name: text}, "pip": [requirement]}`.

    Secrets are in it as references only; `pip` only when the job has requirements. UsageError for a bad run name.
    """
    env_vars = {STOP_WAIT_FLAG: str(STOP_WAIT_S), **delivered_flags(job)}
    env_vars[ATTEMPT_FLAG] = submission_id(run, attempt)
    env_vars[RUN_FLAG] = run
    if quarantine:
        env_vars[QUARANTINE_FLAG] = ",".join(quarantine)
    if job.trainer.launcher == "ray":
        env_vars[PLUGIN_FLAG] = _with_plugin(env_vars.get(PLUGIN_FLAG, ""))
    references = secret_references(job)
    if references:
        env_vars[SECRETS_FLAG] = json.dumps(references, sort_keys=True)
    pip = {"pip": list(job.runtime_env.pip)} if job.runtime_env.pip else {}
    return {"env_vars": dict(sorted(logs_of_attempt(env_vars, attempt).items())), **pip}


def logs_of_attempt(env_vars: Mapping[str, str], attempt: int) -> dict[str, str]:
    """The first attempt's variables with what a later one needs so that it writes over no earlier one's log."""
    env = dict(env_vars)
    if attempt == FIRST:
        return env
    if env.get(WANDB_RUN_FLAG):
        env.setdefault(WANDB_RESUME_FLAG, WANDB_RESUME)
    return attempt_safe(env, attempt)


def delivered_flags(job: Job) -> dict[str, str]:
    """The job's flags as workers see them, with the NOSET flag: each must be proved on every node."""
    flags = {NOSET_FLAG: "1", **{flag.name: flag.value for flag in job.flags}}
    if PLUGIN_FLAG in flags and job.trainer.launcher == "ray":
        flags[PLUGIN_FLAG] = _with_plugin(flags[PLUGIN_FLAG])
    return dict(sorted(flags.items()))


def secret_references(job: Job) -> dict[str, dict[str, str]]:
    """`{"WANDB_API_KEY": {"file": path}}` or `{"env": name}`, by the secret's name."""
    return {secret.name: {secret.source: secret.target} for secret in job.secrets}


def _with_plugin(modules: str) -> str:
    """verl imports the modules in this order, so the user's own (a platform, say) come first."""
    own = [module for module in modules.split(",") if module and module != PLUGIN_MODULE]
    return ",".join([*own, PLUGIN_MODULE])
