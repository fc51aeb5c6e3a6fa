"""The `arguments:` section → groups of arguments, in the order of the file."""

from __future__ import annotations

import re
from dataclasses import replace

from submitter.errors import Place, UsageError
from submitter.job.document import Mapping, Node, Scalar, Sequence, is_text
from submitter.job.fields import Section, one_of
from submitter.job.hydra_grammar import KEY, OPTIONS, dict_key_text
from submitter.job.model import Argument, Group, RawText, Value
from submitter.job.nesting import check_key_nesting, check_nesting, check_word_nesting
from submitter.job.scalars import text_of, visible
from submitter.job.variables import TEXT_KEY, Scope

_KEY_SHOWN_CHARS = 200
"""Longer than any key of verl."""
_GROUP = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,47}", re.ASCII)


def groups(top: Section) -> tuple[Group, ...]:
    """UsageError: a key that Hydra's grammar does not know, a value that it cannot express, an undefined variable."""
    if "arguments" not in top.entries:
        raise UsageError("job.missing", top.place, key="arguments")
    section = top.section("arguments", None)
    verbatim = top.get("quoting", one_of(("hydra", "verbatim"))) == "verbatim"
    return tuple(_group(section, name, verbatim) for name in section.entries)


def _group(section: Section, name: str, verbatim: bool) -> Group:
    if _GROUP.fullmatch(name) is None:
        raise UsageError("job.group_name", section.at(name), name=name)
    words = section.entries[name].node
    if isinstance(words, Sequence):
        return Group(name, tuple(_word(item, section, name) for item in words.items))
    group = section.section(name, None)
    return Group(name, tuple(_argument(group, key, verbatim) for key in group.entries))


def _word(node: Node, section: Section, group: str) -> Argument:
    place = Place(section.place.file, node.line, section.name(group))
    resolved = section.scope.resolve(node, section.name(group), verbatim=True)
    if isinstance(node, Scalar) and not is_text(node):
        raise UsageError("job.want_text", place, key=place.key, value=visible(node.text))
    word = text_of(resolved.value)
    key, equals, _ = word.partition("=")
    shown = replace(place, key=key[:_KEY_SHOWN_CHARS]) if equals else place  # without one, it may be a secret
    check_word_nesting(word, shown)
    return Argument.of_word(word, shown)


def _argument(group: Section, key: str, verbatim: bool) -> Argument:
    entry = group.entries[key]
    place = Place(group.place.file, entry.line, key)
    if KEY.fullmatch(key) is None and key not in OPTIONS:
        raise UsageError("arguments.key", place, key=key)
    check_key_nesting(key, place)
    value = _value(entry.node, key, group.scope, place, verbatim)
    if key in OPTIONS and not isinstance(value, (str, RawText)):
        raise UsageError("arguments.option", place, key=key)
    return Argument(key, value, place)


def _value(node: Node, key: str, scope: Scope, place: Place, verbatim: bool = False) -> Value:
    if isinstance(node, Scalar) or (isinstance(node, Mapping) and TEXT_KEY in node.entries):
        value = scope.resolve(node, key, verbatim=verbatim).value
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
