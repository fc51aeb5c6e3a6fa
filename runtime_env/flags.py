"""The environment variables that a training on NPUs knows: who reads them, in which versions, and how.

`flags.json` describes each; `flag_names.json` has the further names of vLLM, verl, Ray, torch_npu and CANN, without a
description: a real name is never called misspelt. Where the rows come from stands in each row's `evidence`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from runtime_env.stacks import COMPONENTS, Stack
from runtime_env.verl_defaults import version_key

Parse = Literal["text", "int", "strtol"]
"""How a reader takes a value. `int`: Python's int(), which raises on anything else, on an empty text too;
`strtol`: C's, which takes what is no number as 0."""
When = Literal["job", "start", "build", "script"]
"""When a variable is read: by a job's processes, by `ray start`, in a build, or by a launch script alone."""
Answer = Literal["read", "not read", "unknown"]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Reader:
    """A component and the versions of it that read a variable; "" for an open end."""

    component: str
    """A component of a stack, or `ray`, or `system` (Python, libc, OpenMP)."""
    since: str = ""
    until: str = ""
    """The last version known to read it."""
    gone: str = ""
    """The first version known not to read it any more."""
    absent: str = ""
    """The last version known not to read it yet."""

    @property
    def span(self) -> str:
        """`0.11.0 - 0.17.0`, `<= 0.11.0`, `>= 0.19.1`, or "" for all versions."""
        if self.since and self.until:
            return self.since if self.since == self.until else f"{self.since} - {self.until}"
        return f"<= {self.until}" if self.until else f">= {self.since}" if self.since else ""


@dataclass(frozen=True)
class KnownFlag:
    name: str
    owner: str
    what: tuple[str, str]
    """English, Chinese."""
    values: str
    """The values' grammar, for people."""
    default: str
    parse: Parse
    choices: tuple[str, ...]
    """All that a reader takes, capitals aside; empty: not a choice."""
    strict: bool
    """The reader raises on anything but its choices."""
    readers: tuple[Reader, ...]
    """None: nothing on NPUs reads it."""
    successor: str | None
    """What does the same in later versions."""
    deprecated: tuple[str, str] | None
    """(component, since which version): read, but to be replaced by the successor."""
    node_dependent: bool
    """The right value differs from node to node."""
    conflicts: tuple[str, ...]
    at: When
    evidence: str


@dataclass(frozen=True)
class FlagState:
    answer: Answer
    reader: Reader | None = None
    """Who reads it, or who did so last; None: nobody."""
    version: str = ""
    """The reader's version on the stack."""
    successor: str | None = None


def flags() -> Mapping[str, KnownFlag]:
    """Every described flag by name."""
    return _flags()


def flag(name: str) -> KnownFlag | None:
    """Also for a name without a description of its own; None: no known program reads such a name."""
    known = _flags().get(name)
    return known if known is not None else _undescribed(name)


def names() -> Iterable[str]:
    """Every known name, described or not."""
    yield from _flags()
    for table in _names().values():
        for entry, value in table.items():
            yield from value if entry in _PLAIN else (entry,)


def state(name: str, stack: Stack | None) -> FlagState:
    """Whether the stack's versions read it. `unknown`: no such flag, no stack, or a version that was not looked at."""
    known = flag(name)
    if known is None:
        return FlagState("unknown")
    answers = [(_answer(reader, stack), reader) for reader in known.readers]
    for wanted in ("read", "unknown", "not read"):
        for answer, reader in reversed(answers):
            if answer == wanted:
                return FlagState(answer, reader, version_of(stack, reader.component), known.successor)
    return FlagState("not read", successor=known.successor)


def deprecated(known: KnownFlag, stack: Stack | None) -> bool:
    """A successor is there already on this stack."""
    if known.deprecated is None:
        return False
    component, since = known.deprecated
    version = version_key(version_of(stack, component))
    return not since or (bool(version) and version >= version_key(since))


def version_of(stack: Stack | None, component: str) -> str:
    """ "" without a stack, and for what is no component of one."""
    if stack is None or component not in COMPONENTS:
        return ""
    return stack.verl_release if component == "verl" else str(getattr(stack, component))


def _answer(reader: Reader, stack: Stack | None) -> Answer:
    if not reader.since and not reader.until:
        return "read"
    version = version_key(version_of(stack, reader.component))
    if not version:
        return "unknown"
    if reader.since and version < version_key(reader.since):
        return "not read" if version <= version_key(reader.absent) else "unknown"
    if not reader.until or version <= version_key(reader.until):
        return "read"
    return "not read" if version >= version_key(reader.gone) else "unknown"


@cache
def _flags() -> Mapping[str, KnownFlag]:
    rows = json.loads((_FOLDER / "flags.json").read_text(encoding="utf-8"))
    return {row["name"]: _described(row) for row in rows}


_LISTS = ("what", "choices", "conflicts")


def _described(row: dict[str, Any]) -> KnownFlag:
    for name in _LISTS:
        row[name] = tuple(row[name])
    row["readers"] = tuple(Reader(*reader) for reader in row["readers"])
    row["deprecated"] = tuple(row["deprecated"]) if row["deprecated"] else None
    return KnownFlag(**row)


_PLAIN = ("ray", "torch_npu", "cann")
"""Read in all versions, as far as is known: lists of names."""

_UNDESCRIBED = ("has no description here", "此处没有说明")
_SOURCES = {
    "vllm": "vllm sources of 0.13.0, 0.18.0, 0.23.0 and 0.26.0; vllm-ascend: every release branch and main of 2026-08",
    "verl": "verl sources of 0.7.1, 0.8.0, 0.9.0, 0.9.1 and main of 2026-08",
    "ray": "sources of Ray 2.60.0",
    "torch_npu": "Ascend/pytorch master of 2026-08-21",
    "cann": "documentation and general knowledge of CANN",
}


@cache
def _names() -> Mapping[str, Mapping[str, list[Any]]]:
    """`{"vllm": {name: [readers, parse]}, "verl": …, "plain": {"ray": [name]}}`."""
    table: Mapping[str, Mapping[str, list[Any]]] = json.loads((_FOLDER / "flag_names.json").read_text(encoding="utf-8"))
    return table


def _undescribed(name: str) -> KnownFlag | None:
    table = _names()
    for owner in ("vllm", "verl"):
        if name in table[owner]:
            readers, parse = table[owner][name]
            return _bare(name, owner, tuple(Reader(*reader) for reader in readers), parse)
    for owner in _PLAIN:
        if name in table["plain"][owner]:
            return _bare(name, owner, (Reader(owner),), "text")
    return None


def _bare(name: str, owner: str, readers: tuple[Reader, ...], parse: Parse) -> KnownFlag:
    return KnownFlag(
        name=name,
        owner=owner,
        what=_UNDESCRIBED,
        values="int" if parse == "int" else "any text",
        default="unset",
        parse=parse,
        choices=(),
        strict=False,
        readers=readers,
        successor=None,
        deprecated=None,
        node_dependent=False,
        conflicts=(),
        at="job",
        evidence=_SOURCES[owner],
    )
