"""A reading and one of its launches → the text of a job file that runs the same command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from submitter.errors import Place, UsageError
from submitter.gang.secret_like import holds_secret
from submitter.importer import facts
from submitter.importer.grouping import Word, WordGroup, grouped
from submitter.importer.layout import Lines, above, at_the_top, entry, item, listed
from submitter.importer.model import Decided, Defined, Exported, Launch, Lit, Note, Reading, Template, Value
from submitter.importer.names import uses_of
from submitter.importer.refusals import check_document, check_launch
from submitter.importer.secrecy import Secrecy, is_secret_flag, source_of
from submitter.importer.shell.template import text_of
from submitter.importer.spelling import FLAG, TEXT, VALUE, VARIABLE, WORD, key, scalar
from submitter.importer.structure import Named, Names, Pieces, Source, Structure, reached
from submitter.job.hydra_grammar import OPTIONS
from submitter.texts import text

_NOT_IN_NAME = re.compile(r"[^a-z0-9_-]+")
_MAX_NAME_CHARS = 48
_TORCHRUN_OPTIONS = frozenset({"nnodes", "nproc_per_node", "node_rank", "master_addr", "master_port"})
"""What a job file says itself; `node_rank` is each node's own."""


@dataclass(frozen=True)
class JobFile:
    text: str
    notes: tuple[Note, ...]


def job_name(script: str) -> str:
    """A job's name from a script's file name."""
    stem = script.rpartition("/")[2].lower().removesuffix(".sh").removesuffix(".bash")
    return _NOT_IN_NAME.sub("_", stem).lstrip("_-")[:_MAX_NAME_CHARS].rstrip("_-") or "imported"


def job_file(reading: Reading, launch: Launch, *, name: str, language: str = "en") -> JobFile:
    """UsageError, with the script's line: what no job file can say."""
    try:
        written = _Writer(reading, launch, language).whole(job_name(name))
    except RecursionError:
        raise UsageError("importer.too_deep", Place(reading.file)) from None
    check_document(written.text, launch)
    return written


class _Writer:
    def __init__(self, reading: Reading, launch: Launch, language: str) -> None:
        self._reading = reading
        self._launch = launch
        self._language = language
        self._exported = _own_values(launch)
        self._groups = grouped(launch.arguments)
        self._words = [word for group in self._groups for word in group.words]
        check_launch(launch, self._exported, self._words)
        self._structure = Structure(reading, list(_sources(launch, self._exported)))
        self._secrecy = Secrecy(launch)

    def whole(self, name: str) -> JobFile:
        # Values first: which names they need is known only then.
        cluster, trainer, arguments = self._cluster(), self._trainer(), self._arguments()
        env, flags = self._env()
        runtime_env = self._runtime_env()
        names = self._structure.names()
        sections = (
            at_the_top(self._reading.comments),
            self._head(name),
            cluster,
            self._named("variables", names.variables, names, flags),
            self._named("constants", names.constants, names, flags),
            self._imported(names),
            env,
            self._secrets(),
            trainer,
            arguments,
            runtime_env,
        )
        for one in names.secret:
            self._secrecy.withheld("importer_write.secret_variable", one.name, one.lines[0] if one.lines else None)
        notes = (*self._secrecy.notes, *self._other_options())
        return JobFile("\n\n".join("\n".join(lines) for lines in sections if lines) + "\n", notes)

    def _head(self, name: str) -> Lines:
        summary = facts.summary(self._launch, self._words, name, self._language)
        said = self._say("importer_write.quoting")
        return [
            *entry(0, "name", scalar((name,), TEXT)),
            *entry(0, "summary", scalar((summary,), TEXT, 9)),
            *entry(0, "quoting", "verbatim", note=said),
        ]

    def _cluster(self) -> Lines:
        size = facts.size(self._launch, self._words)
        unsaid = self._say("importer_write.unsaid")
        return [
            "cluster:",
            *self._count("nodes", size.nodes, facts.DEFAULT_NODES, unsaid),
            *self._count("npus_per_node", size.npus, facts.DEFAULT_NPUS, unsaid),
        ]

    def _count(self, name: str, template: Template | None, default: int, unsaid: str) -> Lines:
        if template is None:
            return entry(2, name, str(default), note=unsaid)
        return entry(2, name, scalar(self._lone(template), VARIABLE))

    def _lone(self, template: Template) -> Pieces:
        """A reference inside a longer text is no number."""
        pieces = self._structure.value(template)
        return pieces if len(pieces) == 1 else self._structure.value((Lit(text_of(template)),))

    def _named(self, section: str, all_named: Sequence[Named], names: Names, flags: Sequence[Pieces]) -> Lines:
        if not all_named:
            return []
        in_flags = reached(flags, {one.name: one for one in (*names.variables, *names.constants)})
        lines = [*above([self._say(f"importer_write.{section}")]), f"{section}:"]
        for one in all_named:
            pieces = self._secrecy.value("importer_write.secret_variable", one.name, one.pieces, one.line)
            spelled = scalar(pieces, FLAG if one.name in in_flags else VARIABLE, len(one.name) + 4)
            lines += [""] if one.comments and lines[-1] != f"{section}:" else []
            lines += entry(2, key(one.name), spelled, one.comments, one.note)
        return lines

    def _imported(self, names: Names) -> Lines:
        outside = [*(one.name for one in names.variables), *names.predefined]
        required = sorted(self._reading.required.intersection(one.name for one in names.variables))
        unquoted = sorted(self._reading.unquoted.intersection(outside))
        elsewhere = self._launch.file if self._launch.file != self._reading.file else None
        return [
            "imported:",
            *entry(2, "script", scalar((self._reading.file,), TEXT, 10)),
            *entry(2, "launch_line", str(self._launch.line), note=elsewhere),
            *self._decided(names.decided),
            *(listed(2, "required", [key(name) for name in required]) if required else []),
            *(listed(2, "unquoted", [key(name) for name in unquoted]) if unquoted else []),
        ]

    def _decided(self, decided: Sequence[Decided]) -> Lines:
        if not decided:
            return []
        lines = [*above([self._say("importer_write.decided")], 2), "  decided:"]
        for one in decided:
            spelled = "null" if one.text is None else scalar((one.text,), WORD, len(one.name) + 6)
            where = ", ".join(map(str, one.lines[:8]))
            note = self._say("importer_write.lines", lines=where) if where else None
            lines += entry(4, key(one.name), spelled, note=note)
        return lines

    def _env(self) -> tuple[Lines, list[Pieces]]:
        """With the values, which say what the flags hang on."""
        lines: Lines = []
        values: list[Pieces] = []
        for one in self._exported:
            if not is_secret_flag(one):
                values.append(self._structure.value(one.value.template))
                lines += entry(2, key(one.name), scalar(values[-1], FLAG, len(one.name) + 4), one.comments)
        return ["env:", *lines] if lines else [], values

    def _secrets(self) -> Lines:
        lines: Lines = []
        for one in filter(is_secret_flag, self._exported):
            self._secrecy.withheld("importer_write.secret_flag", one.name, one.line)
            lines += entry(2, key(one.name), f"{{env: {key(source_of(one))}}}", one.comments)
        return ["secrets:", *lines] if lines else []

    def _trainer(self) -> Lines:
        target = self._structure.value(self._launch.target.template)
        kind = "module" if self._launch.is_module else "script"
        lines = ["trainer:", *entry(2, kind, scalar(target, TEXT, len(kind) + 4))]
        lines += entry(2, "launcher", self._launch.launcher)
        options = facts.torchrun_options(self._launch)
        lines += ["  torchrun:"] if options else []
        for name, template in options.items():
            lines += entry(4, name, scalar(self._lone(template), VARIABLE, len(name) + 6))
        return lines

    def _arguments(self) -> Lines:
        lines = [*above([self._say("importer_write.arguments")]), "arguments:"]
        for number, group in enumerate(self._groups):
            lines += [""] if number else []
            lines += [f"  {key(group.name)}:", *self._group(group)]
        return lines if self._groups else ["arguments: {}"]

    def _group(self, group: WordGroup) -> Lines:
        if group.is_mapping:
            return [line for word in group.words for line in self._override(word)]
        before = ["", *(word.argument.value.text for word in group.words)]
        return [line for word, option in zip(group.words, before, strict=False) for line in self._item(word, option)]

    def _override(self, word: Word) -> Lines:
        assert word.key is not None  # a group's words all have one, or it is a list
        if word.value is None:
            return entry(4, key(word.key), "null", word.argument.comments)
        pieces, line = self._structure.value(word.value), word.argument.line
        pieces = self._secrecy.value("importer_write.secret_argument", word.key, pieces, line)
        kinds = WORD if word.key in OPTIONS else VALUE - {"null"} if word.key.startswith("~") else VALUE
        return entry(4, key(word.key), scalar(pieces, kinds, len(word.key) + 6), word.argument.comments)

    def _item(self, word: Word, option: str) -> Lines:
        """`option`: the word before, `--password` of `--password hunter2`."""
        argument = word.argument
        if option.startswith("--") and holds_secret(option.lstrip("-"), argument.value.text):
            self._secrecy.withheld("importer_write.secret_argument", option, argument.line)
            return item(4, "''", argument.comments)
        pieces = self._secrecy.word(self._structure.value(argument.value.template), argument.line)
        return item(4, scalar(pieces, WORD, 6), argument.comments)

    def _runtime_env(self) -> Lines:
        if self._launch.working_dir is None:
            return []
        pieces = self._structure.value(self._launch.working_dir.template)
        return ["runtime_env:", *entry(2, "working_dir", scalar(pieces, TEXT, 15))]

    def _other_options(self) -> Iterator[Note]:
        launch = self._launch
        for name in launch.torchrun:
            if name not in _TORCHRUN_OPTIONS:
                yield Note("importer_write.torchrun", "note", launch.file, launch.line, {"option": f"--{name}"})

    def _say(self, text_id: str, **values: object) -> str:
        return text(text_id, self._language, **values)


def _own_values(launch: Launch) -> tuple[Exported, ...]:
    """`export X=1` is a flag with a value; the variable X stays only where the script reads it elsewhere too."""
    uses = uses_of([source.template for source in _sources(launch, launch.exported)])
    own: list[Exported] = []
    for one in launch.exported:
        match one.value.template:
            case [Defined(definition)] if definition.name == one.name and uses[definition] == 1:
                comments = one.comments or definition.comments
                own.append(replace(one, value=Value(definition.template), comments=comments))
            case _:
                own.append(one)
    return tuple(own)


def _sources(launch: Launch, exported: Sequence[Exported]) -> Iterator[Source]:
    for one in exported:
        yield Source(one.value.template, one.line)
    values = [launch.target, *launch.torchrun.values(), *([launch.working_dir] if launch.working_dir else [])]
    for value in values:
        yield Source(value.template, launch.line)
    for argument in launch.arguments:
        yield Source(argument.value.template, argument.line)
