"""Every rule, once; a new file of rules adds its table here."""

from __future__ import annotations

from submitter.checks import runtime, secrets, working_dir
from submitter.checks.rule import Rule

RULES: tuple[Rule, ...] = (
    *runtime.RULES,
    *secrets.RULES,
    *working_dir.RULES,
)
