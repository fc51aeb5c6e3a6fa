"""What reading a script comes to: words that know both their text and how the text comes about.

A script is evaluated with the values of one environment, so every word has exactly the text that bash would pass.
Beside it each word keeps a template: which part was typed, which part is an input of the script, which one a variable
or an arithmetic that it sets itself. The text makes the import exact, the template keeps the structure.

Where a template cannot be kept (a branch was taken, a word was split, `${V,,}`), the text stays and the inputs that it
hung on are *decided*: the job file holds their value and refuses another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Lit:
    """Typed in the script, or what no template can express."""

    text: str


@dataclass(frozen=True)
class Input:
    """An environment variable that the script reads: `${NNODES:-4}`, `$WORK_DIR`."""

    name: str
    text: str
    default: Template | None
    """What stands after `:-`; None: read as it is, where unset means empty."""

    def __hash__(self) -> int:
        return hash((self.name, self.text))  # a default may hold thousands of inputs


@dataclass(frozen=True)
class Defined:
    """A variable that the script itself set, in the version that counts here."""

    definition: Definition
    text: str


@dataclass(frozen=True)
class Arith:
    """Integer arithmetic that a job file can express; `parts` in order, the literal ones in the job file's spelling."""

    parts: Template
    text: str


Part = Lit | Input | Defined | Arith
Template = tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Definition:
    """One assignment. Compared by identity: a script may set one name many times."""

    name: str
    template: Template
    line: int
    comments: tuple[str, ...] = ()
    """Those above the assignment and the one behind it, without `#`."""
    note: str | None = None
    """Set for what needs the machine (a date, a probe): what it is, as the script spells it."""


@dataclass(frozen=True)
class Value:
    template: Template

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.template)


@dataclass(frozen=True)
class Argument:
    """A word of the launched command, after its module."""

    value: Value
    line: int
    group: str | None = None
    """The array that it came from."""
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exported:
    """An environment variable that the trainer gets from the script."""

    name: str
    value: Value
    line: int
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Launch:
    line: int
    file: str
    launcher: Literal["ray", "torchrun"]
    runner: tuple[str, ...]
    """The interpreter or wrapper as it is in the script, up to `-m`: ("uv", "run", "--frozen", "python3")."""
    target: Value
    """The module, or the path of a Python file."""
    is_module: bool
    arguments: tuple[Argument, ...]
    exported: tuple[Exported, ...]
    """In the order of the script; each name once, with its last value."""
    torchrun: Mapping[str, Value] = field(default_factory=dict)
    """torchrun's own options, long names without dashes, `-` as `_`: {"nnodes": …, "nproc_per_node": …}."""
    working_dir: Value | None = None
    """Of `ray job submit`."""


Severity = Literal["warning", "note"]


@dataclass(frozen=True)
class Note:
    """What a person has to know of one line of the script. `text_id` is in submitter/texts/importer.py."""

    text_id: str
    severity: Severity
    """note: not carried over, and it need not be; warning: look at it."""
    file: str
    line: int
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Decided:
    """An input whose value shaped what the script runs."""

    name: str
    text: str | None
    """None: it was not set, and the script can tell that from an empty one."""
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Reading:
    """A script, read with the values of one environment."""

    file: str
    launches: tuple[Launch, ...]
    notes: tuple[Note, ...]
    decided: Mapping[str, Decided]
    unquoted: frozenset[str]
    """Inputs that bash splits at spaces and globs: with such a value other words would come."""
    comments: tuple[str, ...] = ()
    """Those at the top of the script, without `#` and the interpreter's line."""
    fixed: frozenset[Definition] = frozenset()
    """Variables of the script's own that it branched on, or changed as text: their value cannot be set from outside."""
    required: frozenset[str] = frozenset()
    """Inputs without which bash stops: they may not be empty."""
