"""References to secrets, resolved where they are used: a file on the node, or a variable of the node's environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ENV_NAME = "NPURUN_SECRETS"
"""Holds the references (never values) as JSON: {"WANDB_API_KEY": {"file": path} | {"env": name}}."""


def resolve(reference: Mapping[str, str], environ: Mapping[str, str]) -> str | None:
    """The secret's value, or None when the file or variable is missing, unreadable or empty."""
    if "env" in reference:
        return environ.get(reference["env"]) or None
    try:
        return Path(reference["file"]).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def states(references: Mapping[str, Mapping[str, str]], environ: Mapping[str, str]) -> dict[str, str]:
    """{"WANDB_API_KEY": "resolved" | "missing"}: what may be told of secrets."""
    return {
        name: "missing" if resolve(reference, environ) is None else "resolved"
        for name, reference in sorted(references.items())
    }
