"""The texts of what a view shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from submitter.texts import TABLE, Phrase, text


class Told(Protocol):
    """An alert as the rules give it, or as the ledger keeps it."""

    @property
    def id(self) -> str: ...
    @property
    def values(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class AlertText:
    message: str
    fix: str


def alert_text(alert: Told, language: str) -> AlertText:
    """What it says and what people do. One of another npurun, whose id or numbers this one does not know, says less."""
    values = dict(alert.values)
    if (phase := f"phase.{values.get('phase')}") in TABLE:
        values["phase"] = Phrase(phase)
    try:
        return AlertText(text(alert.id, language, **values), text(f"{alert.id}.fix", language, **values))
    except KeyError:
        about = f"{alert.id}.about"
        return AlertText(text(about, language) if about in TABLE else alert.id, "")
