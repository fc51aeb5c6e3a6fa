"""The `arguments:` section → groups of arguments, in the order of the file."""

from __future__ import annotations

import re

from submitter.errors import Place, UsageError
from submitter.job.document import Mapping, Node, Scalar
from submitter.job.fields import Section
from submitter.job.hydra_grammar import KEY, OPTIONS, dict_key_text
from submitter.job.model import Argument, Group, RawText, Value
from submitter.job.nesting import check_key_nesting, check_nesting
from submitter.job.variables import TEXT_KEY, Scope

_GROUP = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,47}", re.ASCII)


def groups(top: Section) -> tuple[Group, ...]:
    """UsageError: a key that Hydra's grammar does not know, a value that it cannot express, an undefined variable."""
    if "arguments" not in top.entries:
        raise UsageError("job.missing", top.place, key="arguments")
    section = top.section("arguments", None)
    return tuple(_group(section, name) for name in section.entries)


def _group(section: Section, name: str) -> Group:
    if _GROUP.fullmatch(name) is None:
        raise UsageError("job.group_name", section.at(name), name=name)
    group = section.section(name, None)
    return Group(name, tuple(_argument(group, key) for key in group.entries))


def _argument(group: Section, key: str) -> Argument:
    entry = group.entries[key]
    place = Place(group.place.file, entry.line, key)
    if KEY.fullmatch(key) is None and key not in OPTIONS:
        raise UsageError("arguments.key", place, key=key)
    check_key_nesting(key, place)
    value = _value(entry.node, key, group.scope, place)
    if key in OPTIONS and not isinstance(value, (str, RawText)):
        raise UsageError("arguments.option", place, key=key)
    return Argument(key, value, place)


def _value(node: Node, key: str, scope: Scope, place: Place) -> Value:
    if isinstance(node, Scalar) or (isinstance(node, Mapping) and TEXT_KEY in node.entries):
        value = scope.resolve(node, key).value
        if isinstance(value, RawText):
            check_nesting(value.text, place)
        return value
    if isinstance(node, Mapping):
        return {name: _entry(name, node, key, scope, place) for name in node.entries}
    return [_value(item, key, scope, place) for item in node.items]


def _entry(name: str, node: Mapping, key: str, scope: Scope, place: Place) -> Value:
    entry = node.entries[name]
    where = Place(place.file, entry.line, key)
    if "${" in name:
        raise UsageError("arguments.reference_in_key", where, key=name)
    if dict_key_text(name) is None:
        raise UsageError("arguments.dict_key", where, key=name)
    return _value(entry.node, key, scope, where)
