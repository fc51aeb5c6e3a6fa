"""A job's arguments composed against the config tree that stands for its stack's verl."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runtime_env.stacks import Stack
from submitter.arguments.compose import Composition, compose
from submitter.arguments.trees import find_tree
from submitter.checks.spelled import spelled
from submitter.job.model import Job


def composed(job: Job, stack: Stack | None, trees: Path, more: Sequence[str] = ()) -> Composition:
    """Reads the tree's files; imports Hydra only when there is something to compose. `more`: after the job's own."""
    if stack is None:
        return Composition("", None, reason="no_stack")
    tree = find_tree(trees, stack.verl_tree)
    if tree is None:
        return Composition(stack.verl_tree, None, reason="no_tree")
    return compose(tree, job.trainer.module, [*(argument.word for argument in spelled(job)), *more])


def composed_changes(job: Job, stack: Stack | None, trees: Path) -> dict[str, Composition]:
    """What each entry of recovery.on_reason that has changes makes of the arguments."""
    rules = job.recovery.on_reason
    return {name: composed(job, stack, trees, rule.change) for name, rule in rules.items() if rule.change}
