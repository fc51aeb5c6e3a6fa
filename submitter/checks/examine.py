"""A job → its report: gathers what rules look at, runs every rule, sorts what they say."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from runtime_env.stacks import stack_of
from submitter.checks.case import Case, NotChecked
from submitter.checks.cluster_node import ClusterNode
from submitter.checks.composed import composed, composed_changes
from submitter.checks.finding import Finding
from submitter.checks.local_files import files_of
from submitter.checks.model_shape import ModelShape, Unknown, model_of
from submitter.checks.registry import RULES
from submitter.checks.reward_file import reward_file
from submitter.checks.settings import Settings
from submitter.checks.working_dir_measure import packed
from submitter.job.model import Job

_ORDER = ("error", "warning", "hint")


class _Model(TypedDict, total=False):
    model: ModelShape
    model_why: Unknown


@dataclass(frozen=True)
class Report:
    findings: tuple[Finding, ...]
    """Errors first, else by place and id."""
    not_checked: tuple[NotChecked, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")


def examine(
    job: Job, *, cluster: tuple[ClusterNode, ...] | None = None, trees: Path | None = None, compose: bool = True
) -> Report:
    """What all rules say; UsageError when the job's stack does not exist. See `gather`."""
    return judge(gather(job, cluster=cluster, trees=trees, compose=compose))


def gather(
    job: Job, *, cluster: tuple[ClusterNode, ...] | None = None, trees: Path | None = None, compose: bool = True
) -> Case:
    """All that rules look at: the only part of the checks that reads disk or network.

    `cluster`: the nodes of a live one. `trees`: the folder of verl's config trees; without it, or without `compose`,
    the arguments are not composed.
    """
    stack = stack_of(job)
    settings = Settings(job, stack.verl_release if stack else None)
    composition = composed(job, stack, trees) if compose and trees is not None else None
    return Case(
        job,
        stack,
        settings,
        working_dir=packed(job),
        cluster=cluster,
        reward=reward_file(job, settings) if settings.ppo else None,
        composition=composition,
        changes=composed_changes(job, stack, trees) if compose and trees is not None else {},
        **_model(job, settings),
        **files_of(job, settings),
    )


def judge(case: Case) -> Report:
    """Pure."""
    rules = [rule for rule in RULES if case.settings.ppo or not rule.ppo]
    said = [one for rule in rules for one in rule.check(case)]
    findings = sorted((one for one in said if isinstance(one, Finding)), key=_sort_key)
    return Report(tuple(findings), tuple(one for one in said if isinstance(one, NotChecked)))


def _model(job: Job, settings: Settings) -> _Model:
    """The job's own flags come before this machine's environment: they say where the nodes keep their models."""
    if not settings.ppo:
        return {}
    found = model_of(settings, {**os.environ, **{flag.name: flag.value for flag in job.flags}})
    return {"model": found} if isinstance(found, ModelShape) else {"model_why": found}


def _sort_key(finding: Finding) -> tuple[int, str, int, str]:
    place = finding.place
    return _ORDER.index(finding.severity), place.file or "", place.line or 0, finding.id
