"""Secret references of a job, resolved in the process that needs the value.

Only references travel: `{"WANDB_API_KEY": {"file": "/etc/keys/wandb"}}` (a file on the node) or `{"env": "OTHER"}`
(a variable of the node's own environment). No message of this module holds a value. Standard library only.
"""

from __future__ import annotations

import platform
import stat
from collections.abc import Mapping
from pathlib import Path

REFERENCES_VARIABLE = "NPURUN_SECRETS"
"""Environment variable that carries the references as JSON."""

MAX_SECRET_BYTES = 64 * 1024
"""Linux refuses a single environment string above 128 KiB; no real key comes near half of that."""

References = Mapping[str, Mapping[str, str]]


class SecretMissingError(RuntimeError):
    """At least one reference leads to nothing on this node: names, sources and node, never a value."""


class _UnusableError(Exception):
    """Why one reference gives no value."""


def resolve(references: References, environ: Mapping[str, str]) -> dict[str, str]:
    """Values by variable name, without the line break that ends a file.

    Raises SecretMissingError that names every reference without a value, and the node.
    """
    lost = missing(references, environ)
    if lost:
        raise SecretMissingError(f"secret missing on node {platform.node()}: {'; '.join(lost)}")
    return {name: _value(reference, environ) for name, reference in references.items()}


def missing(references: References, environ: Mapping[str, str]) -> list[str]:
    """One line per reference that gives no value: `NAME (file /etc/keys/x: does not exist)`."""
    lost = []
    for name, reference in references.items():
        try:
            _value(reference, environ)
        except _UnusableError as why:
            lost.append(f"{name} ({why})")
    return lost


def read_value(reference: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """The value; empty when there is none."""
    try:
        return _value(reference, environ)
    except _UnusableError:
        return ""


def _value(reference: Mapping[str, str], environ: Mapping[str, str]) -> str:
    match dict(reference):
        case {"file": path, **rest} if not rest:
            return _from_file(Path(path))
        case {"env": variable, **rest} if not rest:
            return _from_variable(variable, environ)
    raise _UnusableError("the reference has to be one of file or env")


def _from_variable(variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "")
    if not value:
        raise _UnusableError(f"variable {variable}: {'is empty' if variable in environ else 'is not set'}")
    return value


def _from_file(path: Path) -> str:
    try:
        return _file_text(path)
    except FileNotFoundError:
        raise _UnusableError(f"file {path}: does not exist") from None
    except UnicodeDecodeError:
        raise _UnusableError(f"file {path}: is not UTF-8 text") from None
    except OSError as error:
        raise _UnusableError(f"file {path}: {error.strerror}") from None


def _file_text(path: Path) -> str:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # a pipe would block for ever
        raise _UnusableError(f"file {path}: is not a regular file")
    if status.st_size > MAX_SECRET_BYTES:
        raise _UnusableError(f"file {path}: {status.st_size} bytes, at most {MAX_SECRET_BYTES}")
    text = path.read_text(encoding="utf-8").rstrip("\r\n")
    if not text or "\0" in text:
        raise _UnusableError(f"file {path}: {'holds a NUL byte' if text else 'is empty'}")
    return text
