"""Every rule, once; a new file of rules adds its table here."""

from __future__ import annotations

from submitter.checks import (
    additional_config,
    batch,
    choices,
    cluster_shape,
    composition,
    data,
    engine,
    flags,
    hccl,
    known_bad,
    launcher,
    layout,
    memory,
    model_path,
    recovery,
    rollout_layout,
    runtime,
    secrets,
    tokens,
    training_engine,
    working_dir,
)
from submitter.checks.rule import Rule

RULES: tuple[Rule, ...] = (
    *additional_config.RULES,
    *batch.RULES,
    *choices.RULES,
    *cluster_shape.RULES,
    *composition.RULES,
    *data.RULES,
    *engine.RULES,
    *flags.RULES,
    *hccl.RULES,
    *known_bad.RULES,
    *launcher.RULES,
    *layout.RULES,
    *memory.RULES,
    *model_path.RULES,
    *recovery.RULES,
    *rollout_layout.RULES,
    *runtime.RULES,
    *secrets.RULES,
    *tokens.RULES,
    *training_engine.RULES,
    *working_dir.RULES,
)
