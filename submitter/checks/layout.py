"""How the trainer cuts the model: parallel sizes against the world, the nodes and the model (NR241-259, NR270)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from runtime_env.verl_defaults import version_key
from submitter.checks import parallel
from submitter.checks.case import Case, NotChecked
from submitter.checks.finding import Finding, Severity
from submitter.checks.layer_split import override, split
from submitter.checks.model_shape import CONFIG_PATH, MODEL_PATH, ModelShape, head_sizes
from submitter.checks.parallel import ACTOR, CRITIC, REF, ROLLOUT, Training
from submitter.checks.roles import needs_critic, needs_reference
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.errors import Place
from submitter.texts import Phrase

SEPARATE_EXPERT_TENSOR = (0, 13)
"""The first megatron-core with expert tensor parallel groups of their own on NPUs (modelscope/twinkle#129)."""

_FSDP = ("fsdp", "fsdp2")
_TITAN_DATA = ("shard", "replicate")


def model_unknown(case: Case) -> list[Finding | NotChecked]:
    """Source: verl reads these sizes from the model's config.json (workers/config/model.py)."""
    if case.model is not None or case.model_why is None:
        return []
    values: dict[str, object] = {"why": Phrase(case.model_why.why, case.model_why.values)}
    unknown = NotChecked("NR241", "NR241.unknown", values)
    if not case.model_why.broken:
        return [unknown]
    return [Finding("NR241", "warning", case.settings.place(CONFIG_PATH, MODEL_PATH), values=values), unknown]


def world(case: Case) -> list[Finding]:
    """Source: megatron/core/parallel_state.py; torchtitan's ParallelDims; the device mesh of verl's FSDP engine."""
    return [
        Finding("NR242", "error", _world_place(case, role, layout), str(layout.world), values={"spelled": spelled})
        for role, layout in _layouts(case, critic=True)
        if (spelled := _not_the_world(case.settings, role, layout))
    ]


def expert_world(case: Case) -> list[Finding]:
    """Source: megatron/core/parallel_state.py, core 0.12 and 0.16: world % (ETP x EP x PP)."""
    found = []
    for role, layout in _megatron(case, critic=True):
        product = layout.expert_tensor * layout.expert * layout.pipeline
        if layout.expert == 1 or layout.world % product == 0:
            continue
        sizes = f"ETP {layout.expert_tensor} × EP {layout.expert} × PP {layout.pipeline} = {product}"
        values: dict[str, object] = {
            "tensor": layout.tensor,
            "do": _expert_phrase(case, layout),
        }
        place = _place(case, role, layout, "expert_model_parallel_size", "expert_tensor_parallel_size")
        found.append(Finding("NR243", "error", place, sizes, str(layout.world), values))
    return found


def heads(case: Case) -> list[Finding]:
    """Source: megatron/core/transformer/transformer_config.py: num_attention_heads % TP."""
    count = case.model.num_attention_heads if case.model else None
    return [
        _model_finding(case, "NR244", "error", _place(case, role, layout), f"TP {layout.tensor}", count, fits=fits)
        for role, layout in _tensor(case)
        if count and count % layout.tensor
        for fits in [_fitting(case, layout.world, layout.pipeline * layout.context)]
    ]


def kv_heads(case: Case) -> list[Finding]:
    """Source: megatron/core/transformer/transformer_config.py: num_query_groups and TP, one divides the other."""
    count = case.model.num_key_value_heads if case.model and not case.model.mla else None
    return [
        _model_finding(case, "NR245", "error", _place(case, role, layout), f"TP {layout.tensor}", count, fits=fits)
        for role, layout in _tensor(case)
        if count and not parallel.shares(count, layout.tensor) and not _uneven_heads(case, layout.tensor)
        for fits in [_fitting(case, layout.world, layout.pipeline * layout.context)]
    ]


def layers(case: Case) -> list[Finding]:
    """Source: megatron/core/transformer/transformer_config.py, transformer_block.py (get_num_layers_to_build)."""
    return [
        _model_finding(case, "NR246", "error", place, f"PP {layout.pipeline}", count, spelled=cut.spelled)
        for role, layout in _megatron(case)
        if (count := _layers(case, layout)) and (cut := split(case.settings, layout, count)) and not cut.whole
        for place in [_place(case, role, layout, "pipeline_model_parallel_size")]
    ]


def virtual_without_pipeline(case: Case) -> list[Finding]:
    """Source: megatron/core/parallel_state.py: an interleaved schedule needs PP > 1."""
    return [
        Finding("NR247", "error", _place(case, role, layout, _VIRTUAL), str(layout.virtual_pipeline), "PP 1")
        for role, layout in _megatron(case)
        if layout.virtual_pipeline is not None and layout.pipeline == 1
    ]


def virtual_layers(case: Case) -> list[Finding]:
    """Source: megatron/core/transformer/transformer_config.py, transformer_block.py: layers of a stage % VPP."""
    return [
        _model_finding(case, "NR248", "error", place, f"VPP {layout.virtual_pipeline}", count, spelled=cut.virtual)
        for role, layout in _megatron(case)
        if (count := _layers(case, layout)) and (cut := split(case.settings, layout, count)) and cut.virtual
        for place in [_place(case, role, layout, _VIRTUAL)]
    ]


def experts(case: Case) -> list[Finding]:
    """Source: megatron/core/transformer/moe/moe_layer.py: num_moe_experts % EP."""
    count = case.model.num_experts if case.model else None
    return [
        _model_finding(case, "NR249", severity, place, f"EP {layout.expert}", count)
        for role, layout in _layouts(case)
        if count and count % layout.expert
        for severity in [_certain(layout)]
        for place in [_place(case, role, layout, "expert_model_parallel_size", "expert_parallel_size")]
    ]


def dense_experts(case: Case) -> list[Finding]:
    """Source: megatron/core/transformer/transformer_config.py; vllm/config, _verify_with_expert_parallelism."""
    if case.model is None or not case.model.dense:
        return []
    found = [
        _model_finding(case, "NR250", _certain(layout), place, f"EP {layout.expert}", None)
        for role, layout in _layouts(case)
        if layout.expert > 1
        for place in [_place(case, role, layout, "expert_model_parallel_size", "expert_parallel_size")]
    ]
    engine = parallel.rollout(case.settings)
    if engine is not None and engine.expert > 1:
        certain: Severity = "error" if case.settings.text(f"{ROLLOUT}.name") == "vllm" else "warning"
        place = case.settings.place(f"{ROLLOUT}.expert_parallel_size")
        found.append(_model_finding(case, "NR250", certain, place, f"EP {engine.expert}", None))
    return found


def old_expert_tensor(case: Case) -> list[Finding]:
    """Source: modelscope/twinkle#129; verl's own 30B-A3B script for megatron-core 0.12 sets ETP 1 with TP 2."""
    core = _core_release(case)
    if core is None or core >= SEPARATE_EXPERT_TENSOR or not case.model or not case.model.num_experts:
        return []
    return [
        Finding(
            "NR251", "warning", place, f"ETP {layout.expert_tensor}", f"TP {layout.tensor}", {"core": _core_text(case)}
        )
        for role, layout in _megatron(case)
        if layout.expert_tensor != layout.tensor
        for place in [_place(case, role, layout, "expert_tensor_parallel_size", "tensor_model_parallel_size")]
    ]


def ulysses_context(case: Case) -> list[Finding]:
    """Source: mindspeed/core/context_parallel/ulysses_context_parallel: each rank takes heads / (TP x CP)."""
    count = case.model.num_attention_heads if case.model else None
    found = []
    for _, layout in _megatron(case):
        product = layout.tensor * layout.context
        place = _ulysses_place(case, layout)
        if place and count and layout.context > 1 and count % product:
            sizes = f"TP {layout.tensor} × CP {layout.context} = {product}"
            found.append(_model_finding(case, "NR252", "error", place, sizes, count))
    return found


def sequence_without_tensor(case: Case) -> list[Finding]:
    """Source: megatron/core/model_parallel_config.py; verl corrects only its own key (workers/config/engine.py)."""
    return [
        Finding("NR253", "error", case.settings.place(key), "True", "TP 1")
        for _, layout in _megatron(case)
        for key in [f"{layout.section}.override_transformer_config.sequence_parallel"]
        if layout.tensor == 1 and case.settings.is_set(key) and case.settings.truth(key)
    ]


def tensor_over_nodes(case: Case) -> list[Finding]:
    """Source: tensor parallelism exchanges activations in every layer; between nodes that is RoCE, not HCCS."""
    node = case.settings.integer("trainer.n_gpus_per_node")
    return [
        Finding("NR254", "warning", _place(case, role, layout), f"TP {layout.tensor}", str(node))
        for role, layout in _tensor(case)
        if node and layout.tensor > node
    ]


def reference_layout(case: Case) -> list[Finding]:
    """Source: verl/workers/engine/megatron/transformer_impl.py: mpu is set up once in a process that both share."""
    actor, ref = parallel.training(case.settings), parallel.training(case.settings, REF)
    if not actor or not ref or not actor.section or not ref.section or not needs_reference(case.settings):
        return []
    names = [name for name in _SHARED if getattr(actor, name) != getattr(ref, name)]
    own = [key for name in names if case.settings.is_set(key := f"{ref.section}.{_SHARED[name]}")]
    if not own:
        return []
    return [Finding("NR255", "warning", case.settings.place(*own), _sizes(ref, names), _sizes(actor, names))]


def ulysses_heads(case: Case) -> list[Finding]:
    """Source: verl/models/transformers/monkey_patch.py, apply_monkey_patch: num_attention_heads % SP."""
    count = case.model.num_attention_heads if case.model else None
    return [
        _model_finding(case, "NR256", severity, _place(case, role, layout), f"SP {layout.sequence}", count, fits=fits)
        for role, layout in _layouts(case)
        if count and count % layout.sequence
        for severity in [_certain(layout)]
        for fits in [_fitting(case, layout.world, 1)]
    ]


def ulysses_kv_heads(case: Case) -> list[Finding]:
    """Source: verl/models/transformers/monkey_patch.py, apply_monkey_patch: kv heads and SP, one divides the other."""
    count = case.model.num_key_value_heads if case.model and not case.model.mla else None
    return [
        _model_finding(case, "NR257", severity, _place(case, role, layout), f"SP {layout.sequence}", count, fits=fits)
        for role, layout in _layouts(case)
        if count and not parallel.shares(count, layout.sequence) and not _uneven_heads(case, layout.sequence)
        for severity in [_certain(layout)]
        for fits in [_fitting(case, layout.world, 1)]
    ]


def padding(case: Case) -> list[Finding]:
    """Source: verl/workers/config/actor.py (validate), workers/engine/fsdp/transformer_impl.py."""
    key = "actor_rollout_ref.model.use_remove_padding"
    if case.settings.truth(key) is not False:
        return []
    return [
        Finding("NR258", "error", case.settings.place(key, *_keys(role, layout)), "False", f"SP {layout.sequence}")
        for role, layout in _layouts(case)
        if layout.strategy in _FSDP and layout.sequence > 1 and role != CRITIC
    ]


def fsdp_size(case: Case) -> list[Finding]:
    """Source: verl/workers/engine/fsdp/utils.py (create_device_mesh), workers/engine/veomni/transformer_impl.py."""
    return [
        Finding("NR259", "error", case.settings.place(key), str(size), str(ranks))
        for role, layout in _layouts(case)
        if (key := _fsdp_key(role, layout)) and (size := case.settings.integer(key)) is not None
        for ranks in [layout.world // layout.sequence if layout.strategy == "veomni" else layout.world]
        if size == 0 or (0 < size < ranks and ranks % size)
    ]


def experts_without_sequence(case: Case) -> list[Finding]:
    """Source: megatron/core/transformer/moe/moe_layer.py, forward: MoE and TP without sequence parallelism."""
    actor = parallel.training(case.settings)
    if not actor or not actor.section or actor.tensor == 1 or not case.model or not case.model.num_experts:
        return []
    own, given = f"{actor.section}.sequence_parallel", override(case.settings, actor, "sequence_parallel")
    forced = case.settings.truth(given)
    if forced or (forced is None and case.settings.truth(own) is not False):
        return []
    severity: Severity = "warning" if forced is None else "error"  # a bridge may choose by TP alone
    place = case.settings.place(given, own)
    return [_model_finding(case, "NR270", severity, place, f"TP {actor.tensor}", case.model.num_experts)]


RULES = (
    Rule("NR241", ("warning",), model_unknown, ppo=True),
    Rule("NR242", ("error",), world, ppo=True),
    Rule("NR243", ("error",), expert_world, ppo=True),
    Rule("NR244", ("error",), heads, ppo=True),
    Rule("NR245", ("error",), kv_heads, ppo=True),
    Rule("NR246", ("error",), layers, ppo=True),
    Rule("NR247", ("error",), virtual_without_pipeline, ppo=True),
    Rule("NR248", ("error",), virtual_layers, ppo=True),
    Rule("NR249", ("error", "warning"), experts, ppo=True),
    Rule("NR250", ("error", "warning"), dense_experts, ppo=True),
    Rule("NR251", ("warning",), old_expert_tensor, ppo=True),
    Rule("NR252", ("error",), ulysses_context, ppo=True),
    Rule("NR253", ("error",), sequence_without_tensor, ppo=True),
    Rule("NR254", ("warning",), tensor_over_nodes, ppo=True),
    Rule("NR255", ("warning",), reference_layout, ppo=True),
    Rule("NR256", ("error", "warning"), ulysses_heads, ppo=True),
    Rule("NR257", ("error", "warning"), ulysses_kv_heads, ppo=True),
    Rule("NR258", ("error",), padding, ppo=True),
    Rule("NR259", ("error",), fsdp_size, ppo=True),
    Rule("NR270", ("error", "warning"), experts_without_sequence, ppo=True),
)


_VIRTUAL = "virtual_pipeline_model_parallel_size"
_SHARED = {
    "tensor": "tensor_model_parallel_size",
    "pipeline": "pipeline_model_parallel_size",
    "context": "context_parallel_size",
    "expert": "expert_model_parallel_size",
    "expert_tensor": "expert_tensor_parallel_size",
}
"""Sizes that megatron-core sets up once per process."""
_SHORT = {"tensor": "TP", "pipeline": "PP", "context": "CP", "expert": "EP", "expert_tensor": "ETP"}
_OWN_KEYS = {
    "torchtitan": ("torchtitan.tensor_parallel_size", "torchtitan.pipeline_parallel_size"),
    "veomni": ("veomni.ulysses_parallel_size",),
}
_ULYSSES_KEYS = ("ulysses_sequence_parallel_size", "fsdp_config.ulysses_sequence_parallel_size")
_WORLD_KEYS = ("trainer.n_gpus_per_node", "trainer.nnodes")


def _layouts(case: Case, *, critic: bool = False) -> list[tuple[str, Training]]:
    """The actor's, and of the others those that are in use and differ. A critic has a model of its own."""
    settings = case.settings
    actor = parallel.training(settings)
    roles = [REF] if needs_reference(settings) else []
    roles += [CRITIC] if critic and needs_critic(settings) else []
    others = [(role, parallel.training(settings, role)) for role in roles]
    found = [(ACTOR, actor)] if actor else []
    return found + [
        (role, layout)
        for role, layout in others
        if layout and (actor is None or replace(layout, section=actor.section) != actor)
    ]


def _megatron(case: Case, *, critic: bool = False) -> list[tuple[str, Training]]:
    return [(role, layout) for role, layout in _layouts(case, critic=critic) if layout.section]


def _tensor(case: Case) -> Iterator[tuple[str, Training]]:
    return ((role, layout) for role, layout in _megatron(case) if layout.tensor > 1)


def _expert_sizes(case: Case, layout: Training) -> list[int]:
    """What EP could be with this ETP and PP."""
    rest = layout.expert_tensor * layout.pipeline
    count = case.model.num_experts if case.model else None
    sizes = parallel.divisors(layout.world // rest) if layout.world % rest == 0 else []
    return [size for size in sizes if not count or count % size == 0]


def _certain(layout: Training) -> Severity:
    """VeOmni and torchtitan leave it to each model's own parallel plan."""
    return "error" if layout.section or layout.strategy in _FSDP else "warning"


def _keys(role: str, layout: Training) -> list[str]:
    if layout.section:
        return [f"{layout.section}.{key}" for key in list(_SHARED.values())[:3]]
    return [f"{role}.{key}" for key in _OWN_KEYS.get(layout.strategy, _ULYSSES_KEYS)]


def _place(case: Case, role: str, layout: Training, *first: str) -> Place:
    section = layout.section or f"{role}.{layout.strategy}"
    keys = [*(f"{section}.{key}" for key in first), *_keys(role, layout)]
    own = [key for key in keys if case.settings.is_set(key)]
    return case.settings.place(*(own or [key for key in _WORLD_KEYS if case.settings.is_set(key)] or keys))


def _world_place(case: Case, role: str, layout: Training) -> Place:
    """At a size that does not divide the world by itself, if there is one."""
    if not layout.section:
        return _place(case, role, layout)
    names = [name for name in ("tensor", "pipeline", "context") if layout.world % getattr(layout, name)]
    return _place(case, role, layout, *(_SHARED[name] for name in names))


def _not_the_world(settings: Settings, role: str, layout: Training) -> str:
    """The arithmetic that does not come out, spelled; empty when it does."""
    if layout.data_parallel is None:
        return layout.spelled()
    if layout.strategy != "torchtitan":
        return ""
    shard, replicate = (settings.integer(f"{role}.torchtitan.data_parallel_{name}_size") for name in _TITAN_DATA)
    if shard is None or replicate is None or shard < 1 or shard * replicate == layout.data_parallel:
        return ""
    return f"{layout.spelled()}; data_parallel_shard_size {shard} × data_parallel_replicate_size {replicate}"


def _model_finding(
    case: Case,
    rule: str,
    severity: Severity,
    place: Place,
    value: str,
    count: int | None,
    spelled: str = "",
    fits: Callable[[int], bool] = lambda _size: True,
) -> Finding:
    """About a size of the model, whose source the texts name. `fits`: which of its divisors the world has room for."""
    values: dict[str, object] = {
        "source": case.model.said if case.model else "",
        "choices": _joined([size for size in _choices(case.model, count) if fits(size)]),
        "spelled": spelled,
    }
    return Finding(rule, severity, place, value, None if count is None else str(count), values)


def _choices(model: ModelShape | None, count: int | None) -> list[int]:
    """Sizes that divide `count`; of heads, those that suit the key-value heads, too."""
    if model is not None and count in (model.num_attention_heads, model.num_key_value_heads):
        return head_sizes(model)
    return parallel.divisors(count) if count else []


def _fitting(case: Case, world: int, rest: int) -> Callable[[int], bool]:
    """Sizes of a group within a node that the world can be cut into, beside groups of `rest`."""
    node = case.settings.positive("trainer.n_gpus_per_node") or world
    share = world // rest if world % rest == 0 else 0  # what does not divide is another rule's
    return lambda size: size <= node and share % size == 0


def _expert_phrase(case: Case, layout: Training) -> Phrase:
    sizes, rest = _expert_sizes(case, layout), f"ETP {layout.expert_tensor} × PP {layout.pipeline}"
    if not sizes:
        return Phrase("NR243.none", {"rest": rest, "world": layout.world})
    return Phrase("NR243.choices", {"rest": rest, "choices": _joined(sizes)})


def _joined(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes))


def _uneven_heads(case: Case, size: int) -> bool:
    """Another rule says so."""
    count = case.model.num_attention_heads if case.model else None
    return bool(count and count % size)


def _layers(case: Case, layout: Training) -> int | None:
    """A job may train fewer layers than the model has, to try things out."""
    key = override(case.settings, layout, "num_layers")
    if case.settings.value(key) is not None:
        return case.settings.positive(key)
    return case.model.num_layers if case.model else None


def _core_text(case: Case) -> str:
    return case.stack.megatron_core if case.stack else ""


def _core_release(case: Case) -> tuple[int, ...] | None:
    """`core_v0.12.1` → (0, 12, 1)."""
    numbers = re.search(r"\d+(\.\d+)+", _core_text(case))
    return version_key(numbers[0]) if numbers else None


def _ulysses_place(case: Case, layout: Training) -> Place | None:
    """Where the job (or MindSpeed's default) asks for the algorithm that cuts heads; None: it does not."""
    keys = [
        f"{layout.section}.{part}.context_parallel_algo" for part in ("override_transformer_config", "mcore_kwargs")
    ]
    if all(case.settings.text(key) != "ulysses_cp_algo" for key in keys):
        return None
    return case.settings.place(f"{layout.section}.context_parallel_size", *keys)


def _sizes(layout: Training, names: list[str]) -> str:
    return " × ".join(f"{_SHORT[name]} {getattr(layout, name)}" for name in names)


def _fsdp_key(role: str, layout: Training) -> str | None:
    if layout.strategy == "veomni":
        return f"{role}.veomni.fsdp_size"
    return f"{role}.fsdp_config.fsdp_size" if layout.strategy in _FSDP else None
