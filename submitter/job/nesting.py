"""How deep an argument that no YAML reader has bounded goes: what reads it later recurses once for each level."""

from __future__ import annotations

import re

from submitter.errors import Place, UsageError
from submitter.job.document import MAX_DEPTH

_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_STEP = re.compile(r"\$\{|[\[({]|[\])}]")
_STEP_IN_QUOTES = re.compile(r"(?<!\\)\$\{|\}")
"""OmegaConf reads references inside a quoted text; its brackets are text."""
_OPENING = frozenset({"${", "[", "(", "{"})


def check_nesting(text: str, place: Place) -> None:
    """UsageError: a value that is passed on as it is nests deeper than the job file's own values may."""
    outside = _depth(_STEP, _QUOTED.sub("", text))
    if max(outside, _depth(_STEP_IN_QUOTES, text)) > MAX_DEPTH:
        raise UsageError("job.too_deep", place, limit=MAX_DEPTH)


def check_word_nesting(word: str, place: Place) -> None:
    """UsageError: as of its key and its value; of one without `=`, whatever it is."""
    key, _, value = word.partition("=")
    check_key_nesting(key, place)
    check_nesting(value or key, place)


def check_key_nesting(key: str, place: Place) -> None:
    """UsageError: more dotted names than the job file's own sections may nest."""
    if key.count(".") >= MAX_DEPTH:
        raise UsageError("job.too_deep", place, limit=MAX_DEPTH)


def _depth(steps: re.Pattern[str], text: str) -> int:
    deepest = depth = 0
    for step in steps.findall(text):
        depth = depth + 1 if step in _OPENING else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest
