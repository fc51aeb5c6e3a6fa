"""Values that look like secrets: a submission shows everything in it to whoever can reach Ray's dashboard."""

from __future__ import annotations

from collections.abc import Iterator

from submitter.checks.finding import Finding
from submitter.checks.rule import Rule
from submitter.checks.secret_like import MASK, holds_secret, redacted
from submitter.checks.spelled import spelled
from submitter.errors import Place
from submitter.job.model import Job

Text = tuple[str, str, Place]
"""(name, text, place) of something that travels or is printed."""


def secret_value(job: Job) -> list[Finding]:
    """A literal that looks like a key, a token or a password.

    Source: Ray 2.60 keeps env_vars, entrypoint and metadata of a job in plain text and gives them to any client that
    is no browser (ray/dashboard/runtime_env_redaction.py).
    """
    return [
        Finding("NR431", "error", _masked(place), value=MASK, values={"name": redacted(name or place.key or "")})
        for name, text, place in _texts(job)
        if holds_secret(name, text)
    ]


def secret_and_flag(job: Job) -> list[Finding]:
    """One name, a reference and a value: which of them a process sees would depend on the order of start."""
    flags = {flag.name: flag for flag in job.flags}
    return [
        Finding("NR432", "error", flags[secret.name].place, values={"name": secret.name})
        for secret in job.secrets
        if secret.name in flags
    ]


RULES = (Rule("NR431", secret_value), Rule("NR432", secret_and_flag))


def _texts(job: Job) -> Iterator[Text]:
    for flag in job.flags:
        yield flag.name, flag.value, flag.place
    for variable in job.variables.values():
        yield variable.name, variable.text, variable.place
    for argument in spelled(job):
        # A word without "=" has no value of its own, but may be a key that was pasted by mistake.
        yield argument.key if argument.text else "", argument.text or argument.word, argument.place
    for label, value in job.cluster.labels.items():
        yield label, value, Place(file=job.file, key=f"cluster.labels.{label}")
    for requirement in job.runtime_env.pip:
        yield "", requirement, Place(file=job.file, key="runtime_env.pip")
    for secret in job.secrets:  # a value where a reference belongs
        yield "", secret.target, secret.place
    yield "", job.name, Place(file=job.file, key="name")


def _masked(place: Place) -> Place:
    return Place(place.file, place.line, None if place.key is None else redacted(place.key), place.node)
