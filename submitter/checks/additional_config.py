"""vLLM-Ascend's own options, `engine_kwargs.vllm.additional_config`: which release reads which key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime_env.verl_defaults import version_key
from submitter.checks.case import Case
from submitter.checks.engine import ADDITIONAL, uses_vllm
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.job.nearest import nearest

Release = tuple[int, int]


@dataclass(frozen=True)
class Span:
    """The releases that read a key."""

    first: Release
    last: Release | None
    """None: still read on main."""

    def holds(self, release: Release) -> bool:
        return self.first <= release and (self.last is None or release <= self.last)

    def spelled(self) -> str:
        last = f"{self.last[0]}.{self.last[1]}" if self.last else ""
        return f"{self.first[0]}.{self.first[1]}–{last}"


_OLDEST = (0, 13)
_MAIN = (0, 27)
"""main of August 2026, the branch after 0.26."""

# first-last release of vLLM-Ascend: keys. Read from each release branch from 0.13 to 0.26 and from main.
_TABLE = """
0.13-     ascend_compilation_config dump_config_path enable_cpu_binding enable_kv_nz enable_shared_expert_dp eplb_config
0.13-     finegrained_tp_config mix_placement multistream_overlap_shared_expert pa_shape_list refresh xlite_graph_config
0.13-0.13 dynamic_eplb enable_kv_tnd enable_npugraph_ex eplb_policy_type expert_map_path expert_map_record_path
0.13-0.13 gate_eplb init_redundancy_expert num_iterations_eplb_update num_wait_worker_iterations
0.13-0.21 multistream_dsa_preprocess
0.13-0.23 SLO_limits_for_dynamic_batch layer_sharding multistream_overlap_gate weight_prefetch_config
0.13-0.24 enable_async_exponential recompute_scheduler_enable
0.18-     ascend_fusion_config enable_mc2_hierarchy_comm
0.18-0.25 enable_sparse_c8
0.20-     dump_config enable_balance_scheduling enable_dsa_cp enable_flashcomm1 enable_fused_mc2 enable_mlapo
0.20-     enable_reduce_sample enable_transpose_kv_cache_by_block msmonitor_use_daemon multistream_dsv4_dsa_overlap
0.20-     weight_nz_mode
0.20-0.21 enable_context_parallel prefill_comm_compute_overlap
0.20-0.24 enable_flashcomm2_parallel_size enable_hamming_sparse enable_matmul_allreduce hamming_sparse
0.20-0.24 profiling_chunk_config
0.21-     c8_enable_reshape_optim rejection_sampler_config
0.21-0.24 dp_allreduce_on_npu
0.22-     ascend_log_path
0.23-     enable_prefill_mc2 enable_sparse_li_c8 enable_sparse_sfa_c8 mega_moe_max_tokens
0.23-0.26 enable_sleep_mode_extra_cleanup
0.24-     draft_window_size
0.24-0.24 short_request_first_config
0.25-     scheduler_config
0.26-     sparse_kv_offload_config
0.27-     dynamic_spec_config rl_config
"""

_MOVED: Mapping[str, str] = {
    "enable_sleep_mode_extra_cleanup": "rl_config.sleep_mode_extra_cleanup",
    "enable_npugraph_ex": "ascend_compilation_config.enable_npugraph_ex",
    "dynamic_eplb": "eplb_config.dynamic_eplb",
    "eplb_policy_type": "eplb_config.eplb_policy_type",
    "expert_map_path": "eplb_config.expert_map_path",
    "expert_map_record_path": "eplb_config.expert_map_record_path",
    "init_redundancy_expert": "eplb_config.num_redundant_experts",
    "num_iterations_eplb_update": "eplb_config.expert_heat_collection_interval",
    "num_wait_worker_iterations": "eplb_config.algorithm_execution_interval",
    "ascend_scheduler_config": "scheduler_config",
}
_REFUSED_ON_MAIN = frozenset({"enable_sleep_mode_extra_cleanup"})
"""Keys whose old name ends the engine (ValueError), instead of being passed over."""

_STRICT: Mapping[str, tuple[Release, frozenset[str]]] = {
    # structures whose reader raises for a key that it does not know: since which release, and what it knows
    "rl_config": (
        _MAIN,
        frozenset({"enabled", "sleep_mode_extra_cleanup", "enable_training_consistency", "enable_batch_invariant"}),
    ),
    "eplb_config": (
        (0, 18),
        frozenset({"dynamic_eplb", "expert_map_path", "expert_heat_collection_interval", "num_redundant_experts"})
        | {"algorithm_execution_interval", "expert_map_record_path", "eplb_policy_type"},
    ),
}


def _spans() -> dict[str, Span]:
    spans: dict[str, Span] = {}
    for line in _TABLE.split("\n"):
        versions, *names = line.split() or [""]
        first, _, last = versions.partition("-")
        for name in names:
            spans[name] = Span(_release(first), _release(last) if last else None)
    return spans


def _release(text: str) -> Release:
    major, minor = version_key(text)[:2]
    return major, minor


_SPANS = _spans()


def unread_keys(case: Case) -> list[Finding]:
    """Source: vllm_ascend/ascend_config.py of the release branches 0.13 to 0.26 and of main of August 2026."""
    if not uses_vllm(case.settings):
        return []
    below = case.settings.below(ADDITIONAL)
    names = dict.fromkeys(name.partition(".")[0] for name in below)
    release = _vllm_ascend(case)
    found = [_unread(case, name, release) for name in names]
    strict = [_refused(case, name, below, release) for name in names if name in _STRICT]
    return [one for one in (*found, *strict) if one is not None]


RULES = (Rule("NR305", ("error", "warning", "hint"), unread_keys, ppo=True),)


def _vllm_ascend(case: Case) -> Release | None:
    """None: not known, or older than what was read."""
    text = case.stack.vllm_ascend if case.stack else ""
    if text == "main":
        return _MAIN
    numbers = version_key(text)[:2]
    return (numbers[0], numbers[1]) if len(numbers) == 2 and numbers >= _OLDEST else None


def _unread(case: Case, name: str, release: Release | None) -> Finding | None:
    """Not read by the job's release, or refused by a later one; where the release is unknown: read by none."""
    span = _SPANS.get(name)
    read = span is not None and (release is None or span.holds(release))
    if read and name not in _REFUSED_ON_MAIN:
        return None
    place = case.settings.place(*_below(case.settings, name))
    values: dict[str, object] = {"name": name, "instead": _instead(name, release), "release": _release_text(case)}
    severity = _severity(name, read and release is not None, release)
    return Finding("NR305", severity, place, name, span.spelled() if span else "-", values)


def _severity(name: str, read: bool, release: Release | None) -> Severity:
    if name in _REFUSED_ON_MAIN and release is not None and release >= _MAIN:
        return "error"
    return "hint" if read else "warning"


def _instead(name: str, release: Release | None) -> str:
    return _MOVED.get(name) or nearest(
        name, [key for key, span in _SPANS.items() if not release or span.holds(release)]
    )


def _refused(case: Case, name: str, below: Mapping[str, object], release: Release | None) -> Finding | None:
    since, known = _STRICT[name]
    keys = [key.partition(".")[2].partition(".")[0] for key in below if key.startswith(f"{name}.")]
    wrong = next((key for key in keys if key not in known), None)
    if wrong is None or release is None or release < since:
        return None
    place = case.settings.place(f"{ADDITIONAL}.{name}.{wrong}", *_below(case.settings, name))
    values: dict[str, object] = {
        "name": f"{name}.{wrong}",
        "instead": nearest(wrong, known),
        "release": _release_text(case),
    }
    return Finding("NR305", "error", place, f"{name}.{wrong}", "-", values)


def _release_text(case: Case) -> str:
    return case.stack.vllm_ascend if case.stack else "?"


def _below(settings: Settings, name: str) -> list[str]:
    """The keys as they are set: the one itself, or those inside of it."""
    start = f"{ADDITIONAL}.{name}"
    return [start, *(key for key in settings.given() if key.startswith(f"{start}."))]
