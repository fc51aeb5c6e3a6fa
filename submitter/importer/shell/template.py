"""Templates: joining them, and asking what they hang on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from submitter.importer.model import Arith, Defined, Definition, Input, Lit, Part, Template

EMPTY: Template = ()


def literal(text: str) -> Template:
    return (Lit(text),) if text else EMPTY


def text_of(template: Template) -> str:
    return "".join(part.text for part in template)


def joined(templates: Iterable[Template]) -> Template:
    """One after another; neighbouring literals become one."""
    parts: list[Part] = []
    for template in templates:
        for part in template:
            if isinstance(part, Lit) and parts and isinstance(parts[-1], Lit):
                parts[-1] = Lit(parts[-1].text + part.text)
            elif part != Lit(""):
                parts.append(part)
    return tuple(parts)


def lines_of(text: str, *, ends: bool = False) -> list[str]:
    """At line feeds alone: str.splitlines knows ten more ends."""
    lines = text.split("\n")
    last = lines.pop()
    whole = [f"{line}\n" if ends else line for line in lines]
    return [*whole, last] if last else whole


def is_literal(template: Template) -> bool:
    return all(isinstance(part, Lit) for part in template)


def leaves(template: Template) -> Iterator[Input | Definition]:
    """Every input and every definition that the text hangs on, through definitions and defaults; each once."""
    waiting = list(reversed(template))
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Lit) or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Input):
            yield part
            waiting += reversed(part.default or ())
        elif isinstance(part, Arith):
            waiting += reversed(part.parts)
        elif id(part.definition) not in seen:
            seen.add(id(part.definition))
            yield part.definition
            waiting += reversed(part.definition.template)


def inputs(template: Template) -> Iterator[Input]:
    return (leaf for leaf in leaves(template) if isinstance(leaf, Input))


def never_empty(template: Template) -> bool:
    """Whatever the inputs are: an empty one takes its default."""
    return any(_never_empty(part) for part in template)


def _never_empty(part: Part) -> bool:
    if isinstance(part, Lit):
        return part.text != ""
    if isinstance(part, Arith):
        return True
    if isinstance(part, Defined):
        return never_empty(part.definition.template)
    return part.default is not None and never_empty(part.default)
