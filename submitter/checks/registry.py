"""Every rule, once; a new file of rules adds its table here."""

from __future__ import annotations

from submitter.checks import additional_config, batch, engine, memory, runtime, secrets, training_engine, working_dir
from submitter.checks.rule import Rule

RULES: tuple[Rule, ...] = (
    *additional_config.RULES,
    *batch.RULES,
    *engine.RULES,
    *memory.RULES,
    *runtime.RULES,
    *secrets.RULES,
    *training_engine.RULES,
    *working_dir.RULES,
)
