"""What `recovery.on_reason` asks for: reasons that exist, retries that may be made, changes that the trainer takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from submitter.checks import composition
from submitter.checks.case import Case, NotChecked
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.job.nearest import nearest
from submitter.recovery.decide import FIXED_FAMILIES
from submitter.recovery.reasons import FAMILIES, REASONS
from submitter.texts import Phrase

ON_REASON = "recovery.on_reason"
RETRIES = ("now", "backoff", "exclude_node")
"""What a policy may ask for without a change."""
_NO_FAILURES = ("succeeded", "stopped", "still_running")


def on_reason(case: Case) -> Iterator[Finding]:
    """Source: submitter/recovery/reasons.py, the table of reasons, and decide.py, FIXED_FAMILIES."""
    for name, rule in case.job.recovery.on_reason.items():
        if name not in REASONS and name not in FAMILIES:
            near = nearest(name, [*REASONS, *FAMILIES])
            yield _on_reason(case, name, "error", "NR380.unknown", "NR380.do_unknown", nearest=near)
        elif name in _NO_FAILURES or name == "outcome":
            yield _on_reason(case, name, "warning", "NR380.outcome", "NR380.do_outcome")
        elif rule.retry in RETRIES and _family(name) in FIXED_FAMILIES:
            yield _on_reason(case, name, "warning", "NR380.fixed", "NR380.do_fixed", retry=rule.retry)


def change(case: Case) -> Iterator[Finding | NotChecked]:
    """Source: the driver appends a change to the trainer's arguments, which Hydra composes as it does the job's."""
    before = _findings(case)
    for name, composed in case.changes.items():
        if composed.reason:
            yield NotChecked("NR118", "NR118.not_composed", {"reason": name})
        words = (*case.job.extra_arguments, *case.job.recovery.on_reason[name].change)
        job = dataclasses.replace(case.job, extra_arguments=words)
        for found in _findings(dataclasses.replace(case, job=job, composition=composed)):
            if found not in before:
                values: dict[str, object] = {"reason": name, "what": found.phrase(), "how": found.phrase(".fix")}
                place = case.job.place(f"{ON_REASON}.{name}.change")
                yield Finding("NR118", found.severity, place, found.value, found.limit, values)


RULES = (
    Rule("NR118", ("error", "warning"), change),
    Rule("NR380", ("error", "warning"), on_reason),
)


def _family(name: str) -> str:
    return REASONS[name].family if name in REASONS else name


def _on_reason(case: Case, name: str, severity: Severity, why: str, how: str, **values: object) -> Finding:
    said: dict[str, object] = {"value": name, **values}
    place = case.job.place(f"{ON_REASON}.{name}")
    return Finding("NR380", severity, place, name, values={"why": Phrase(why, said), "how": Phrase(how, said)})


def _findings(case: Case) -> list[Finding]:
    return [one for rule in composition.RULES for one in rule.check(case) if isinstance(one, Finding)]
