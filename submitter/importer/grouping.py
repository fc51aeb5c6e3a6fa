"""The launched command's words → argument groups: the script's arrays; words typed beside them by their subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, groupby

from submitter.importer.model import Argument, Lit, Template
from submitter.importer.shell.template import text_of
from submitter.importer.spelling import is_plain_text
from submitter.job.hydra_grammar import KEY, OPTIONS

MAX_RUNS = 12
"""Of what was typed in the command itself: with more of them the subjects are too mixed to be groups."""
MAX_KEY_CHARS = 200
"""YAML holds 1024; whatever is longer than verl's longest by far is no key to be read."""
MAX_GROUPS = 100
MAX_PARTS = 3
"""Of one array whose keys come again."""
WHOLE = "arguments"
CONFIG = "config"
"""Hydra's options before an array."""
OPTION_WORDS = "options"

_ENDING = re.compile(
    r"(?:_(?:ARGS?|ARGUMENTS?|CONFIGS?|PARAMS?|PARAMETERS?|OPTS?|OPTIONS?|OVERRIDES?))+$", re.IGNORECASE
)
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME = 44
"""A job file takes 48; `_2` fits behind."""
_SUBJECTS = (
    ("data.", "data"),
    ("algorithm.", "algorithm"),
    ("actor_rollout_ref.model.", "model"),
    ("actor_rollout_ref.rollout.", "rollout"),
    ("actor_rollout_ref.actor.", "actor"),
    ("actor_rollout_ref.ref.", "ref"),
    ("model.", "model"),
    ("rollout.", "rollout"),
    ("critic.", "critic"),
    ("reward", "reward"),
    ("custom_reward_function.", "reward"),
    ("trainer.", "trainer"),
)


@dataclass(frozen=True)
class Word:
    argument: Argument
    key: str | None
    """None: it is no override, and stands in a list of words."""
    value: Template | None = None
    """None: a bare deletion (`~key`), or no override."""


@dataclass(frozen=True)
class WordGroup:
    name: str
    is_mapping: bool
    words: tuple[Word, ...]


def grouped(arguments: Sequence[Argument]) -> tuple[WordGroup, ...]:
    """In the order of the command. A mapping where a job file's keys can say the same, else a list of words."""
    names = _Names()
    only_options = True
    groups: list[WordGroup] = []
    runs = _runs([_word(argument) for argument in arguments])
    for subject, words in ((subject, part) for subject, run in runs for part in _without_repeats(run)):
        is_mapping = _maps(words, only_options)
        # Options of a mapping are passed first of all, wherever the mapping stands.
        only_options = only_options and is_mapping and all(word.key in OPTIONS for word in words)
        groups.append(WordGroup(names.next(subject), is_mapping, words))
    return tuple(groups)


def _word(argument: Argument) -> Word:
    template = argument.value.template
    typed = 0
    while typed < len(template) and isinstance(template[typed], Lit):
        typed += 1
    key, equals, rest = text_of(template[:typed]).partition("=")
    if not _is_key(key):
        return Word(argument, None)
    if equals:
        return _option(Word(argument, key, (Lit(rest), *template[typed:])))
    deletes = key.startswith("~") and typed == len(template)
    return Word(argument, key if deletes else None)


def _option(word: Word) -> Word:
    """An option's value has to be text, also what a reference stands for."""
    value = word.value or ()
    fits = word.key not in OPTIONS or all(isinstance(part, Lit) for part in value) or is_plain_text(text_of(value))
    return word if fits else Word(word.argument, None)


def _is_key(key: str) -> bool:
    return len(key) <= MAX_KEY_CHARS and (KEY.fullmatch(key) is not None or key in OPTIONS)


def _maps(words: Sequence[Word], only_options: bool) -> bool:
    keys = [word.key for word in words]
    if None in keys or len(set(keys)) < len(keys):
        return False
    behind = [key in OPTIONS for key in keys]
    return not any(behind) or (only_options and behind == sorted(behind, reverse=True))


def _without_repeats(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """A key that comes again begins another group: a mapping has it once. Where that would be many, one list."""
    parts: list[list[Word]] = [[]]
    seen: set[str] = set()
    for word in words:
        if word.key in seen and word.key not in OPTIONS:
            parts.append([])
            seen.clear()
        seen.update([word.key] if word.key is not None else [])
        parts[-1].append(word)
    return [tuple(part) for part in parts] if len(parts) <= MAX_PARTS else [words]


def _runs(words: Sequence[Word]) -> Iterator[tuple[str, tuple[Word, ...]]]:
    """What came from one array, or is about one subject, and stands together."""
    subjects = _subjects(words)
    runs = [kind for (kind, _), _ in groupby(subjects)]
    if runs.count("typed") > MAX_RUNS:
        subjects = [("typed", WHOLE) if kind == "typed" else (kind, name) for kind, name in subjects]
    if len(runs) > MAX_GROUPS:
        subjects = [("typed", WHOLE)] * len(subjects)
    at = 0
    for (_, name), run in groupby(subjects):
        size = len(list(run))
        yield name, tuple(words[at : at + size])
        at += size


def _subjects(words: Sequence[Word]) -> list[tuple[str, str]]:
    """("array", its name) or ("typed", the subject); one of Hydra's options goes with what stands behind it."""
    found: list[tuple[str, str]] = []
    behind = ("typed", CONFIG)
    for word in reversed(words):
        behind = _subject(word) or (behind if behind[0] == "typed" else ("typed", CONFIG))
        found.append(behind)
    return found[::-1]


def _subject(word: Word) -> tuple[str, str] | None:
    array = word.argument.group
    if array is not None:
        return "array", array
    if word.key is None:
        return "typed", OPTION_WORDS
    if word.key in OPTIONS:
        return None
    bare = word.key.lstrip("+~")
    return "typed", next((subject for start, subject in _SUBJECTS if bare.startswith(start)), "extra")


class _Names:
    """Each group's own: the array's in small letters; one that comes again is numbered."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def next(self, name: str) -> str:
        plain = _ENDING.sub("", name) or name
        plain = _NOT_IN_NAME.sub("_", plain.lower()).lstrip("_-0123456789")[:_MAX_NAME].rstrip("_-") or WHOLE
        numbered = (f"{plain}_{number}" for number in count(2))
        free = next(one for one in chain([plain], numbered) if one not in self._given)
        self._given.add(free)
        return free
