"""The names that a job file gives a value, and where the value comes from.

| section | lowest first |
|---|---|
| `variables` | the file, an environment variable of the same name, `--set` |
| `constants` | the file, `--set` |
| `imported.decided` | the file; what says otherwise is refused |

An empty environment variable counts as unset, as with bash's `:-`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from submitter.errors import Place, UsageError
from submitter.job.document import Node, Scalar
from submitter.job.fields import Section
from submitter.job.imported import KEYS, decided
from submitter.job.model import RawText, Variable
from submitter.job.nearest import NONE, nearest
from submitter.job.scalars import Resolved, text_of, visible
from submitter.job.variables import NAME, Scope, check_references, check_text, environment, raw_text

VARIABLES, CONSTANTS, DECIDED = "variables", "constants", "imported.decided"


@dataclass(frozen=True)
class Declared:
    node: Node
    section: str
    place: Place


def declared(top: Section) -> dict[str, Declared]:
    """UsageError: a name that stands in two sections."""
    names: dict[str, Declared] = {}
    imported = top.section("imported", KEYS)
    for section in (top.section(VARIABLES, None), top.section(CONSTANTS, None), imported.section("decided", None)):
        for name, entry in section.entries.items():
            one = Declared(entry.node, section.path, section.at(name))
            if first := names.get(name):
                line = first.place.line
                raise UsageError("job.declared_twice", one.place, name=name, section=first.section, line=line)
            names[name] = one
    return names


def resolve_variables(
    names: Mapping[str, Declared], scope: Scope, environ: Mapping[str, str], sets: Sequence[str]
) -> dict[str, Variable]:
    """All of them with their values, which `scope` then has too.

    UsageError: undefined or circular references, an undeclared `--set`, a value that the import does not fit.
    """
    given = _given(sets, names)
    variables: dict[str, Variable] = {}
    for name in _in_order(names):
        value, origin = _value(name, names[name], scope, given, environ)
        scope.add(name, value)
        variables[name] = Variable(name, text_of(value.value), origin, value.place)
    return {name: variables[name] for name in names}


def _given(sets: Sequence[str], names: Iterable[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for item in sets:
        name, equals, value = item.partition("=")
        if not equals:  # whatever was given may be a secret
            raise UsageError("job.set_form", Place(key="--set"))
        if name not in names:
            raise _undeclared(name, names)
        given[name] = value
    return given


def _undeclared(name: str, names: Iterable[str]) -> UsageError:
    near = nearest(name, names)
    if near == NONE:
        return UsageError("job.set_undeclared_alone", _set(name), name=visible(name))
    return UsageError("job.set_undeclared", _set(name), name=name, nearest=near)


def _in_order(names: Mapping[str, Declared]) -> list[str]:
    """The names, each after those that its value in the file refers to (whether or not that value is overridden)."""
    from graphlib import CycleError, TopologicalSorter

    graph = {name: _references(name, one, names) for name, one in names.items()}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle: list[str] = error.args[1]
    # graphlib lists each name before the one that refers to it.
    raise UsageError("job.cycle", names[cycle[0]].place, cycle=" -> ".join(reversed(cycle)))


def _references(name: str, one: Declared, names: Iterable[str]) -> set[str]:
    if NAME.fullmatch(name) is None:
        raise UsageError("job.variable_name", one.place, name=name)
    if one.section == DECIDED:
        return set()
    if isinstance(one.node, Scalar):
        return check_references(one.node.text, names, replace(one.place, line=one.node.line))
    if raw_text(one.node, one.place) is None:
        raise UsageError("job.not_a_scalar", one.place, key=one.place.key)
    return set()


def _value(
    name: str, one: Declared, scope: Scope, given: Mapping[str, str], environ: Mapping[str, str]
) -> tuple[Resolved, Literal["file", "environment", "set"]]:
    if one.section == DECIDED:
        return decided(name, one.node, one.place, given, environ), "file"
    if name in given:
        return Resolved(RawText(given[name]), given[name], _set(name)), "set"
    if one.section == VARIABLES and (text := environ.get(name, "")):
        check_text(text, environment(name))
        return Resolved(RawText(text), text, environment(name)), "environment"
    return scope.resolve(one.node, f"{one.section}.{name}"), "file"


def _set(name: str) -> Place:
    """Without the value: it may be a secret, and places are printed."""
    return Place(key=f"--set {name}")
