"""Values that look like secrets: a submission shows everything in it to whoever can reach Ray's dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from submitter.checks.case import Case
from submitter.checks.finding import Finding
from submitter.checks.rule import Rule
from submitter.checks.spelled import spelled
from submitter.errors import Place
from submitter.gang.secret_like import MASK, holds_secret, is_key_shaped, redacted
from submitter.job.model import Job

Text = tuple[str, str, Place]
"""(name, text, place) of something that travels or is printed."""


def secret_value(case: Case) -> list[Finding]:
    """A literal that looks like a key, a token or a password.

    Source: Ray 2.60 keeps env_vars, entrypoint and metadata of a job in plain text and gives them to any client that
    is no browser (ray/dashboard/runtime_env_redaction.py).
    """
    job = case.job
    found = [(name, place) for name, text, place in _texts(job) if holds_secret(name, text)]
    found += [("", place) for text, place in _names(job) if is_key_shaped(text)]
    return [
        Finding("NR431", "error", _masked(place), value=MASK, values={"name": redacted(name or place.key or "")})
        for name, place in found
    ]


def secret_and_flag(case: Case) -> list[Finding]:
    """Source: gang/secrets.py resolves references into the environment that flags are in already."""
    job = case.job
    flags = {flag.name: flag for flag in job.flags}
    return [
        Finding("NR432", "error", flags[secret.name].place, values={"name": secret.name})
        for secret in job.secrets
        if secret.name in flags
    ]


RULES = (Rule("NR431", ("error",), secret_value, forcible=False), Rule("NR432", ("error",), secret_and_flag))


def _texts(job: Job) -> Iterator[Text]:
    for flag in job.flags:
        yield flag.name, flag.value, flag.place
    for variable in job.variables.values():
        yield variable.name, variable.text, variable.place
    for argument in spelled(job):
        # A word without "=" has no value of its own, but may be a key that was pasted by mistake.
        yield argument.key if argument.text else "", argument.text or argument.word, argument.place
    for row in _rows(job):
        for (name, place), (value, _) in pairwise(row):
            if not ("=" in name or value.startswith("-")):
                yield name.lstrip("-"), value, place
    for label, value in job.cluster.labels.items():
        yield label, value, job.place(f"cluster.labels.{label}")
    for requirement in job.runtime_env.pip:
        yield "", requirement, job.place("runtime_env.pip")
    for secret in job.secrets:  # a value where a reference belongs
        if secret.source == "file":
            yield "", secret.target, secret.place
    yield "", job.name, job.place("name")


def _rows(job: Job) -> Iterator[list[tuple[str, Place]]]:
    """Words that stand one after the other, so that one may be the value of the one before it."""
    for group in job.groups:
        yield [(argument.word, argument.place) for argument in group.arguments if argument.word is not None]
    yield [(word, Place(key=f"-- {word}")) for word in job.extra_arguments]


def _names(job: Job) -> Iterator[tuple[str, Place]]:
    """(name, place) of the variables that secrets are given to and taken from."""
    for secret in job.secrets:
        hidden = replace(secret.place, key=f"secrets.{MASK}")
        yield secret.name, hidden
        if secret.source == "env":
            yield secret.target, hidden if is_key_shaped(secret.name) else secret.place


def _masked(place: Place) -> Place:
    return Place(place.file, place.line, None if place.key is None else redacted(place.key), place.node)
