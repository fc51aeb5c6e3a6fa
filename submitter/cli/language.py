"""Which language people read: `--lang`, else NPURUN_LANG, else the locale; English when none says Chinese."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from submitter.errors import in_language
from submitter.texts import LANGUAGES, text

_chosen: list[str] = []


def choose(language: str) -> None:
    _chosen[:] = [language]


def choose_from(arguments: Sequence[str]) -> None:
    """Looks for `--lang` ahead of the parser, whose errors are told in the language too."""
    _chosen.clear()
    for index, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name == "--lang":
            value = value if equals else "".join(arguments[index + 1 : index + 2])
            _chosen[:] = [value] if value in LANGUAGES else []


def language() -> str:
    if _chosen:
        return _chosen[0]
    found = from_environment(os.environ)
    return found if _can_show(text("cli.lang.sample", found)) else "en"


def from_environment(environ: Mapping[str, str]) -> str:
    """POSIX order: LC_ALL wins over LC_MESSAGES wins over LANG; an empty variable counts as unset."""
    for name in ("NPURUN_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(name):
            return next((known for known in LANGUAGES if value.lower().startswith(known)), "en")
    return "en"


def say(text_id: str, /, **values: object) -> str:
    """The text in the user's language."""
    return text(text_id, language(), **in_language(values, language()))


def _can_show(sample: str) -> bool:
    """Whether the terminal's encoding has the characters: escapes instead of them help nobody."""
    with suppress(UnicodeEncodeError, LookupError):
        sample.encode(getattr(sys.stderr, "encoding", None) or "utf-8")
        return True
    return False
