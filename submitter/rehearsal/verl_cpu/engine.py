"""FSDP2 on CPU. Loaded by `actor_rollout_ref.model.external_lib`: verl's engines cannot be imported earlier."""

from __future__ import annotations

import dataclasses
from typing import Any

from verl.workers.engine import EngineRegistry
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead

from .platform import NAME


@EngineRegistry.register(model_type="language_model", backend=["fsdp2"], device="cpu", vendor=NAME)
class CpuFsdpEngine(FSDPEngineWithLMHead):  # type: ignore[misc]
    engine_config: Any

    def _build_fsdp_module(self, module: Any) -> Any:
        """verl gives forward-only engines (the reference policy) an offload into pinned memory, which needs an
        accelerator. On a CPU there is nothing to offload: the module is built as a trainable one.
        """
        wanted = self.engine_config
        self.engine_config = dataclasses.replace(wanted, forward_only=False)
        try:
            return super()._build_fsdp_module(module)
        finally:
            self.engine_config = wanted
