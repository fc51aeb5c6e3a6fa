"""Which language people read: `--lang`, else NPURUN_LANG, else the locale; English when none says Chinese."""

from __future__ import annotations

import os
from collections.abc import Mapping

from submitter.texts import LANGUAGES, text

_chosen: list[str] = []


def choose(language: str) -> None:
    _chosen[:] = [language]


def language() -> str:
    return _chosen[0] if _chosen else from_environment(os.environ)


def from_environment(environ: Mapping[str, str]) -> str:
    """POSIX order: LC_ALL wins over LC_MESSAGES wins over LANG; an empty variable counts as unset."""
    for name in ("NPURUN_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(name):
            return next((known for known in LANGUAGES if value.lower().startswith(known)), "en")
    return "en"


def say(text_id: str, /, **values: object) -> str:
    """The text in the user's language."""
    return text(text_id, language(), **values)
