"""The lines that tell of a failure, one table: rows of `signatures/*.yaml`, compiled on first use.

A row:

    - reason: hccl_connect_timeout      # an id of `reasons.REASONS`
      literal: "EI0006"                 # rare core, as bytes in every line that matters; case-sensitive
      pattern: 'EI0006.*?(?P<ip>\\d+(?:\\.\\d+){3})'   # optional, Python `re`, searched in the line without colours
      role: root                        # root | cascade | noise
      strength: 2                       # 1 hint | 2 usual | 3 says the cause in so many words
      phase: training                   # optional: where alone it counts (`PHASES`)
      source: F121                      # a report, a page, a source file: where the line is from
      example: "EI0006: …"              # a line as it is in logs

- root: may be the reason. cascade: what the survivors of something else say; its reason counts only when no root was
  seen. noise: never a reason, and never shown as a candidate.
- strength 1 is what healthy logs may hold too; it counts only for a run that failed and has nothing better.
- Groups of the pattern: `node` or `ip` is the blamed node as an IP; any other name goes into the diagnosis' values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from submitter.recovery.pattern_literals import literals_of

FOLDER = Path(__file__).parent / "signatures"

Role = Literal["root", "cascade", "noise"]
ROLES: tuple[Role, ...] = get_args(Role)
PHASES = ("start", "training")
"""start: before the first step was logged. training: after it."""
STRENGTHS = (1, 2, 3)
NODE_GROUPS = ("node", "ip")
LITERAL_MIN_BYTES = 5
"""A shorter core stands in too many lines."""
_KEYS = {"reason", "literal", "pattern", "role", "strength", "phase", "source", "example"}
_NEEDED = {"reason", "literal", "source", "example"}


@dataclass(frozen=True)
class Signature:
    reason: str
    literal: str
    pattern: str | None = None
    """None: the literal alone is enough."""
    role: Role = "root"
    strength: int = 2
    phase: str | None = None
    source: str = ""
    example: str = ""
    place: str = ""
    """File and position, for messages."""

    @cached_property
    def core(self) -> bytes:
        return self.literal.encode()

    @cached_property
    def regex(self) -> re.Pattern[str] | None:
        """Compiled when its literal is first seen: all at once would cost every start a quarter of a second."""
        return re.compile(self.pattern) if self.pattern else None

    @cached_property
    def needed(self) -> tuple[tuple[bytes, ...], ...]:
        """Of each, one is in every line that the pattern matches: looked for first, at a hundredth of its cost."""
        clauses = literals_of(self.pattern or "", self.literal)
        return tuple(tuple(text.encode() for text in clause) for clause in clauses)

    def may_be(self, raw: bytes) -> bool:
        """False for a line that `find` finds nothing in."""
        for clause in self.needed:
            for text in clause:  # plain loops: this is asked of every line with a core
                if text in raw:
                    break
            else:
                return False
        return True

    def find(self, text: str) -> dict[str, str] | None:
        """The pattern's groups in a line's text (without colours); None when the line is another one."""
        if self.regex is None:
            return {} if self.literal in text else None
        match = self.regex.search(text)
        return None if match is None else {key: value for key, value in match.groupdict().items() if value}


class SignatureError(ValueError):
    """A row of the table is wrong; the message says which and why."""


@cache
def signatures(folder: Path = FOLDER) -> tuple[Signature, ...]:
    """The whole table. SignatureError for a row that is not what the head of this file says."""
    return tuple(signature for file in sorted(folder.glob("*.yaml")) for signature in _read(file))


def _read(file: Path) -> Iterator[Signature]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C ten times as fast, where it was built
    rows: Sequence[Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=loader) or ()
    for number, row in enumerate(rows, start=1):
        yield _signature(row, f"{file.name} row {number}")


def _signature(row: Any, place: str) -> Signature:
    for problem in _problems(row):
        raise SignatureError(f"{place}: {problem}")
    return Signature(**row, place=place)


def _problems(row: Any) -> Iterator[str]:
    if not isinstance(row, Mapping):
        yield "not a mapping"
        return
    yield from (f"unknown key {key}" for key in row.keys() - _KEYS)
    yield from (f"{key} is missing" for key in _NEEDED - row.keys())
    yield from (f"{key} is no text" for key in row.keys() - {"strength"} if not isinstance(row[key], str))
    if row.get("role", "root") not in ROLES:
        yield f"role {row['role']} is none of {ROLES}"
    if row.get("strength", 2) not in STRENGTHS:
        yield f"strength {row['strength']} is none of {STRENGTHS}"
    if row.get("phase") not in (None, *PHASES):
        yield f"phase {row['phase']} is none of {PHASES}"
