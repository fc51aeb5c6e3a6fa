"""Values as a report writes them. None stays None: the page then says that it was not measured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from submitter.texts import TABLE, text

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True)
class Words:
    language: str

    def t(self, text_id: str, /, **values: object) -> str:
        return text(text_id, self.language, **values)

    def known(self, text_id: str, /, **values: object) -> str | None:
        """None: this npurun has no such text, or not for these values; another one may have written them."""
        try:
            return self.t(text_id, **values) if text_id in TABLE else None
        except (KeyError, IndexError):
            return None

    def number(self, value: float | None, digits: int = 4) -> str | None:
        return None if value is None else f"{value:.{digits}g}"

    def percent(self, share: float | None) -> str | None:
        return None if share is None else f"{100 * share:.1f} %"

    def duration(self, seconds: float | None) -> str | None:
        """In its two largest units."""
        if seconds is None:
            return None
        left = max(0, round(seconds))
        place = next((place for place, (size, _) in enumerate(_UNITS) if left >= size), len(_UNITS) - 1)
        parts: list[str] = []
        for size, name in _UNITS[place : place + 2]:
            count, left = divmod(left, size)
            parts += [self.t(f"web.time.{name}", n=count)] if count or not parts else []
        return " ".join(parts)

    def time(self, ms: int | None) -> str | None:
        """Of this machine's zone, which the foot of the page names."""
        return None if ms is None else datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")

    def gib(self, mb: float | None) -> str | None:
        return None if mb is None else f"{mb / 1024:.1f}"

    def zone(self, ms: int) -> str:
        """`UTC+08:00`."""
        return f"UTC{datetime.fromtimestamp(ms / 1000).astimezone().isoformat()[-6:]}"
