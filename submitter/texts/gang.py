"""Texts of this room: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {}
