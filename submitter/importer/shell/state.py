"""What a shell holds while a script is read: variables, options, and the record that all its subshells share."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from submitter.errors import Place, UsageError
from submitter.gang.secret_like import is_secret
from submitter.importer.model import Decided, Defined, Definition, Exported, Input, Launch, Lit, Note, Template, Value
from submitter.importer.shell.flow import DiscardCommand
from submitter.importer.shell.template import EMPTY, joined, leaves, literal, text_of

MAX_STEPS = 200_000
"""Statements, words and loop rounds of one reading; the longest published script needs 2,000."""
MAX_DEPTH = 60
"""Functions, subshells and sourced files inside each other; far from Python's own limit."""
MAX_TEXT = 4_000_000
"""Characters of one variable: `a=$a$a` in a loop would fill the memory. Linux takes no longer command line either."""
MAX_NOTES = 2_000
MAX_PARTS = 500
"""Of one template; what is put together from more is a text."""
MAX_ELEMENTS = 20_000
"""Of one array, or of `$@`."""


@dataclass(frozen=True)
class Element:
    """One value of an array, or one word, and where it was typed."""

    template: Template
    line: int = 0
    comments: tuple[str, ...] = ()
    group: str | None = None

    @property
    def text(self) -> str:
        return text_of(self.template)


@dataclass(frozen=True)
class Variable:
    """`value` None: declared, never set. `elements`: an array, by index or by key."""

    value: Template | None = None
    elements: Mapping[int | str, Element] | None = None
    exported: bool = False
    declared: bool = False
    """Exported by the script itself, not only handed on."""
    keyed: bool = False
    line: int = 0
    comments: tuple[str, ...] = ()
    integer: bool = False
    readonly: bool = False
    outside: bool = False
    """`export A` of a name that is not set: it has no value here, and comes from outside all the same."""
    reference: str | None = None
    """`declare -n`: the name that it stands for."""


@dataclass(frozen=True)
class Machine:
    """What the evaluator may ask of the machine that imports."""

    now: datetime
    cpus: int
    hostname: str
    user: str
    uid: int


@dataclass
class Record:
    """What is found out about a script, by the shell that reads it and all its subshells."""

    environ: Mapping[str, str]
    sets: Mapping[str, str]
    machine: Machine
    file: str
    """The script, as shown to people."""
    notes: list[Note] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    uses: list[tuple[int, Input]] = field(default_factory=list)
    """Of decided inputs: the line that each decided at, and as what."""
    inputs: dict[Input, Input] = field(default_factory=dict)
    unset: set[str] = field(default_factory=set)
    """Inputs of which the script could tell that they are unset and not only empty."""
    required: set[str] = field(default_factory=set)
    """Inputs without which bash stops."""
    unquoted: set[str] = field(default_factory=set)
    fixed: set[Definition] = field(default_factory=set)
    unknown: dict[Input | Definition, str] = field(default_factory=dict)
    """What only the machine could answer."""
    read: set[str] = field(default_factory=set)
    """Names that the script asks its environment for, or that only the machine knows."""
    files: dict[str, Template | None] = field(default_factory=dict)
    """Files that the script wrote, by absolute path; None: content unknown."""
    substitutions: list[str] = field(default_factory=list)
    """The files of `<( )` and `>( )`."""
    folders: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    steps: int = 0
    said: list[str] = field(default_factory=list)
    """The script's last words on its standard streams: why it ended, as it says itself."""

    def decided(self) -> dict[str, Decided]:
        """By name, with the text that a job file's `${NAME}` has to mean."""
        by_name: dict[str, list[tuple[int, Input]]] = {}
        for line, part in self.uses:
            by_name.setdefault(part.name, []).append((line, part))
        return {name: self._decided(name, uses) for name, uses in by_name.items()}

    def _decided(self, name: str, uses: list[tuple[int, Input]]) -> Decided:
        lines = tuple(sorted({line for line, _ in uses if line}))
        texts = {part.text for _, part in uses}
        if len(texts) == 1:
            text: str | None = texts.pop()
        else:
            text = self.sets.get(name, self.environ.get(name, ""))
        if not text and name in self.unset and name not in self.environ:
            text = None
        return Decided(name, text, lines)


_VERSION = [Element(literal(text)) for text in ("5", "2", "15", "1", "release", "x86_64-pc-linux-gnu")]


class BashStopsError(UsageError):
    """bash itself ends the shell here: of a subshell only that one."""


class Shell:
    """One shell process. `fork` makes a subshell."""

    def __init__(self, record: Record, file: str, path: str, params: list[Element], cwd: str) -> None:
        self.record = record
        self.file = file
        """As shown to people."""
        self.path = path
        """As `$0` has it."""
        self.params = params
        self.cwd = cwd
        self.left: list[str] = []
        """Folders to which `popd` goes back."""
        self.source = ""
        """The file that `source` reads now, as it was called; empty: the script itself."""
        self.variables: dict[str, Variable] = {"BASH_VERSINFO": Variable(None, dict(enumerate(_VERSION)))}
        self.functions: dict[str, Any] = {}
        self.locals: list[dict[str, Variable | None]] = []
        self.options: set[str] = set()
        self.line = 1
        self.comments: tuple[str, ...] = ()
        self.status = 0
        self.depth = 0
        self.tested = 0
        """Greater than 0 inside a condition, where `set -e` does not count."""
        self.out: list[Template] | None = None
        """Where standard output goes: into a `$( )` or a pipe; None: to the terminal."""
        self.stdin: Template | None = None
        """None: whatever the script's own standard input is."""
        self.letter = 0
        """How far `getopts` is inside `-ab`."""
        self.quiet = 0
        """Greater than 0 while a default is read that bash does not need: nothing of it is noted or done."""
        self.lenient = 0
        """Greater than 0 while words are read that only a terminal sees: nothing hangs on them."""
        self.substituted = False
        """A `$( )` was read since the command began: its status is the assignment's."""
        self.in_pipe = False

    @property
    def piped(self) -> Template:
        """What comes through a pipe, from a file or a here-document; empty: nothing does."""
        return self.stdin or EMPTY

    def fork(self) -> Shell:
        child = copy.copy(self)
        child.variables = dict(self.variables)
        child.functions = dict(self.functions)
        child.options = set(self.options)
        child.locals = [dict(frame) for frame in self.locals]
        child.depth = self.depth + 1
        child.check_depth()
        return child

    def place(self, line: int | None = None) -> Place:
        return Place(self.file, line or self.line)

    def fail(self, text_id: str, line: int | None = None, **values: object) -> UsageError:
        return UsageError(text_id, self.place(line), **values)

    def stops(self, text_id: str, **values: object) -> BashStopsError:
        return BashStopsError(text_id, self.place(), **values)

    def note(
        self, text_id: str, severity: Literal["warning", "note"] = "warning", line: int | None = None, **values: object
    ) -> None:
        if self.quiet or len(self.record.notes) >= MAX_NOTES:
            return
        note = Note(text_id, severity, self.file, line or self.line, values)
        if not any(_same(note, told) for told in self.record.notes):
            self.record.notes.append(note)

    def changed(self, template: Template) -> str:
        """As `decide`, for a text of which another one is made: never of a secret."""
        for leaf in leaves(template):
            if isinstance(leaf, Input) and leaf.text and is_secret(leaf.name, leaf.text):
                raise self.fail("importer.secret_changed", name=leaf.name)
        return self.decide(template)

    def step(self) -> None:
        self.record.steps += 1
        if self.record.steps > MAX_STEPS:
            raise self.fail("importer.endless", limit=MAX_STEPS)

    def check_depth(self) -> None:
        if self.depth > MAX_DEPTH:
            raise self.fail("importer.recursion", limit=MAX_DEPTH)

    # ── what decides ─────────────────────────────────────────────────────────────────────────────────────────────

    def decide(self, template: Template) -> str:
        """The text, on which something now hangs that no template can express."""
        if self.quiet or self.lenient:
            return text_of(template)
        for leaf in leaves(template):
            if isinstance(leaf, Input):
                self.record.uses.append((self.line, leaf))
            elif leaf in self.record.unknown:
                what = self.record.unknown[leaf]
                raise self.fail("importer.hangs_on_machine", what=what, name=leaf.name)
            else:
                self.record.fixed.add(leaf)
        return text_of(template)

    def behind_equals(self, word: Element) -> Template:
        """The value of `NAME=value`, with its template."""
        first = word.template[0] if word.template else Lit("")
        if isinstance(first, Lit) and "=" in first.text:
            return joined([literal(first.text.partition("=")[2]), word.template[1:]])
        return literal(self.decide(word.template).partition("=")[2])

    def depends(self, template: Template) -> None:
        """What comes of it is not known, but it hangs on these inputs."""
        if not self.quiet and not self.lenient:
            self.record.uses.extend((self.line, leaf) for leaf in leaves(template) if isinstance(leaf, Input))

    def fixed(self, template: Template) -> Template:
        """As `decide`; a template that is its text alone."""
        return literal(self.changed(template))

    def unquoted(self, template: Template) -> None:
        """bash splits what these inputs hold."""
        if not self.quiet and not self.lenient:
            self.record.unquoted.update(part.name for part in template if isinstance(part, Input))
            for part in template:
                if isinstance(part, Defined):
                    self.unquoted(part.definition.template)
                elif isinstance(part, Input) and part.default is not None:
                    self.unquoted(part.default)

    def unknown(self, what: str, name: str, text: str = "") -> Template:
        """A text that only the machine knows; `--set` gives it."""
        if name in self.record.sets:
            return self.from_machine(what, name, self.record.sets[name])
        definition = Definition(name, literal(text), self.line, self.comments, note=what)
        self.record.unknown[definition] = what
        self.record.read.add(name)
        return (Defined(definition, text),)

    def from_machine(self, what: str, name: str, text: str) -> Template:
        """A text of the machine that imports: a date, a host's name."""
        self.record.read.add(name)
        text = self.record.sets.get(name, text)
        return (Defined(Definition(name, literal(text), self.line, self.comments, note=what), text),)

    # ── variables ────────────────────────────────────────────────────────────────────────────────────────────────

    def variable(self, name: str) -> Variable | None:
        return self.variables.get(self.target(name))

    def target(self, name: str) -> str:
        """The name itself, or what it refers to."""
        for _ in range(MAX_DEPTH):
            variable = self.variables.get(name)
            if variable is None or variable.reference is None:
                return name
            name = variable.reference
        raise self.fail("importer.recursion", limit=MAX_DEPTH)

    def given(self, name: str) -> str | None:
        """What the environment, or --set, has for a name that the script did not set."""
        if name in self.record.sets:
            return self.record.sets[name]
        return self.record.environ.get(name)

    def input(self, name: str, default: Template | None = None, *, text: str | None = None) -> Template:
        """A name that comes from outside. `text`: what it counts as here, where that is not what was given."""
        self.record.read.add(name)
        if name in self.record.sets:
            default = literal(self.record.sets[name])
        value = self.given(name) or "" if text is None else text
        made = Input(name, value, default)
        return (self.record.inputs.setdefault(made, made),)  # one object each: comparing them stays cheap

    def assign(self, name: str, template: Template, *, export: bool = False) -> None:
        name = self.target(name)
        if len(text_of(template)) > MAX_TEXT:
            raise self.fail("importer.variable_long", name=name, limit=MAX_TEXT)
        old = self.variables.get(name)
        if old is not None and old.readonly:
            self.note("importer.expansion_error", problem=f"{name}: readonly variable")
            raise DiscardCommand(name)
        exported = export or (old.exported if old else self.given(name) is not None)
        declared = export or bool(old and old.declared)
        allexport = "a" in self.options
        if old is not None and old.elements is not None and not old.keyed:
            elements = {**old.elements, 0: Element(template, self.line, self.comments)}
            self.variables[name] = replace(old, elements=elements, exported=exported)
            return
        value = self._defined(name, self._without_itself(name, template))
        self.variables[name] = Variable(
            value, exported=exported or allexport, declared=declared or allexport, line=self.line,
            comments=self.comments, integer=bool(old and old.integer),
        )  # fmt: skip

    def _without_itself(self, name: str, template: Template) -> Template:
        """`A="$A x"`: the earlier A has no name of its own any more."""
        if len(template) > MAX_PARTS:
            return self.fixed(template)
        return joined(
            part.definition.template if isinstance(part, Defined) and part.definition.name == name else (part,)
            for part in template
        )

    def _defined(self, name: str, template: Template) -> Template:
        """A template that refers to this assignment by its name; an input's own name stands for itself."""
        match template:
            case (Defined(definition, text),) if definition.note is not None and definition.name != name:
                return self._renamed(definition, name, text)
            case (Input() | Defined(),):
                return template
        return (Defined(Definition(name, template, self.line, self.comments), text_of(template)),)

    def _renamed(self, definition: Definition, name: str, text: str) -> Template:
        """What the machine knows is called as the script calls it."""
        if name in self.record.sets:
            return self.from_machine(definition.note or "", name, self.record.sets[name])
        renamed = replace(definition, name=name, line=self.line, comments=self.comments)
        self.record.read.add(name)
        if definition in self.record.unknown:
            self.record.unknown[renamed] = self.record.unknown[definition]
        return (Defined(renamed, text),)

    def assign_array(self, name: str, elements: Mapping[int | str, Element], *, keyed: bool = False) -> None:
        name = self.target(name)
        if len(elements) > MAX_ELEMENTS:
            raise self.fail("importer.too_many_words", limit=MAX_ELEMENTS)
        old = self.variables.get(name)
        self.variables[name] = Variable(
            None,
            dict(elements),
            exported=bool(old and old.exported),
            declared=bool(old and old.declared),
            keyed=keyed,
            line=self.line,
        )

    def unset(self, name: str) -> None:
        """From now on the name is empty, whatever the environment has."""
        self.variables[name] = Variable(None)

    def declare_local(self, name: str) -> None:
        if self.locals and name not in self.locals[-1]:
            self.locals[-1][name] = self.variables.get(name)

    def push_frame(self) -> None:
        self.locals.append({})

    def pop_frame(self) -> None:
        for name, old in self.locals.pop().items():
            if old is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = old

    def exports(self) -> dict[str, Exported]:
        """What a command would get from this script, by name: not what it merely hands on unchanged."""
        found = {}
        for name, variable in self.variables.items():
            if variable.value is None or not variable.exported:
                continue
            if variable.declared or text_of(variable.value) != self.given(name):
                found[name] = Exported(name, Value(variable.value), variable.line, variable.comments)
        return found

    # ── standard output ──────────────────────────────────────────────────────────────────────────────────────────

    def write(self, template: Template) -> None:
        if self.quiet:
            return
        if self.out is not None:
            self.out.append(template)
        elif template:
            self.record.said.append(text_of(template).strip()[:300])
            del self.record.said[:-3]


def shown(words: Sequence[str]) -> str:
    """A command as a note tells it: further words may be secrets."""
    first = [word for word in words[1:2] if not word.startswith("-") and "=" not in word]
    return " ".join([*words[:1], *first, *(["…"] if len(words) > 1 + len(first) else [])])[:60]


def _same(note: Note, told: Note) -> bool:
    """Once for each line, and of an input without a value once for all."""
    same = (note.text_id, note.file, note.values) == (told.text_id, told.file, told.values)
    return same and (note.line == told.line or note.text_id == "importer.no_default")
