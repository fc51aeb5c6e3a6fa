"""Typed reading of a section's keys: each `read_…` takes a value with its place and says what it wanted instead."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from submitter.errors import Place, UsageError
from submitter.job.document import Entry, Mapping, Node, Scalar, plain_kind
from submitter.job.document import Sequence as SequenceNode
from submitter.job.model import Number, RawText
from submitter.job.nearest import nearest
from submitter.job.scalars import Resolved, text_of, visible
from submitter.job.variables import Scope

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
MAX_INTEGER_CHARS = 18
"""Far beyond every limit here; Python itself refuses to read thousands of digits."""
_BOOLS = {"true": True, "false": False}

T = TypeVar("T")


@dataclass(frozen=True)
class Section:
    """A mapping of the job file, whose keys have been checked; `path` is its key from the top ("cluster")."""

    entries: dict[str, Entry]
    path: str
    place: Place
    scope: Scope

    def get(self, key: str, read: Callable[[Resolved, str], T]) -> T | None:
        """The value of `key`; None when the key is not there, or null."""
        entry = self.entries.get(key)
        if entry is None:
            return None
        resolved = self.scope.resolve(entry.node, self.name(key))
        return None if resolved.value is None else read(resolved, self.name(key))

    def need(self, key: str, read: Callable[[Resolved, str], T]) -> T:
        value = self.get(key, read)
        if value is None:
            raise UsageError("job.missing", self.place, key=self.name(key))
        return value

    def texts(self, key: str, read: Callable[[Resolved, str], str] | None = None) -> tuple[str, ...]:
        """A list of strings, each as `read` wants it; empty when the key is not there, or null."""
        entry = self.entries.get(key)
        if entry is None or is_null(entry.node):
            return ()
        if not isinstance(entry.node, SequenceNode):
            raise self.wrong(key, "list")
        name, read = self.name(key), read or read_text
        return tuple(read(self.scope.resolve(item, name), name) for item in entry.node.items)

    def section(self, key: str, known: Sequence[str] | None) -> Section:
        """The mapping under `key`; empty when the key is not there, or null. `known`: None allows any key."""
        entry = self.entries.get(key)
        if entry is None or is_null(entry.node):
            return Section({}, self.name(key), self.place, self.scope)
        if not isinstance(entry.node, Mapping):
            raise self.wrong(key, "mapping")
        place = Place(self.place.file, entry.line, self.name(key))
        if known is not None:
            check_known(entry.node, known, place)
        return Section(entry.node.entries, self.name(key), place, self.scope)

    def at(self, key: str) -> Place:
        return Place(self.place.file, self.entries[key].line, self.name(key))

    def name(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, wanted: str) -> UsageError:
        return UsageError(f"job.want_{wanted}", self.at(key), key=self.name(key), value=_shape(self.entries[key].node))


def check_known(node: Mapping, known: Sequence[str], place: Place) -> None:
    """UsageError for the first key that is not `known`."""
    for key, entry in node.entries.items():
        if key not in known:
            where = Place(place.file, entry.line, key)
            raise UsageError("job.unknown_key", where, key=key, nearest=nearest(key, known), known=", ".join(known))


def is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.plain and plain_kind(node.text) == "null"


def read_text(resolved: Resolved, key: str) -> str:
    if isinstance(resolved.value, (str, RawText)):
        return text_of(resolved.value)
    raise _wrong("text", resolved, key)


def read_bool(resolved: Resolved, key: str) -> bool:
    if isinstance(resolved.value, bool):
        return resolved.value
    if isinstance(resolved.value, RawText) and resolved.value.text.lower() in _BOOLS:
        return _BOOLS[resolved.value.text.lower()]
    raise _wrong("bool", resolved, key)


def integer(low: int, high: int) -> Callable[[Resolved, str], int]:
    def read(resolved: Resolved, key: str) -> int:
        text = text_of(resolved.value)
        if not isinstance(resolved.value, (Number, RawText)) or _INTEGER.fullmatch(text) is None:
            raise _wrong("integer", resolved, key)
        if len(text) > MAX_INTEGER_CHARS or not low <= int(text) <= high:
            raise UsageError("job.range", resolved.place, key=key, value=text, low=low, high=high)
        return int(text)

    return read


def positive_number(high: float) -> Callable[[Resolved, str], float]:
    def read(resolved: Resolved, key: str) -> float:
        if not isinstance(resolved.value, (Number, RawText)):
            raise _wrong("number", resolved, key)
        try:
            number = float(text_of(resolved.value))
        except ValueError:
            raise _wrong("number", resolved, key) from None
        if not math.isfinite(number) or not 0 < number <= high:
            raise UsageError("job.range_above", resolved.place, key=key, value=f"{number:g}", low=0, high=f"{high:g}")
        return number

    return read


def matching(pattern: str, wanted: str) -> Callable[[Resolved, str], str]:
    """Text that `pattern` matches whole; `wanted` is the text id's ending that describes it."""
    compiled = re.compile(pattern, re.ASCII)

    def read(resolved: Resolved, key: str) -> str:
        text = read_text(resolved, key)
        if compiled.fullmatch(text) is None:
            raise _wrong(wanted, resolved, key)
        return text

    return read


def one_of(allowed: Iterable[str]) -> Callable[[Resolved, str], str]:
    choices = tuple(allowed)

    def read(resolved: Resolved, key: str) -> str:
        text = text_of(resolved.value)
        if text not in choices:
            raise UsageError("job.choice", resolved.place, key=key, value=visible(text), allowed=", ".join(choices))
        return text

    return read


def _wrong(wanted: str, resolved: Resolved, key: str) -> UsageError:
    return UsageError(f"job.want_{wanted}", resolved.place, key=key, value=visible(text_of(resolved.value)))


def _shape(node: Node) -> str:
    if isinstance(node, Mapping):
        return "{…}"
    if isinstance(node, SequenceNode):
        return "[…]"
    name, equals, _ = node.text.partition("=")
    return f"{name}=…" if equals else visible(node.text)  # `WANDB_API_KEY=…` under env: the value may be a secret
