"""Every text that a user reads, in English and Chinese, in one table.

Rooms raise and report text ids with values; only the command line joins them to text. One file per room keeps
the table readable; `TABLE` is their union, and a test proves that both languages use the same placeholders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module

LANGUAGES = ("en", "zh")

Tell = Callable[..., None]
"""How rooms report progress: `tell("text.id", name=value)`. Only the command line has words and a terminal."""


@dataclass(frozen=True)
class Phrase:
    """A value that is itself a text: it is said in the language of the text that it stands in."""

    id: str
    values: Mapping[str, object] = field(default_factory=dict)


NONE = "-"
"""In place of a name, where there is none: `nearest` of a name that no other is like."""
FAR = ".far"
"""The end of the id of a text that is said in place of another whose `nearest` is `NONE`."""
VALUE_LIMIT_CHARS = 4000
"""Of one value in a text: a list of paths or of nodes fits, a pasted file does not flood the terminal."""

_ROOMS = (
    "job",
    "arguments",
    "runtime_env",
    "render",
    "cluster",
    "supervise",
    "ledger",
    "doctor",
    "diagnose",
    "notify",
    "supervise_runs",
    "recovery",
    "cli_recovery",
    "gang",
    "rehearsal",
    "probes_devices",
    "probes_inside",
    "probes_host",
    "probes_versions",
    "probes_network",
    "probes_paths",
    "probes_start",
    "decide",
    "cli",
    "cli_jobs",
    "cli_serve",
    "trees",
    "check",
    "checks_recovery",
    "checks_data",
    "checks_cluster",
    "checks_composition",
    "checks_batch",
    "checks_engine",
    "checks_flags",
    "checks_hccl",
    "checks_layout",
    "checks_rollout_layout",
    "checks_memory",
    "checks_runtime",
    "checks_sizes",
    "checks_tokens",
    "checks_algorithm",
    "reasons",
    "reasons_attempt",
    "reasons_job",
    "reasons_machine",
    "reasons_ascend",
    "alerts",
    "importer",
    "cli_import",
    "importer_write",
    "importer_verify",
    "cli_export",
    "report",
    "watch",
    "web",
    "web_pages",
)


def _load() -> dict[str, tuple[str, str]]:
    table: dict[str, tuple[str, str]] = {}
    for room in _ROOMS:
        for text_id, pair in import_module(f"{__name__}.{room}").TEXTS.items():
            if text_id in table:
                raise ValueError(f"text id {text_id} is defined twice")
            table[text_id] = pair
    return table


TABLE: Mapping[str, tuple[str, str]] = _load()


def text(text_id: str, language: str = "en", /, **values: object) -> str:
    """The text of `text_id` with `values` filled in, on one line: control characters in values are escaped."""
    far = f"{text_id}{FAR}" if values.get("nearest") == NONE else text_id
    template = TABLE.get(far, TABLE[text_id])[LANGUAGES.index(language)]
    said = {name: _said(value, language) for name, value in values.items()}
    return template.format(**{name: clipped(one_line(value)) for name, value in said.items()})


def _said(value: object, language: str) -> object:
    return text(value.id, language, **value.values) if isinstance(value, Phrase) else value


def clipped(value: str, limit: int = VALUE_LIMIT_CHARS) -> str:
    """At most `limit` characters of it."""
    return value if len(value) <= limit else f"{value[: limit - 1]}…"


def one_line(value: object) -> str:
    """`value` as text that cannot break a line or move the cursor (newline, ANSI escape)."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(value))
