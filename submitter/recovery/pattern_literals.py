"""The literal texts without which a regular expression matches nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

if sys.version_info >= (3, 11):  # the parser of `re` is public under neither name
    from re import _constants as names
    from re import _parser as parser
else:
    import sre_constants as names
    import sre_parse as parser

SHORTEST = 3
"""Characters; a shorter text tells little."""

Clause = tuple[str, ...]
"""One of these texts is in every match."""
_BREAK: Clause = ()
"""Between two texts that need not stand side by side."""


def literals_of(pattern: str, known: str = "") -> tuple[Clause, ...]:
    """What is in every match of `pattern`; nothing for a pattern that ignores case.

    `known`: a text that is there anyway, of which no part is worth looking for.
    """
    parsed: Any = parser.parse(pattern)
    if parsed.state.flags & re.IGNORECASE:
        return ()
    return tuple(dict.fromkeys(_clauses(parsed, known)))


def _clauses(parsed: Iterable[tuple[Any, Any]], known: str) -> Iterator[Clause]:
    run = ""
    for part in (*_parts(parsed, known), _BREAK):
        if isinstance(part, str):
            run += part
            continue
        if len(run) >= SHORTEST and run not in known:
            yield (run,)
        run = ""
        if part:
            yield part


def _parts(parsed: Iterable[tuple[Any, Any]], known: str) -> Iterator[str | Clause]:
    """Characters one by one, whole clauses, and breaks."""
    for kind, value in parsed:
        if kind is names.LITERAL:
            yield chr(value)
        elif kind is names.SUBPATTERN and not value[1] & re.IGNORECASE:
            yield from _parts(value[3], known)
        elif kind in (names.MAX_REPEAT, names.MIN_REPEAT) and value[0] >= 1:
            yield from (_BREAK, *_parts(value[2], known), _BREAK)
        elif kind is names.BRANCH:
            yield from (_BREAK, _one_of(value[1], known))
        elif kind is not names.AT:
            yield _BREAK


def _one_of(branches: Iterable[Any], known: str) -> Clause:
    """The longest text of each branch; nothing when one of them has none."""
    texts: list[str] = []
    for branch in branches:
        best = max(_clauses(branch, known), key=lambda clause: min(map(len, clause)), default=_BREAK)
        if not best:
            return _BREAK
        texts += best
    return tuple(texts)
