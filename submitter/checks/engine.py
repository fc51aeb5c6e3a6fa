"""The rollout engine: its allocator, its graphs, the options that verl and vLLM-Ascend take or refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping

from submitter.checks.case import Case
from submitter.checks.finding import Finding
from submitter.checks.model_shape import ModelShape
from submitter.checks.parallel import ROLLOUT
from submitter.checks.rule import Rule
from submitter.checks.settings import PPO_MODULES, Settings
from submitter.job.model import Flag
from submitter.texts import Phrase

ALLOCATOR_FLAG = "PYTORCH_NPU_ALLOC_CONF"
VLLM = f"{ROLLOUT}.engine_kwargs.vllm"
ADDITIONAL = f"{VLLM}.additional_config"
COMPILATION = f"{VLLM}.compilation_config"

ENGINES = ("vllm", "sglang")
"""verl's rollout engines that exist for NPUs; its third, TensorRT-LLM, is NVIDIA's."""

GRAPH_MODES = ("NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE")
"""vllm/config/compilation.py, CUDAGraphMode: read without regard to case."""
_NPU_COMPILATION_MODES = frozenset({"0", "3", "NONE", "VLLM_COMPILE"})
"""vllm_ascend/platform.py: any other switches graphs off."""

LORA_RANK_LIMIT = 512
"""The largest of vLLM's MaxLoRARanks, read by verl's get_vllm_max_lora_rank (0.7.1 to 0.9.1)."""

FALSE_HANDED_ON = "0.9.1"
"""The one release of verl that tells vLLM of a False."""
_ON_UNLESS_TOLD = (
    # EngineArgs of vLLM 0.13 to 0.23: None, which becomes True for models that answer
    f"{ROLLOUT}.enable_prefix_caching",
    f"{VLLM}.enable_prefix_caching",
    f"{VLLM}.enable_chunked_prefill",
)

_LINEAR_ROWS = ("Qwen3.5", "Qwen3-Next")
"""Models of the table of known shapes, whose linear heads it may not have."""

_OURS_TOO: Mapping[str, str] = {
    # engine argument -> verl's own key below `rollout`; **engine_kwargs comes later in verl's dict and wins.
    "dtype": "dtype",
    "load_format": "load_format",
    "max_model_len": "max_model_len",
    "max_num_seqs": "max_num_seqs",
    "max_num_batched_tokens": "max_num_batched_tokens",
    "enable_chunked_prefill": "enable_chunked_prefill",
    "enable_prefix_caching": "enable_prefix_caching",
    "enforce_eager": "enforce_eager",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "tensor_parallel_size": "tensor_model_parallel_size",
    "logprobs_mode": "logprobs_mode",
}


def expandable_segments(case: Case) -> list[Finding]:
    """Source: vllm_ascend/device_allocator/camem.py (0.11 to 0.26, main) asserts on the flag's text with sleep mode."""
    flag = _flag(case, ALLOCATOR_FLAG)
    if flag is None or "expandable_segments:True" not in flag.value or not sleeps(case.settings):
        return []
    if case.settings.truth(f"{ADDITIONAL}.rl_config.enabled"):  # vLLM-Ascend then takes it out of the flag itself
        return []
    rest = ",".join(part for part in flag.value.split(",") if "expandable_segments" not in part)
    left = Phrase("NR301.rest" if rest else "NR301.nothing", {"name": flag.name, "rest": rest})
    return [Finding("NR301", "error", flag.place, flag.value, values={"name": flag.name, "do": left})]


def task_queue_with_graphs(case: Case) -> list[Finding]:
    """Source: torch_npu, NPUGraph::capture_begin: no capture with TASK_QUEUE_ENABLE = 2."""
    return _with_graphs(case, "NR302", "TASK_QUEUE_ENABLE", "2")


def blocking_with_graphs(case: Case) -> list[Finding]:
    """Source: vllm_ascend/platform.py (0.13, 0.18, 0.23, main): ValueError unless cudagraph_mode is NONE."""
    return _with_graphs(case, "NR303", "ASCEND_LAUNCH_BLOCKING", "1")


def removed_rollout(case: Case) -> list[Finding]:
    """Source: verl/workers/config/rollout.py and rollout/base.py, get_rollout_class (0.7.1 to 0.9.1)."""
    settings = case.settings
    if case.job.trainer.module not in PPO_MODULES:  # a trainer of one's own may bring its own rollout
        return []
    found = []
    mode, name = settings.text(f"{ROLLOUT}.mode"), settings.text(f"{ROLLOUT}.name")
    own = extended(case)
    if mode is not None and mode != "async" and (mode == "sync" or not own):
        found.append(Finding("NR304", "error", settings.place(f"{ROLLOUT}.mode"), mode, "async"))
    if name not in (None, "???", *ENGINES) and not own:
        found.append(Finding("NR304", "error", settings.place(f"{ROLLOUT}.name"), name, ", ".join(ENGINES)))
    return found


def compilation_modes(case: Case) -> list[Finding]:
    """Source: vllm/config/compilation.py; vllm_ascend/platform.py, check_and_update_config (0.13 to 0.23)."""
    if not uses_vllm(case.settings):
        return []
    given = compilation(case.settings)
    graphs, mode = given.get("cudagraph_mode"), given.get("mode")
    place = case.settings.place(f"{COMPILATION}.cudagraph_mode", COMPILATION)
    if isinstance(graphs, str) and graphs.upper() not in GRAPH_MODES:
        return [Finding("NR306", "error", place, graphs, ", ".join(GRAPH_MODES), {"name": "cudagraph_mode"})]
    if isinstance(mode, bool) or not isinstance(mode, (int, str)) or str(mode).upper() in _NPU_COMPILATION_MODES:
        return []
    place = case.settings.place(f"{COMPILATION}.mode", COMPILATION)
    return [Finding("NR306", "warning", place, str(mode), "0 (NONE), 3 (VLLM_COMPILE)", {"name": "mode"})]


def capture_sizes(case: Case) -> list[Finding]:
    """Source: vllm/config/vllm.py: a decode batch is never larger than max_num_seqs; each size costs streams."""
    settings = case.settings
    place, sizes = _capture_sizes(settings)
    limit = settings.integer(f"{ROLLOUT}.max_num_seqs")
    useless = [size for size in sizes if limit is not None and size > limit]
    if not useless or not graphs_on(settings):
        return []
    shown = ", ".join(str(size) for size in useless)
    return [Finding("NR307", "hint", settings.place(place), shown, str(limit), {"count": len(sizes)})]


def said_twice(case: Case) -> list[Finding]:
    """Source: verl/workers/rollout/vllm_rollout/vllm_async_server.py, launch_server (0.7.1 to 0.9.1)."""
    settings = case.settings
    if not uses_vllm(settings):
        return []
    return [
        Finding(
            "NR308", "warning", settings.place(f"{VLLM}.{name}"), str(theirs), str(ours), {"own": f"{ROLLOUT}.{key}"}
        )
        for name, key in _OURS_TOO.items()
        if (theirs := settings.value(f"{VLLM}.{name}")) is not None
        and (ours := settings.value(f"{ROLLOUT}.{key}")) is not None
        and theirs != ours
    ]


def lora_rank(case: Case) -> list[Finding]:
    """Source: verl/utils/config.py, validate_config → get_vllm_max_lora_rank (0.7.1 to 0.9.1)."""
    settings = case.settings
    keys = ("actor_rollout_ref.model.lora.rank", "actor_rollout_ref.model.lora_rank")
    rank = next((rank for key in keys if (rank := settings.integer(key)) is not None and rank > 0), None)
    if rank is None or not uses_vllm(settings) or settings.truth("actor_rollout_ref.model.lora.merge"):
        return []
    if rank <= LORA_RANK_LIMIT:
        return []
    return [Finding("NR309", "error", settings.place(*keys), str(rank), str(LORA_RANK_LIMIT))]


def false_not_told(case: Case) -> list[Finding]:
    """Source: verl's vllm_rollout/utils.py, build_cli_args_from_config: a False is left out (all but 0.9.1)."""
    settings, release = case.settings, case.verl_release
    if not uses_vllm(settings) or release == FALSE_HANDED_ON:
        return []
    return [
        Finding("NR235", "warning", settings.place(key), "False", f"verl {release}", _negated(key))
        for key in _ON_UNLESS_TOLD
        if settings.is_set(key) and settings.truth(key) is False
        if not (key.endswith("prefix_caching") and _linear(case.model))
    ]


def frees_cache_apart(case: Case) -> list[Finding]:
    """Source: verl/experimental/one_step_off_policy/config: off, and said to be needed so (0.7.1 to main)."""
    settings, key = case.settings, f"{ROLLOUT}.free_cache_engine"
    if not settings.config.startswith("one_step_off") or settings.truth(key) is not True:
        return []
    return [Finding("NR320", "warning", settings.place(key), "True", "False")]


RULES = (
    Rule("NR235", ("warning",), false_not_told, ppo=True),
    Rule("NR301", ("error",), expandable_segments, ppo=True),
    Rule("NR302", ("error",), task_queue_with_graphs, ppo=True),
    Rule("NR303", ("error",), blocking_with_graphs, ppo=True),
    Rule("NR304", ("error",), removed_rollout, ppo=True),
    Rule("NR306", ("error", "warning"), compilation_modes, ppo=True),
    Rule("NR307", ("hint",), capture_sizes, ppo=True),
    Rule("NR308", ("warning",), said_twice, ppo=True),
    Rule("NR309", ("error",), lora_rank, ppo=True),
    Rule("NR320", ("warning",), frees_cache_apart, ppo=True),
)


def uses_vllm(settings: Settings) -> bool:
    return settings.text(f"{ROLLOUT}.name") == "vllm"


def sleeps(settings: Settings) -> bool:
    """vLLM builds its memory pool whenever sleep mode is on, also where nobody calls sleep; on is verl's default."""
    if not uses_vllm(settings):
        return False
    keys = (f"{VLLM}.enable_sleep_mode", f"{ROLLOUT}.enable_sleep_mode")
    return next((value for key in keys if (value := settings.truth(key)) is not None), True)


def graphs_on(settings: Settings) -> bool:
    """The engine captures graphs; False also where that cannot be told."""
    if settings.text(f"{ROLLOUT}.name") not in ENGINES:
        return False
    eager = settings.truth(f"{VLLM}.enforce_eager") if uses_vllm(settings) else None
    eager = settings.truth(f"{ROLLOUT}.enforce_eager") if eager is None else eager
    if eager is not False:
        return False
    if not uses_vllm(settings):
        return settings.truth(f"{ROLLOUT}.engine_kwargs.sglang.disable_cuda_graph") is not True
    given = compilation(settings)
    mode, level = given.get("cudagraph_mode"), given.get("mode")
    off = str(mode).upper() in ("NONE", "0") if mode is not None else False
    full_xlite = settings.truth(f"{ADDITIONAL}.xlite_graph_config.full_mode")
    return not off and level not in (0, 1, 2, "0", "1", "2") and full_xlite is not True


def compilation(settings: Settings) -> Mapping[str, object]:
    """vLLM's compilation_config, given as a dict or as the JSON text of one; empty where neither."""
    text = settings.value(COMPILATION)
    if not isinstance(text, str):
        return settings.below(COMPILATION)
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def extended(case: Case) -> bool:
    """Modules of the user's are imported into verl: they may register what verl itself does not know."""
    modules = _flag(case, "VERL_USE_EXTERNAL_MODULES")
    return modules is not None or case.settings.value("actor_rollout_ref.model.external_lib") is not None


def _linear(model: ModelShape | None) -> bool:
    """With linear attention: vLLM caches no prefixes of such a model unless told to."""
    return model is not None and (model.linear_key_heads is not None or model.path.startswith(_LINEAR_ROWS))


def _negated(key: str) -> dict[str, object]:
    """How vLLM is told all the same: a flag without a value."""
    name = key.rpartition(".")[2]
    return {"name": name, "instead": f"+{VLLM}.no-{name.replace('_', '-')}=True"}


def _with_graphs(case: Case, rule: str, name: str, value: str) -> list[Finding]:
    flag = _flag(case, name)
    if flag is None or flag.value.strip() != value or not graphs_on(case.settings):
        return []
    if rule == "NR303" and not uses_vllm(case.settings):
        return []
    keys = (f"{VLLM}.enforce_eager", f"{ROLLOUT}.enforce_eager")
    eager = case.settings.place(*keys)
    said = any(case.settings.is_set(key) for key in keys)
    told = f"{eager.file}:{eager.line}" if eager.line else eager.key
    where = told if said else Phrase("NR302.default")
    return [Finding(rule, "error", flag.place, flag.value, values={"name": name, "eager": where})]


def _flag(case: Case, name: str) -> Flag | None:
    """Of the job, or of verl's own ray.init."""
    own = next((flag for flag in case.job.flags if flag.name == name), None)
    key = f"ray_kwargs.ray_init.runtime_env.env_vars.{name}"
    value = case.settings.value(key)
    if own is not None or not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return own
    return Flag(name, str(value), case.settings.place(key))


def _capture_sizes(settings: Settings) -> tuple[str, list[int]]:
    """Where they are given, and which."""
    key = f"{ROLLOUT}.cudagraph_capture_sizes"
    sizes: object = settings.value(key)
    if sizes is None:
        key, sizes = f"{COMPILATION}.cudagraph_capture_sizes", compilation(settings).get("cudagraph_capture_sizes")
    items = sizes if isinstance(sizes, list) else []
    return key, [size for size in items if isinstance(size, int) and not isinstance(size, bool)]
