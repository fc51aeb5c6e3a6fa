"""Templates from outside: their parts however deep, the definitions and inputs behind them, who keeps a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from submitter.importer.model import Arith, Defined, Definition, Input, Lit, Part, Reading, Template
from submitter.importer.shell.template import text_of
from submitter.job.variables import NAME


def parts_of(template: Template) -> Iterator[Part]:
    """All parts in the order of the text, each after those in it: its default's, but not those of definitions."""
    waiting = [(part, False) for part in reversed(template)]
    while waiting:
        part, seen = waiting.pop()
        if seen or not _inner(part):
            yield part
        else:
            waiting.append((part, True))
            waiting += [(inner, False) for inner in reversed(_inner(part))]


def definitions_of(templates: Iterable[Template]) -> list[Definition]:
    """All that the templates refer to, each after those that it refers to itself; no recursion, chains are long."""
    done: dict[Definition, None] = {}
    waiting = [definition for template in templates for definition in _referred(template)]
    while waiting:
        inner = [definition for definition in _referred(waiting[-1].template) if definition not in done]
        if inner:
            waiting += inner
        else:
            done[waiting.pop()] = None
    return list(done)


def inputs_of(templates: Iterable[Template]) -> dict[str, list[Input]]:
    """By name, in the order of appearance."""
    found: dict[str, list[Input]] = {}
    for template in templates:
        for part in parts_of(template):
            if isinstance(part, Input):
                found.setdefault(part.name, []).append(part)
    return found


def uses_of(templates: Sequence[Template]) -> Counter[Definition]:
    """How often each definition is referred to, by the templates and by other definitions."""
    everything = [*templates, *(definition.template for definition in definitions_of(templates))]
    return Counter(definition for template in everything for definition in _referred(template))


def frozen_inputs(reading: Reading, inputs: Mapping[str, Sequence[Input]]) -> dict[str, str]:
    """Those that no variable can stand for, with their text: the script took a branch, or reads one in two ways.

    One name with several texts has nothing in the environment: each is a default's.
    """
    frozen: dict[str, str] = {}
    for name, decided in reading.decided.items():
        texts = {decided.text or "", *(part.text for part in inputs.get(name, ()))}
        frozen[name] = texts.pop() if len(texts) == 1 else ""
    for name, parts in inputs.items():
        if name not in frozen and len({_shape(part.default or ()) for part in parts}) > 1:
            frozen[name] = _environment_text(parts)
    return frozen


def keepers(definitions: Iterable[Definition], fixed: Iterable[Definition], taken: Iterable[str]) -> set[Definition]:
    """The definitions that become constants: of one name the last, and none that only passes another value on."""
    names, last = set(taken), {one.name: one for one in sorted(definitions, key=lambda one: one.line)}
    kept = {one for name, one in last.items() if name not in names and NAME.fullmatch(name) and not is_alias(one)}
    return kept.difference(fixed)


def is_alias(definition: Definition) -> bool:
    parts = _worded(definition.template)
    return len(parts) == 1 and isinstance(parts[0], (Input, Defined))


def alias_of(definition: Definition) -> str | None:
    """The input that the definition passes on."""
    parts = _worded(definition.template)
    return parts[0].name if len(parts) == 1 and isinstance(parts[0], Input) else None


def _inner(part: Part) -> Template:
    if isinstance(part, Input):
        return part.default or ()
    return part.parts if isinstance(part, Arith) else ()


def _referred(template: Template) -> list[Definition]:
    return [part.definition for part in parts_of(template) if isinstance(part, Defined)]


def _worded(template: Template) -> Template:
    return tuple(part for part in template if not (isinstance(part, Lit) and not part.text))


def _shape(template: Template) -> tuple[object, ...]:
    """Equal for templates that mean the same whatever the environment holds; `$A` and `${A:-}` are."""
    shape: list[object] = []
    for part in _worded(template):
        if isinstance(part, Lit) and shape and isinstance(shape[-1], str):
            shape[-1] += part.text
        else:
            shape.append(_part_shape(part))
    return tuple(shape)


def _part_shape(part: Part) -> object:
    if isinstance(part, Lit):
        return part.text
    if isinstance(part, Input):
        return ("input", part.name, _shape(part.default or ()))
    if isinstance(part, Arith):
        return ("arith", _shape(part.parts))
    definition = part.definition
    while is_alias(definition) and isinstance(inner := _worded(definition.template)[0], Defined):
        definition = inner.definition
    return _part_shape(_worded(definition.template)[0]) if is_alias(definition) else ("defined", id(definition))


def _environment_text(parts: Sequence[Input]) -> str:
    """What the environment holds for an input that is read with different defaults; `''`: nothing.

    Unknown where all texts are the default's and equal: then either gives this text.
    """
    for part in parts:
        if part.text != text_of(part.default or ()):
            return part.text
    texts = {part.text for part in parts}
    return texts.pop() if len(texts) == 1 else ""
