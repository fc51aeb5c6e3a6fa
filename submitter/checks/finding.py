"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from submitter.errors import Place
from submitter.texts import Phrase, text

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True)
class Finding:
    """`id` (`NR…`) is also the text id: `<id>` is the message, `<id>.fix` what to do."""

    id: str
    severity: Severity
    place: Place
    value: str | None = None
    limit: str | None = None
    values: dict[str, object] = field(default_factory=dict)
    """Further values that the texts name."""

    def message(self, language: str = "en") -> str:
        return text(self.id, language, **self._values())

    def fix(self, language: str = "en") -> str:
        return text(f"{self.id}.fix", language, **self._values())

    def phrase(self, ending: str = "") -> Phrase:
        """Its message, or its `.fix`, as a value of another text."""
        return Phrase(f"{self.id}{ending}", self._values())

    def as_json(self, language: str = "en") -> dict[str, Any]:
        return {
            "id": self.id,
            "severity": self.severity,
            "where": self.place.as_json(),
            "value": self.value,
            "limit": self.limit,
            "message": self.message(language),
            "fix": self.fix(language),
        }

    def _values(self) -> dict[str, object]:
        return {"value": self.value, "limit": self.limit, "key": self.place.key, **self.values}
