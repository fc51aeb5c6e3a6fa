"""What a job allows its run to do after an attempt, as data that is kept with the run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from submitter.job.model import OnReason, Recovery, Retry


@dataclass(frozen=True)
class Policy:
    """The keys of `recovery` that decide; bounds of the driver's own (first_step_min, hang_min) are in the plan."""

    max_attempts: int = Recovery.max_attempts
    max_hours: float | None = None
    """Wall time since the first attempt began; None: no bound."""
    resume: bool = True
    """False: each attempt starts from step 0, whatever checkpoints there are."""
    from_start: bool = False
    """Steps that are trained may be trained again from step 0."""
    on_reason: Mapping[str, OnReason] = field(default_factory=dict)
    """By id of a reason, or by family."""

    @classmethod
    def of(cls, recovery: Recovery) -> Policy:
        return cls(
            recovery.max_attempts, recovery.max_hours, recovery.resume, recovery.from_start, dict(recovery.on_reason)
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Policy:
        """What `to_json` gave; what is not in it has its default."""
        rules = {key: _on_reason(rule) for key, rule in raw.get("on_reason", {}).items()}
        return cls(**{**raw, "on_reason": rules})

    def rule(self, reason: str, family: str) -> OnReason:
        """What the job says of this reason; the reason's own rule comes before its family's."""
        return self.on_reason.get(reason) or self.on_reason.get(family) or OnReason()

    def key(self, reason: str, family: str) -> str:
        """What the limit of `rule` counts: the reason's own attempts, or all of the family."""
        return family if reason not in self.on_reason and family in self.on_reason else reason


def _on_reason(raw: Mapping[str, Any]) -> OnReason:
    return OnReason(cast("Retry | None", raw["retry"]), raw["limit"], tuple(raw["change"]))
