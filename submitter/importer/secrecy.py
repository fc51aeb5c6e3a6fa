"""Nothing that looks like a secret is written into a job file: what stands there instead, and the note that says so."""

from __future__ import annotations

from dataclasses import dataclass, field

from submitter.gang.secret_like import holds_secret, is_secret
from submitter.importer.model import Exported, Input, Launch, Lit, Note, Template
from submitter.importer.names import parts_of
from submitter.importer.spelling import written
from submitter.importer.structure import Pieces

_ANY = "set"
"""A value that tells nothing by itself: only the name counts."""


@dataclass
class Secrecy:
    launch: Launch
    notes: list[Note] = field(default_factory=list)

    def value(self, text_id: str, name: str, pieces: Pieces, line: int | None) -> Pieces:
        """`pieces`, or nothing in the place of a secret."""
        if not holds_secret(name.lstrip("+~"), written(pieces)):
            return pieces
        self.withheld(text_id, name, line)
        return ()

    def word(self, pieces: Pieces, line: int) -> Pieces:
        """The same for `key=value` as one word."""
        name, equals, text = written(pieces).partition("=")
        if not equals:
            return self.value("importer_write.secret_argument", "", pieces, line)
        if not holds_secret(name.lstrip("+~-"), text):
            return pieces
        self.withheld("importer_write.secret_argument", name, line)
        return (f"{name}=",)

    def withheld(self, text_id: str, name: str, line: int | None) -> None:
        self.notes.append(Note(text_id, "warning", self.launch.file, line or self.launch.line, {"name": name}))


def is_secret_flag(exported: Exported) -> bool:
    """By its value, or by a name that a secret has wherever the script gets its value from outside."""
    inputs = _inputs(exported.value.template)
    if holds_secret(exported.name, exported.value.text):
        return True
    return any(is_secret(name, _ANY) for name in inputs) or (bool(inputs) and is_secret(exported.name, _ANY))


def source_of(exported: Exported) -> str:
    """The variable of the nodes' own environment that holds the secret."""
    parts = [part for part in exported.value.template if not (isinstance(part, Lit) and not part.text)]
    return parts[0].name if len(parts) == 1 and isinstance(parts[0], Input) else exported.name


def _inputs(template: Template) -> list[str]:
    return [part.name for part in parts_of(template) if isinstance(part, Input)]
