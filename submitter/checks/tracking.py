"""Experiment trackers: what they need to start on a node without a login."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.checks.settings import PPO_MODULES

LOGGER = "trainer.logger"


@dataclass(frozen=True)
class Tracker:
    """Any one of `needs` will do: names of secrets or flags, or `NAME=value` of a flag."""

    needs: tuple[str, ...]
    severity: Severity = "warning"


TRACKERS: Mapping[str, Tracker] = {
    # verl/utils/tracking.py; a login kept in the node's home directory would do as well, and cannot be seen here
    "wandb": Tracker(("WANDB_API_KEY", "WANDB_MODE=offline", "WANDB_MODE=disabled", "WANDB_DISABLED=true")),
    "tracking": Tracker(("WANDB_API_KEY", "WANDB_MODE=offline", "WANDB_MODE=disabled", "WANDB_DISABLED=true")),
    "swanlab": Tracker(("SWANLAB_API_KEY", "SWANLAB_MODE=local", "SWANLAB_MODE=offline", "SWANLAB_MODE=disabled")),
    "clearml": Tracker(("CLEARML_API_ACCESS_KEY", "CLEARML_CONFIG_FILE", "CLEARML_OFFLINE_MODE=1")),
    # read with os.environ[...]: a KeyError
    "vemlp_wandb": Tracker(("VOLC_ACCESS_KEY_ID",), "error"),
}


def no_login(case: Case) -> list[Finding]:
    """Source: verl/utils/tracking.py (0.7.1 to 0.9.1); wandb times out after 90 s without a network."""
    settings = case.settings
    if case.job.trainer.module not in PPO_MODULES:
        return []
    names = {secret.name for secret in case.job.secrets} | {flag.name for flag in case.job.flags if flag.value}
    names |= {f"{flag.name}={flag.value.lower()}" for flag in case.job.flags}
    return [
        Finding("NR337", TRACKERS[name].severity, settings.place(LOGGER), name, ", ".join(TRACKERS[name].needs))
        for name in settings.items(LOGGER)
        if isinstance(name, str) and name in TRACKERS and not names.intersection(TRACKERS[name].needs)
    ]


RULES = (Rule("NR337", ("error", "warning"), no_login, ppo=True),)
