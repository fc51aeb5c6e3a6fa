"""Bash's launch beside the import's, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from submitter.texts import Phrase

_ALIGNED_LIMIT = 2_000
"""Arguments: beyond, finding what was put in between takes seconds, and they are compared by their position alone."""


@dataclass(frozen=True)
class Difference:
    """`bash` is None: the import has it in addition; `imported` is None: it lacks it."""

    bash: str | None
    imported: str | None
    position: int | None = None
    """Of an argument, from 1: bash's where it has it, otherwise the import's."""
    name: str | None = None
    """Of an environment variable."""

    def told(self) -> Phrase:
        values = {"bash": self.bash, "imported": self.imported, "what": self.position or self.name}
        return Phrase(_TOLD[self.name is not None, self.bash is None, self.imported is None], values)


_TOLD = {
    (False, False, False): "importer.verify_argument",
    (False, False, True): "importer.verify_argument_missing",
    (False, True, False): "importer.verify_argument_extra",
    (True, False, False): "importer.verify_variable",
    (True, False, True): "importer.verify_variable_missing",
    (True, True, False): "importer.verify_variable_extra",
}


def compare(
    bash: Sequence[str], imported: Sequence[str], bash_environ: Mapping[str, str], imported_environ: Mapping[str, str]
) -> tuple[Difference, ...]:
    """Arguments in their order, then the environment by name. Nothing: they are the same."""
    return (*_arguments(bash, imported), *_environment(bash_environ, imported_environ))


def _arguments(bash: Sequence[str], imported: Sequence[str]) -> Iterator[Difference]:
    for bash_at, bash_end, imported_at, imported_end in _unequal(bash, imported):
        ours, theirs = imported[imported_at:imported_end], bash[bash_at:bash_end]
        for offset in range(max(len(ours), len(theirs))):
            there, here = _at(theirs, offset), _at(ours, offset)
            if there != here:
                begin = imported_at if there is None else bash_at
                yield Difference(there, here, position=begin + offset + 1)


def _unequal(bash: Sequence[str], imported: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    if bash == imported:
        return
    if max(len(bash), len(imported)) > _ALIGNED_LIMIT:
        yield 0, len(bash), 0, len(imported)
        return
    for tag, *ends in SequenceMatcher(None, bash, imported, autojunk=False).get_opcodes():
        if tag != "equal":
            yield ends[0], ends[1], ends[2], ends[3]


def _at(items: Sequence[str], index: int) -> str | None:
    return items[index] if index < len(items) else None


def _environment(bash: Mapping[str, str], imported: Mapping[str, str]) -> Iterator[Difference]:
    for name in sorted({*bash, *imported}):
        if bash.get(name) != imported.get(name):
            yield Difference(bash.get(name), imported.get(name), name=name)
