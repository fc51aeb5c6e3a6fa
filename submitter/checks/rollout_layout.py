"""How the rollout cuts the world into replicas, and each replica the model (NR260-269)."""

from __future__ import annotations

from runtime_env.verl_defaults import version_key
from submitter.checks import parallel
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.model_shape import head_sizes
from submitter.checks.parallel import ROLLOUT, Rollout
from submitter.checks.rule import Rule
from submitter.errors import Place

ENGINES = ("vllm", "sglang", "trtllm")
"""Rollouts that run as replicas with a server each."""

DATA_PARALLEL_WITHOUT_EXPERTS = (0, 8)
"""The first verl release that hands data_parallel_size to vLLM also without expert parallelism (verl#5609)."""


def heads(case: Case) -> list[Finding]:
    """Source: vllm/config, verify_with_parallel_config: heads % TP; sglang asserts the same."""
    engine, count = _engine(case), case.model.num_attention_heads if case.model else None
    if engine is None or not count or count % engine.tensor == 0:
        return []
    return [_of_model(case, "NR260", "error", "tensor_model_parallel_size", f"TP {engine.tensor}", count)]


def kv_heads(case: Case) -> list[Finding]:
    """Source: vllm/model_executor/layers/linear.py, QKVParallelLinear: kv heads and TP, one divides the other."""
    engine, count = _engine(case), case.model.num_key_value_heads if case.model and not case.model.mla else None
    heads = case.model.num_attention_heads if case.model else None
    if engine is None or not count or parallel.shares(count, engine.tensor) or (heads and heads % engine.tensor):
        return []  # NR260 tells of heads
    return [_of_model(case, "NR261", "error", "tensor_model_parallel_size", f"TP {engine.tensor}", count)]


def world(case: Case) -> list[Finding]:
    """Source: verl/workers/engine_workers.py (0.7.1: fsdp_workers.py, megatron_workers.py); llm_server.py floors."""
    engine = _replicas(case)
    if engine is None or engine.world % engine.replica == 0:
        return []
    severity: Severity = "warning" if engine.separate and engine.replica < engine.world else "error"
    values: dict[str, object] = {"left": engine.world % engine.replica, "choices": _joined(engine.world)}
    return [Finding("NR262", severity, _place(case, engine), spelled(engine), str(engine.world), values)]


def node(case: Case) -> list[Finding]:
    """Source: verl/workers/rollout/replica.py; vllm_async_server.py starts a small replica's server on one node."""
    engine = _replicas(case)
    if engine is None or engine.replica > engine.world or _fits_nodes(engine):
        return []
    if engine.world % engine.replica and not engine.separate:
        return []  # NR262 says so
    values: dict[str, object] = {"choices": _joined(engine.node)}
    return [Finding("NR263", "error", _place(case, engine), spelled(engine), str(engine.node), values)]


def expert_size(case: Case) -> list[Finding]:
    """Source: verl/workers/config/rollout.py, RolloutConfig.__post_init__."""
    engine = _engine(case)
    product = engine.tensor * engine.data if engine else 0
    if engine is None or engine.expert in (1, product) or _name(case) == "trtllm":
        return []
    sizes = f"TP {engine.tensor} × DP {engine.data} = {product}"
    values: dict[str, object] = {"product": product}
    return [Finding("NR264", "error", _key(case, "expert_parallel_size"), f"EP {engine.expert}", sizes, values)]


def experts(case: Case) -> list[Finding]:
    """Source: vLLM gives the first ranks one expert more; kernels with equal shares refuse that or waste memory."""
    engine, count = _engine(case), case.model.num_experts if case.model else None
    if engine is None or not count or count % engine.expert == 0 or engine.expert != engine.tensor * engine.data:
        return []  # NR264 tells of another size than TP x DP
    return [_of_model(case, "NR265", "warning", "expert_parallel_size", f"EP {engine.expert}", count)]


def data_without_experts(case: Case) -> list[Finding]:
    """Source: verl#5607; until verl 0.8.0 vllm_async_server.py passes DP on only where EP > 1."""
    engine = _engine(case)
    if engine is None or _name(case) != "vllm" or engine.data == 1 or engine.expert > 1:
        return []
    hangs = version_key(case.settings.release) < DATA_PARALLEL_WITHOUT_EXPERTS
    if not hangs and case.model is not None and case.model.num_experts:
        return []
    place, limit = _key(case, "data_parallel_size"), f"EP {engine.tensor * engine.data}"
    values: dict[str, object] = {"verl": case.settings.release}
    return [Finding("NR266", "error" if hangs else "warning", place, f"DP {engine.data}", limit, values)]


def data_on_a_node(case: Case) -> list[Finding]:
    """Source: verl/workers/rollout/vllm_rollout/vllm_async_server.py; vllm-ascend#2879."""
    engine = _engine(case)
    if engine is None or _name(case) != "vllm":
        return []
    key = f"{ROLLOUT}.engine_kwargs.vllm.data_parallel_size_local"
    local = case.settings.integer(key)
    if local and local > 1 and local * engine.tensor > engine.node:
        sizes = f"data_parallel_size_local {local} × TP {engine.tensor} = {local * engine.tensor}"
        return [Finding("NR267", "error", case.settings.place(key), sizes, str(engine.node))]
    if engine.data == 1 or engine.replica <= engine.node or engine.node % engine.tensor == 0:
        return []
    return [Finding("NR267", "error", _place(case, engine), f"TP {engine.tensor}", str(engine.node))]


def straddling(case: Case) -> list[Finding]:
    """Source: verl#2995: collectives of a replica that spans nodes time out when one node is late."""
    engine = _replicas(case)
    if engine is None or engine.replica <= engine.node:
        return []
    values: dict[str, object] = {"nodes": -(-engine.replica // engine.node)}
    return [Finding("NR268", "warning", _place(case, engine), spelled(engine), str(engine.node), values)]


def pipeline(case: Case) -> list[Finding]:
    """Source: verl/workers/config/rollout.py, RolloutConfig.__post_init__: NotImplementedError."""
    engine = _engine(case)
    if engine is None or engine.pipeline == 1:
        return []
    place = _key(case, "pipeline_model_parallel_size")
    return [Finding("NR269", "error", place, f"PP {engine.pipeline}", "PP 1", {"name": _name(case)})]


RULES = (
    Rule("NR260", ("error",), heads, ppo=True),
    Rule("NR261", ("error",), kv_heads, ppo=True),
    Rule("NR262", ("error", "warning"), world, ppo=True),
    Rule("NR263", ("error",), node, ppo=True),
    Rule("NR264", ("error",), expert_size, ppo=True),
    Rule("NR265", ("warning",), experts, ppo=True),
    Rule("NR266", ("error", "warning"), data_without_experts, ppo=True),
    Rule("NR267", ("error",), data_on_a_node, ppo=True),
    Rule("NR268", ("warning",), straddling, ppo=True),
    Rule("NR269", ("error",), pipeline, ppo=True),
)


def spelled(engine: Rollout) -> str:
    """`TP 4 × DP 2 = 8`."""
    sizes = [("TP", engine.tensor), ("DP", engine.data), ("PP", engine.pipeline)]
    factors = [f"{name} {size}" for name, size in sizes if size > 1] or ["TP 1"]
    return factors[0] if len(factors) == 1 else f"{' × '.join(factors)} = {engine.replica}"


def _name(case: Case) -> str | None:
    return case.settings.text(f"{ROLLOUT}.name")


def _engine(case: Case) -> Rollout | None:
    return parallel.rollout(case.settings) if _name(case) in ENGINES else None


def _replicas(case: Case) -> Rollout | None:
    """None also where prefill and decode have replicas of their own sizes."""
    return None if case.settings.truth(f"{ROLLOUT}.disaggregation.enabled") else _engine(case)


def _fits_nodes(engine: Rollout) -> bool:
    """Whole replicas per node, or whole nodes per replica; where nodes may idle, enough of the former."""
    if engine.replica > engine.node:
        return engine.replica % engine.node == 0
    return (engine.world // engine.node) * (engine.node // engine.replica) >= engine.world // engine.replica


def _key(case: Case, name: str) -> Place:
    return case.settings.place(f"{ROLLOUT}.{name}")


def _place(case: Case, engine: Rollout) -> Place:
    sizes = {
        "tensor_model_parallel_size": engine.tensor,
        "data_parallel_size": engine.data,
        "pipeline_model_parallel_size": engine.pipeline,
    }
    largest = sorted(sizes, key=lambda name: -sizes[name])
    pool = ("rollout", "trainer") if engine.separate else ("trainer",)
    return case.settings.place(
        *(f"{ROLLOUT}.{name}" for name in largest), *(f"{part}.n_gpus_per_node" for part in pool)
    )


def _of_model(case: Case, rule: str, severity: Severity, key: str, value: str, count: int) -> Finding:
    engine = _engine(case)
    assert engine is not None  # the rules that call this have one
    heads = rule != "NR265" and case.model is not None
    sizes = head_sizes(case.model) if heads and case.model else parallel.divisors(count)
    room = engine.world // (engine.data * engine.pipeline if heads else engine.pipeline)
    fitting = [size for size in sizes if room % size == 0 and (not heads or size <= engine.node)]
    choices = ", ".join(map(str, fitting if room else sizes))
    values: dict[str, object] = {"source": case.model.said if case.model else "", "choices": choices}
    return Finding(rule, severity, _key(case, key), value, str(count), values)


def _joined(count: int) -> str:
    return ", ".join(map(str, parallel.divisors(count)))
