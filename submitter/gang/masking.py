"""Secret values out of what people are shown as evidence: log lines, stack dumps, tails. Standard library only."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Collection, Mapping

from .secret_like import MASK, is_random, is_secret, without_shapes
from .secrets import REFERENCES_VARIABLE, References, read_value

SHORTEST_VALUE = 6
"""A shorter value is a word that may stand anywhere; a key is never that short."""
LONGEST_LINE = 4096
"""Characters of one line that are kept: more is a dump of data, not a message."""

LONGEST_KEY = 256
_OF_KEYS = f"{string.ascii_letters}{string.digits}_-.~+/="

_MORE_NAMES = re.compile(
    r"(?:^|[_\-])(?:ak|sk|pwd|cookie|signature|sig|apikey|access[_-]?key[_-]?id)$"
    r"|[a-z0-9](?:Token|Secret|Password|ApiKey|AccessKey|SecretKey|Credentials?)$"
    r"|(?i:^(?:proxy-)?authorization$|^set-cookie$)",
    re.IGNORECASE,
)
"""Ends of names that a job file hardly has, but headers and other programs' logs do."""

_PAIR = re.compile(
    r"""(?<![A-Za-z0-9_.\-])(?P<name>[A-Za-z0-9_.\-]+)\\*["']?(?P<space>\s*)[:=]\s*[\[(]?\s*(?:b(?=["']))?"""
    r"""(?P<value>\\*"[^"\\]*|'[^']*|[^,"'{}\[\]()\s\\]+)"""
)
"""`NAME=value`, `NAME: value`, `"NAME": "value"` (also escaped). A closing quote stays where it is."""

_OPTION = re.compile(r"""(?<!\S)--?(?P<name>[A-Za-z][A-Za-z0-9_.\-]*)(?P<space>)[ ]+(?P<value>["']?[^\s"']+)""")
"""`--name value` of a command line."""

_SCHEME = re.compile(r"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token|digest)\s+)[^\s\"',]+")
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:\(.*)?")
"""A name or a call: `token = self.read()` in a traceback says nothing of the value."""


def mask(text: str, *, names: Collection[str] = (), values: Collection[str] = ()) -> str:
    """`text` with every secret in it as `***`: what has the shape of one, what is given to a telling name or to one of
    `names` (the job's own), and `values` wherever they stand. One line or many; a line is cut after 4096 characters.
    """
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, MASK)
    return "\n".join(_line(line, names) for line in text.split("\n"))


def beginning(command: str, characters: int) -> str:
    """Of a process's command line, masked before it is cut: half of a secret is not known as one."""
    return mask(command)[:characters]


def known_values(references: References, environ: Mapping[str, str]) -> frozenset[str]:
    """The values behind a job's secrets, as this process can read them, for `mask`; each line of a longer one."""
    lines = {line for reference in references.values() for line in read_value(reference, environ).splitlines()}
    return frozenset(line.strip() for line in lines if len(line.strip()) >= SHORTEST_VALUE)


class Masker:
    """`mask` with the secrets of the job that a process of the attempt belongs to, for lines of logs."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Reads the references and, where this node has them, the values."""
        try:
            references: References = json.loads(environ.get(REFERENCES_VARIABLE) or "{}")
        except ValueError:
            references = {}
        self._names = frozenset(references)
        self._values = known_values(references, environ)

    def __call__(self, line: str) -> str:
        return mask(line, names=self._names, values=self._values)


def _line(line: str, names: Collection[str]) -> str:
    shown = line if len(line) <= LONGEST_LINE else f"{_without_half_word(line[:LONGEST_LINE])}…"
    shown = _SCHEME.sub(rf"\1{MASK}", without_shapes(shown))
    for form in (_PAIR, _OPTION):
        shown = _masked(shown, form, names)
    return shown


def _without_half_word(cut: str) -> str:
    """Half of a secret is not known as one. A longer word is data."""
    kept = cut.rstrip(_OF_KEYS)
    return kept if len(cut) - len(kept) <= LONGEST_KEY else cut


def _masked(line: str, form: re.Pattern[str], names: Collection[str]) -> str:
    """A value that is none is looked into: `url: https://host?token=…` is two pairs."""
    parts, at = [], 0
    while pair := form.search(line, at):
        start = pair.start("value")
        if value := _secret(pair, names):
            parts += [line[at : pair.end() - len(value)], MASK]
            start = pair.end()
        else:
            parts.append(line[at:start])
        at = start
    return "".join([*parts, line[at:]])


def _secret(pair: re.Match[str], names: Collection[str]) -> str:
    """The value, if it is one; without its opening quote."""
    name = pair["name"].lstrip("-").rpartition(".")[2]
    value = pair["value"].lstrip("\\\"'")
    if name in names:
        secret = value != MASK
    else:
        secret = not _is_code(pair, value) and (is_secret(name, value) or _looks_it(name, value))
    return value if secret else ""


def _is_code(pair: re.Match[str], value: str) -> bool:
    """`name = value` with spaces is a program's line: only a literal or a random text in it is a value."""
    quoted = pair["value"] != value
    return bool(pair["space"]) and not quoted and not is_random(value) and _CODE.fullmatch(value) is not None


def _looks_it(name: str, value: str) -> bool:
    if name.lower().endswith("key") and is_random(value):
        return True
    return _MORE_NAMES.search(name) is not None and len(value) >= SHORTEST_VALUE and not value.startswith("$")
