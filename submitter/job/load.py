"""A job file, found by name or path, with its variables filled in → `Job`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import jobs
from submitter.errors import Place, UsageError
from submitter.job import sections
from submitter.job.declared import declared, resolve_variables
from submitter.job.document import Mapping as MappingNode
from submitter.job.document import parse
from submitter.job.fields import Section, check_known, read_text
from submitter.job.groups import groups
from submitter.job.imported import check_imported
from submitter.job.model import Job
from submitter.job.nearest import nearest
from submitter.job.nesting import check_word_nesting
from submitter.job.source import read_text as read_file
from submitter.job.variables import Scope, check_text

_PLACED = ("variables", "constants", "env", "arguments", "secrets")

_KEY_SHOWN_CHARS = 200
"""Longer than any key of verl."""


def load_job(
    name_or_path: str, *, environ: Mapping[str, str], sets: Sequence[str] = (), extra: Sequence[str] = ()
) -> Job:
    """The job called `name_or_path`, or the one in that file, with everything resolved.

    `sets`: "NAME=VALUE" each, as given to `--set`; `extra`: trainer arguments, appended unread.
    UsageError, with file and line: whatever is wrong with the name, the file, its content or a variable.
    """
    path, shown = _find(name_or_path)
    for option, given in (("--set", sets), ("--", extra)):
        for text in given:
            name, equals, _ = text.partition("=")
            check_text(text, Place(key=f"{option} {name}" if equals else option))  # never a value: it may be a secret
    for word in extra:
        check_word_nesting(word, Place(key=f"-- {word.partition('=')[0][:_KEY_SHOWN_CHARS]}"))
    return _of_text(read_file(path, shown), path, shown, environ, sets, extra)


def load_text(text: str, shown: str, *, environ: Mapping[str, str]) -> Job:
    """The job in `text`, which is in no file yet; `shown` names it in errors. UsageError: as `load_job`."""
    return _of_text(text, Path(), shown, environ, (), ())


def _of_text(
    text: str, path: Path, shown: str, environ: Mapping[str, str], sets: Sequence[str], extra: Sequence[str]
) -> Job:
    root = parse(text, shown)
    if not isinstance(root, MappingNode):
        raise UsageError("job.not_a_mapping", Place(shown, root.line))
    return _job(root, path, shown, environ, sets, extra)


def _job(
    root: MappingNode, path: Path, shown: str, environ: Mapping[str, str], sets: Sequence[str], extra: Sequence[str]
) -> Job:
    place = Place(shown, root.line)
    check_known(root, sections.SECTIONS, place)
    scope = Scope(shown, environ, as_bash="imported" in root.entries)
    top = Section(root.entries, "", place, scope)
    variables = resolve_variables(declared(top), scope, environ, sets)
    check_imported(top, variables, environ)
    cluster = sections.cluster(top)
    return Job(
        name=top.need("name", sections.read_name),
        summary=top.get("summary", read_text) or "",
        stack=top.get("stack", sections.read_stack),
        file=shown,
        cluster=cluster,
        variables=variables,
        flags=sections.flags(top),
        trainer=sections.trainer(top, cluster.npus_per_node),
        groups=groups(top),
        extra_arguments=tuple(extra),
        recovery=sections.recovery(top),
        runtime_env=sections.runtime_env(top, str(path.parent)),
        secrets=sections.secrets(top),
        places=dict(_places(root, "", shown)),
    )


def _places(node: MappingNode, path: str, shown: str) -> Iterator[tuple[str, Place]]:
    """Of every key, but not of those below a section whose entries carry their place themselves."""
    for name, entry in node.entries.items():
        key = f"{path}.{name}" if path else name
        yield key, Place(shown, entry.line, key)
        if isinstance(entry.node, MappingNode) and key not in _PLACED:
            yield from _places(entry.node, key, shown)


def _find(name_or_path: str) -> tuple[Path, str]:
    """The file, and how people see it: a shipped job by its file name, any other by the path given."""
    shipped = jobs.shipped()
    try:
        path = jobs.find(name_or_path)
    except FileNotFoundError:
        names = [path.stem for path in shipped]
        name = name_or_path or '""'
        near = nearest(Path(name_or_path).stem, names)
        raise UsageError("job.not_found", None, name=name, nearest=near) from None
    return path, path.name if path in shipped else name_or_path
