"""YAML text → nodes with line numbers.

Built from PyYAML's event stream rather than its composer: events show explicit tags, the nesting needs no recursion,
and an alias can be counted before it multiplies. Accepted is plain YAML that `yaml.safe_load` reads the same way:
no tags, no merge keys, one document, string keys, each once. Aliases are allowed (`safe_dump` writes them).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from submitter.errors import Place, UsageError

MAX_DEPTH = 24
"""Deeper than any argument's value; keeps every walk over a document far from Python's recursion limit."""
MAX_SIZE = 40_000
"""Keys and values with aliases expanded, one more for each 64 characters of a text; the published job has 400."""
_CHARS_PER_UNIT = 64

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is in every wheel, not in every distribution
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_PREFIX = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Scalar:
    text: str
    plain: bool
    """Written without quotes, so that YAML may read it as a number, bool or null."""
    line: int

    @property
    def size(self) -> int:
        return 1 + len(self.text) // _CHARS_PER_UNIT


@dataclass(frozen=True)
class Sequence:
    items: tuple[Node, ...]
    line: int
    size: int


@dataclass(frozen=True)
class Entry:
    """A key with its own line and its value."""

    line: int
    node: Node


@dataclass(frozen=True)
class Mapping:
    entries: dict[str, Entry]
    line: int
    size: int


Node = Scalar | Sequence | Mapping


def parse(text: str, shown: str) -> Node:
    """The one document in `text`; `shown` names the file in errors. UsageError: not such a document."""
    builder = _Builder(shown)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text, shown) from None
    except yaml.YAMLError as error:
        raise UsageError("job.yaml", Place(file=shown), problem=error) from None
    if builder.root is None:
        raise UsageError("job.empty", Place(file=shown))
    return builder.root


def plain_kind(text: str) -> str:
    """What YAML 1.1 reads an unquoted `text` as: null, bool, int, float, timestamp, merge, value or str."""
    for tag, pattern in _resolvers(text[:1]):
        if pattern.match(text):
            return str(tag).removeprefix(_PREFIX)
    return "str"


def is_text(scalar: Scalar) -> bool:
    """YAML reads a string."""
    return not scalar.plain or plain_kind(scalar.text) == "str"


def _resolvers(first: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    yield from _RESOLVERS.get(first, ())
    yield from _RESOLVERS.get(None, ())  # the patterns for any first character


def _syntax_error(error: yaml.MarkedYAMLError, text: str, shown: str) -> UsageError:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return UsageError("job.yaml", Place(file=shown), problem=error.problem)
    place = Place(file=shown, line=mark.line + 1)
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return UsageError("job.tab", place)
    return UsageError("job.yaml", place, problem=error.problem)


@dataclass
class _Open:
    """A list or mapping whose end has not come yet; a mapping's items are key, value, key, value, …"""

    line: int
    anchor: str | None
    is_mapping: bool
    items: list[Node] = field(default_factory=list)

    @property
    def wants_key(self) -> bool:
        return self.is_mapping and len(self.items) % 2 == 0


class _Builder:
    """Takes events, one after another; `root` is the document's node at the end."""

    def __init__(self, shown: str) -> None:
        self.root: Node | None = None
        self._shown = shown
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._size = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def start_document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise UsageError("job.documents", self._place(event))

    def scalar(self, event: Any) -> None:
        self._refuse_tag(event)
        if "\0" in event.value:
            # Neither an argument nor an environment variable of a process can hold it.
            raise UsageError("job.control_character", self._place(event), code="U+0000")
        node = Scalar(event.value, plain=bool(event.implicit[0]), line=event.start_mark.line + 1)
        self._grow(node.size, event)
        self._add(node, event.anchor)

    def start(self, event: Any) -> None:
        self._refuse_tag(event)
        if len(self._stack) >= MAX_DEPTH:
            raise UsageError("job.too_deep", self._place(event), limit=MAX_DEPTH)
        if self._stack and self._stack[-1].wants_key:
            raise UsageError("job.key_not_text", self._place(event), key="[…]")
        self._grow(1, event)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._stack.append(_Open(event.start_mark.line + 1, event.anchor, is_mapping))

    def end(self, _event: Any) -> None:
        opened = self._stack.pop()
        size = 1 + sum(node.size for node in opened.items)
        if opened.is_mapping:
            self._add(Mapping(self._entries(opened.items), opened.line, size), opened.anchor)
        else:
            self._add(Sequence(tuple(opened.items), opened.line, size), opened.anchor)

    def alias(self, event: Any) -> None:
        node = self._anchors.get(event.anchor)
        if node is None:  # also one that contains itself: its end has not come yet
            raise UsageError("job.alias", self._place(event), name=event.anchor)
        self._grow(node.size, event)
        self._add(node, None)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._stack:
            self.root = node
            return
        if self._stack[-1].wants_key:
            self._check_key(node)
        self._stack[-1].items.append(node)

    def _grow(self, size: int, event: Any) -> None:
        self._size += size
        if self._size > MAX_SIZE:
            raise UsageError("job.too_much", self._place(event), limit=MAX_SIZE)

    def _check_key(self, node: Node) -> None:
        place = Place(self._shown, node.line)
        if not isinstance(node, Scalar):
            raise UsageError("job.key_not_text", place, key="[…]")
        if not node.plain:
            return
        kind = plain_kind(node.text)
        if kind == "merge":
            raise UsageError("job.merge_key", place)
        if kind != "str":
            raise UsageError("job.key_not_text", place, key=node.text)

    def _entries(self, items: list[Node]) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for key, node in zip(items[::2], items[1::2], strict=True):
            assert isinstance(key, Scalar)  # checked when it was added
            if key.text in entries:
                first = entries[key.text].line
                raise UsageError("job.duplicate_key", Place(self._shown, key.line, key.text), key=key.text, first=first)
            entries[key.text] = Entry(key.line, node)
        return entries

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None:
            raise UsageError("job.tag", self._place(event), tag=event.tag)

    def _place(self, event: Any) -> Place:
        return Place(self._shown, event.start_mark.line + 1)


_HANDLERS: dict[type, Any] = {
    yaml.DocumentStartEvent: _Builder.start_document,
    yaml.ScalarEvent: _Builder.scalar,
    yaml.MappingStartEvent: _Builder.start,
    yaml.SequenceStartEvent: _Builder.start,
    yaml.MappingEndEvent: _Builder.end,
    yaml.SequenceEndEvent: _Builder.end,
    yaml.AliasEvent: _Builder.alias,
}
