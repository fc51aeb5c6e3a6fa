"""The rollout back end `hf_cpu`: one server actor beside each trainer rank, which generates with transformers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import ray
import torch
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica, TokenOutput

from .sampling import Sampling, generate


def server_name(replica_rank: int) -> str:
    return f"hf_cpu_server_{replica_rank}"


class HfCpuServer:
    """Answers verl's agent loops: token ids in, token ids and log-probs out. One request at a time."""

    def __init__(self, config: Any, model_path: str, replica_rank: int) -> None:
        from transformers import AutoConfig, AutoModelForCausalLM

        torch.set_num_threads(1)
        self._config = config
        self._generator = torch.Generator().manual_seed(int(config.seed) + replica_rank)
        model_config = AutoConfig.from_pretrained(model_path)
        # Weights come from the trainer before the first request: none are read here.
        model = AutoModelForCausalLM.from_config(model_config, attn_implementation="eager")
        self._model = model.float().eval()
        eos = model_config.eos_token_id
        self._eos = frozenset(eos if isinstance(eos, list) else [eos])
        self._lock = asyncio.Lock()
        self._global_steps: int | None = None

    async def address(self) -> str:
        return f"{ray.util.get_node_ip_address()}:0"

    async def generate(
        self, prompt_ids: Sequence[int], sampling_params: Mapping[str, Any], request_id: str, **_: Any
    ) -> TokenOutput:
        sampling = self._sampling(sampling_params, len(prompt_ids))
        prompt = [int(token) for token in prompt_ids]
        async with self._lock:
            tokens, log_probs = await asyncio.to_thread(generate, self._model, prompt, sampling, self._generator)
        return TokenOutput(
            token_ids=tokens,
            log_probs=log_probs if sampling_params.get("logprobs") else None,
            stop_reason="completed",
            extra_fields={"global_steps": self._global_steps},
        )

    async def update_weights(self, weights: Mapping[str, Any], global_steps: int | None) -> None:
        """All weights at once; a name that the model lacks or that is missing is an error."""
        async with self._lock:
            tensors = {name: torch.as_tensor(value) for name, value in weights.items()}
            self._model.load_state_dict(tensors, strict=True)
            self._global_steps = global_steps

    async def set_global_steps(self, global_steps: int) -> None:
        self._global_steps = global_steps

    # What frees or wakes an accelerator has nothing to do here.
    async def wake_up(self, tags: Any = None) -> None: ...
    async def sleep(self) -> None: ...
    async def clear_kv_cache(self) -> None: ...
    async def release_kv_cache(self) -> None: ...
    async def resume_kv_cache(self) -> None: ...
    async def abort_all_requests(self, reject_request: bool = False) -> None: ...
    async def resume_generation(self) -> None: ...
    async def start_profile(self, **_: Any) -> None: ...
    async def stop_profile(self) -> None: ...

    def _sampling(self, params: Mapping[str, Any], prompt_length: int) -> Sampling:
        room = self._config.prompt_length + self._config.response_length - prompt_length
        wanted = params.get("max_tokens") or params.get("max_new_tokens") or self._config.response_length
        return Sampling(
            max_tokens=max(1, min(int(wanted), room)),
            temperature=float(params.get("temperature", 1.0)),
            top_k=int(params.get("top_k", -1)),
            top_p=float(params.get("top_p", 1.0)),
            stop=frozenset() if params.get("ignore_eos") else self._eos,
        )


class HfCpuReplica(RolloutReplica):  # type: ignore[misc]
    """One server on the node of its trainer rank, 0 CPUs and 0 NPUs: it shares the rank's."""

    async def launch_servers(self) -> None:
        if self.world_size != 1:
            raise ValueError(f"hf_cpu: rollout tensor/pipeline/data parallel size must be 1, not {self.world_size}")
        node_id = await self.workers[0].__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id())
        actor = ray.remote(HfCpuServer).options(
            name=server_name(self.replica_rank),
            num_cpus=0,
            max_concurrency=self.max_concurrency,
            scheduling_strategy=ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id, soft=False),
        )
        server = actor.remote(self.config, self.model_config["path"], self.replica_rank)
        self.servers = [server]
        self._server_handle = server
        self._server_address = await server.address.remote()


class HfCpuAdapter(BaseRollout):  # type: ignore[misc]
    """In the trainer's rank: hands the new weights to the rank's server."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, **_: Any) -> None:
        super().__init__(config, model_config, device_mesh)
        self._server: Any = None

    async def resume(self, tags: list[str]) -> None: ...
    async def release(self) -> None: ...

    async def update_weights(
        self,
        weights: Generator[tuple[str, torch.Tensor], None, None],
        wire_format: str = "named_tensors",
        global_steps: int | None = None,
        **_: Any,
    ) -> None:
        if wire_format != "named_tensors":
            raise ValueError(f"hf_cpu takes named tensors only, not {wire_format}")
        if self._server is None:
            self._server = ray.get_actor(server_name(int(os.environ["RANK"])))
        arrays = {name: tensor.detach().float().cpu().numpy().copy() for name, tensor in weights}
        await self._server.update_weights.remote(arrays, global_steps)
