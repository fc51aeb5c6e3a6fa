"""The trainer's arguments as text, in the order in which they are passed, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from submitter.arguments.assemble import argument_text, own_arguments
from submitter.errors import Place
from submitter.job.model import Job

_PREFIXES = "+~"
"""Hydra's: add, force-add, delete."""


@dataclass(frozen=True)
class Spelled:
    key: str
    """Without Hydra's prefix."""
    text: str
    """The value as it is passed on; empty for a bare deletion."""
    word: str
    """The whole argument."""
    place: Place


def spelled(job: Job) -> Iterator[Spelled]:
    """The groups' arguments, then what stood after `--`."""
    for argument in own_arguments(job):
        yield _spelled(argument_text(argument), argument.place)
    for word in job.extra_arguments:
        key = word.partition("=")[0]
        yield _spelled(word, Place(key=f"-- {key}" if "=" in word else "--"))


def last_text(job: Job, key: str) -> str | None:
    """The value that Hydra would take for `key`: of several, the last one counts."""
    texts = [argument.text for argument in spelled(job) if argument.key == key]
    return texts[-1] if texts else None


def _spelled(word: str, place: Place) -> Spelled:
    key, _, text = word.partition("=")
    return Spelled(key.lstrip(_PREFIXES), text, word, place)
