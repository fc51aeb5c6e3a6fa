"""What a check is about, for people who look it up."""

from __future__ import annotations

import re
from string import Formatter

from submitter.texts import LANGUAGES, TABLE, text

_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)\.\s+|(?<=。)")


def about(rule_id: str, language: str) -> str:
    """What it looks at, why that matters, when it is no problem."""
    return text(f"{rule_id}.about", language)


def title(rule_id: str, language: str) -> str:
    """The first sentence of `about`, without its full stop."""
    return _SENTENCE_END.split(about(rule_id, language), maxsplit=1)[0].rstrip(".。")


def pattern(text_id: str, language: str) -> str:
    """A text with `<name>` where a finding has a value."""
    pieces = Formatter().parse(TABLE[text_id][LANGUAGES.index(language)])
    return "".join(fixed + (f"<{name}>" if name else "") for fixed, name, _, _ in pieces)
