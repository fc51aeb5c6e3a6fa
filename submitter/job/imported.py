"""The `imported:` section: what an import read the script with, so that no other value passes for the same command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from submitter.errors import Place, UsageError
from submitter.job.document import Node, Scalar, is_text
from submitter.job.document import Sequence as SequenceNode
from submitter.job.fields import Section, integer, is_null, read_text
from submitter.job.model import RawText, Variable
from submitter.job.nearest import nearest
from submitter.job.scalars import Resolved, visible
from submitter.job.variables import PREDEFINED, environment, raw_text

KEYS = ("script", "launch_line", "decided", "required", "unquoted")

MAX_LINE = 10_000_000

_SPLIT = re.compile(r"[ \t\n*?\[]")
"""What bash splits an unquoted expansion at, or takes for a pattern of file names."""


def decided(name: str, node: Node, place: Place, given: Mapping[str, str], environ: Mapping[str, str]) -> Resolved:
    """The text that the script's way hung on. UsageError: `--set` or the environment gives another one."""
    own = _decided_text(node, place)
    if own is None and (name in given or name in environ):
        raise UsageError("job.decided_unset", place, name=name)
    other = given.get(name, environ.get(name) or own)
    if own is not None and other != own:
        raise UsageError("job.decided", place, name=name, value=visible(own))
    return Resolved(RawText(own or ""), own or "", place)


def check_imported(top: Section, variables: Mapping[str, Variable], environ: Mapping[str, str]) -> None:
    """UsageError: keys of the wrong kind, an unknown name, a value that bash would split where the script has it."""
    section = top.section("imported", KEYS)
    section.get("script", read_text)
    section.get("launch_line", integer(1, MAX_LINE))
    listed = top.section("variables", None)
    for name, place in _names(section, "required"):
        if name not in listed.entries:
            raise UsageError("job.unquoted_name", place, name=name, nearest=nearest(name, listed.entries))
        if not variables[name].text:
            raise UsageError("job.required", place, name=name)
    for name, place in _names(section, "unquoted"):
        if name in PREDEFINED and name not in variables:
            _check_whole(name, environ.get(name, ""), environment(name))
            continue
        if name not in listed.entries:
            raise UsageError("job.unquoted_name", place, name=name, nearest=nearest(name, listed.entries))
        variable = variables[name]
        node = listed.entries[name].node
        is_own = isinstance(node, Scalar) and node.text == variable.text
        if variable.origin != "file" and not is_own:
            _check_whole(name, variable.text, variable.place)


def _check_whole(name: str, text: str, place: Place) -> None:
    if _SPLIT.search(text):
        raise UsageError("job.unquoted_value", place, name=name)


def _decided_text(node: Node, place: Place) -> str | None:
    """Taken as it stands: nothing in it is replaced."""
    if is_null(node):
        return None
    if (text := raw_text(node, place)) is not None:
        return text
    if not isinstance(node, Scalar):
        raise UsageError("job.not_a_scalar", place, key=place.key)
    if not is_text(node):
        raise UsageError("job.want_text", place, key=place.key, value=node.text)
    return node.text


def _names(section: Section, key: str) -> Iterable[tuple[str, Place]]:
    places = [Place(section.place.file, item.line, section.name(key)) for item in _items(section, key)]
    return zip(section.texts(key), places, strict=True)


def _items(section: Section, key: str) -> tuple[Node, ...]:
    entry = section.entries.get(key)
    return entry.node.items if entry is not None and isinstance(entry.node, SequenceNode) else ()
