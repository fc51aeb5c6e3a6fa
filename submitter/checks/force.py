"""Errors that a user overrides by naming their ids."""

from __future__ import annotations

from collections.abc import Iterable

from submitter.checks.finding import Finding
from submitter.checks.registry import RULES
from submitter.errors import Place, UsageError
from submitter.job.nearest import nearest

_PLACE = Place(key="--force")


def forced_ids(given: Iterable[str]) -> tuple[str, ...]:
    """The ids of `--force NR101,nr203 --force NR301`, sorted; UsageError for one that cannot be overridden."""
    wanted = {name.strip().upper() for text in given for name in text.split(",")}
    known = [rule.id for rule in RULES]
    for name in sorted(wanted):
        if name not in known:
            raise UsageError("force.unknown", _PLACE, name=name, nearest=nearest(name, known))
        if not is_forcible(name):
            raise UsageError("force.never", _PLACE, name=name)
    return tuple(sorted(wanted))


def is_forcible(rule_id: str) -> bool:
    return all(rule.forcible for rule in RULES if rule.id == rule_id)


def without_effect(errors: Iterable[Finding], forced: Iterable[str]) -> list[str]:
    """Ids of `forced` that override none of `errors`."""
    found = {one.id for one in errors}
    return [name for name in forced if name not in found]
