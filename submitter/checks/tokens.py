"""Token limits: prompts and responses against the model, the rollout engine and the token caps of training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from submitter.checks.batch_facts import (
    N,
    flow_of,
    layout_of,
    sure,
)
from submitter.checks.case import Case
from submitter.checks.engine import FALSE_HANDED_ON
from submitter.checks.finding import Finding, Severity
from submitter.checks.parallel import ACTOR, CRITIC, REF, ROLLOUT, Training
from submitter.checks.roles import needs_critic, needs_reference, reference_in_actor, uses_engine
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings

_PROMPT, _RESPONSE = f"{ROLLOUT}.prompt_length", f"{ROLLOUT}.response_length"
_DATA_PROMPT, _DATA_RESPONSE = "data.max_prompt_length", "data.max_response_length"
_MODEL_LEN = f"{ROLLOUT}.max_model_len"
_BATCHED, _SEQS = "max_num_batched_tokens", "max_num_seqs"
_CRITIC_INFER = "critic.ppo_infer_max_token_len_per_gpu"
_CRITIC_INFER_DEFAULT = 32768
"""Of CriticConfig; the key is in none of verl's YAML files."""
_MANAGERS = ("reward_model.reward_manager", "reward.reward_manager.name")
_MANAGER_VALUES = ("reward_model.reward_kwargs", "reward.reward_kwargs")
"""As the reward manager and its values were named before 0.7.1, which still counts, and since."""
_TEACHERS = "distillation.teacher_models"


@dataclass(frozen=True)
class _Cap:
    """A limit of tokens per NPU, and what it is multiplied by: ranks that share a sequence."""

    key: str
    tokens: int
    layout: Training

    @property
    def effective(self) -> int:
        return self.tokens * self.layout.packing

    def spelled(self) -> str:
        factor = "CP" if self.layout.context > 1 else "SP"
        name = self.key.rpartition(".")[2]
        if self.layout.packing == 1:
            return f"{name} {self.tokens}"
        return f"{name} {self.tokens} × {factor} {self.layout.packing} = {self.effective}"


def over_model_len(case: Case) -> list[Finding]:
    """Source: verl vllm_async_server.py and async_sglang_server.py, generate: max_tokens is cut to what is left."""
    limit, sizes = _engine_number(case.settings, "max_model_len"), _lengths(case.settings)
    if limit is None or sizes is None or sum(sizes) <= limit:
        return []
    severity: Severity = "error" if sizes[0] >= limit else "warning"
    place = case.settings.place(*_engine_keys("max_model_len"), _DATA_RESPONSE, _DATA_PROMPT)
    return [Finding("NR221", severity, place, str(sum(sizes)), str(limit), {"arithmetic": _sum(sizes)})]


def over_positions(case: Case) -> list[Finding]:
    """Source: verl workers/rollout/*, `max_model_len … max_position_embeddings` (ValueError; it knows no scaling)."""
    limit, asked = _positions(case), case.settings.positive(_MODEL_LEN)
    if limit is None or asked is None or asked <= limit or case.model is None:
        return []
    severity: Severity = "error" if case.model.source == "config.json" else "warning"
    values: dict[str, object] = {"said": case.model.said}
    return [Finding("NR222", severity, case.settings.place(_MODEL_LEN), str(asked), str(limit), values)]


def longer_than_context(case: Case) -> list[Finding]:
    """Source: verl workers/rollout/*: max_model_len is max_position_embeddings by default; answers are cut to it."""
    limit, sizes = _positions(case), _lengths(case.settings)
    if limit is None or sizes is None or case.model is None or sum(sizes) <= limit:
        return []
    if case.settings.positive(_MODEL_LEN) is not None:
        return []  # told by NR221 and NR222
    certain = sizes[0] >= limit and case.model.source == "config.json"
    values: dict[str, object] = {"arithmetic": _sum(sizes), "said": case.model.said, "left": max(limit - sizes[0], 0)}
    place = case.settings.place(_DATA_RESPONSE, _DATA_PROMPT, _RESPONSE, _PROMPT)
    return [Finding("NR223", "error" if certain else "warning", place, str(sum(sizes)), str(limit), values)]


def unchunked_prefill(case: Case) -> list[Finding]:
    """Source: verl vllm_rollout/utils.py, build_cli_args_from_config; 0.9.1 vllm_async_server.py; vllm scheduler.py."""
    settings = case.settings
    budget, sizes = _engine_number(settings, _BATCHED), _lengths(settings)
    off = settings.truth(f"{ROLLOUT}.enable_chunked_prefill") is False
    if not off or settings.text(f"{ROLLOUT}.name") != "vllm" or budget is None or sizes is None:
        return []
    needed, model_len = sum(sizes), settings.positive(_MODEL_LEN)
    arithmetic = f"max_model_len {model_len}" if model_len else _sum(sizes)
    needed = model_len or needed
    severity: Severity = "warning" if budget < needed else "hint"
    if severity == "hint" and case.verl_release == FALSE_HANDED_ON:  # it raises the budget where vLLM would stop
        return []
    place = settings.place(f"{ROLLOUT}.enable_chunked_prefill", f"{ROLLOUT}.{_BATCHED}")
    values: dict[str, object] = {"arithmetic": arithmetic, "sign": "<" if budget < needed else ">="}
    return [Finding("NR224", severity, place, str(budget), str(needed), values)]


def batched_under_sequences(case: Case) -> list[Finding]:
    """Source: vllm config/scheduler.py: max_num_batched_tokens must be at least max_num_seqs (ValueError)."""
    settings = case.settings
    budget, sequences = _engine_number(settings, _BATCHED), _engine_number(settings, _SEQS)
    if settings.text(f"{ROLLOUT}.name") != "vllm" or budget is None or sequences is None or budget >= sequences:
        return []
    place = settings.place(*_engine_keys(_BATCHED), *_engine_keys(_SEQS))
    return [Finding("NR225", sure(case), place, str(budget), str(sequences))]


def cap_under_sequence(case: Case) -> list[Finding]:
    """Source: verl utils/seqlen_balancing.py, rearrange_micro_batches (0.7.1: padded width; later: longest sample)."""
    sizes, found = _lengths(case.settings), []
    if sizes is None:
        return []
    for effective in dict.fromkeys(cap.effective for cap in _caps(case)):
        caps = [cap for cap in _caps(case) if cap.effective == effective]
        if effective >= sum(sizes):
            continue
        least = -(-sum(sizes) // caps[0].layout.packing)
        values: dict[str, object] = {
            "names": ", ".join(f"+{cap.key}" if cap.key == _CRITIC_INFER else cap.key for cap in caps),
            "arithmetic": f"{caps[0].spelled()} < {_sum(sizes)}",
            "least": least,
        }
        place = case.settings.place(*(key for cap in caps for key in _set_by(cap)), _DATA_RESPONSE)
        found.append(Finding("NR226", sure(case), place, str(effective), str(sum(sizes)), values))
    return found


def packed_tokens(case: Case) -> list[Finding]:
    """Source: verl workers/engine/utils.py and megatron_actor.py: the cap is multiplied by CP or SP."""
    sizes = _lengths(case.settings)
    if sizes is None:
        return []
    large = [cap for cap in _caps(case) if cap.layout.packing > 1 and cap.tokens >= sum(sizes)]
    return [
        Finding(
            "NR227",
            "hint",
            case.settings.place(*_set_by(cap)),
            str(cap.effective),
            str(sum(sizes)),
            {"arithmetic": cap.spelled(), "longest": _sum(sizes), "share": cap.tokens, "parts": cap.layout.packing},
        )
        for cap in {cap.effective: cap for cap in reversed(large)}.values()
    ]


def aligned_lengths(case: Case) -> list[Finding]:
    """Source: verl models/mcore/util.py, `align_size` (0.7.1 to main): every sequence is padded to it."""
    layout, sizes = layout_of(case, ACTOR), _lengths(case.settings)
    if layout is None or sizes is None or layout.strategy != "megatron":
        return []
    unit = layout.tensor * layout.context * (2 if layout.context > 1 else 1)
    if unit == 1 or sum(sizes) % unit == 0:
        return []
    align = f"TP {layout.tensor}" + (f" × CP {layout.context} × 2 = {unit}" if layout.context > 1 else "")
    padded = -(-sum(sizes) // unit) * unit
    values: dict[str, object] = {"arithmetic": f"{_sum(sizes)}; {sum(sizes)} % ({align}) = {sum(sizes) % unit}"}
    place = case.settings.place(_DATA_PROMPT, _DATA_RESPONSE, _PROMPT, _RESPONSE)
    return [Finding("NR228", "hint", place, str(sum(sizes)), str(padded), values)]


def overlong_buffer(case: Case) -> list[Finding]:
    """Source: verl experimental/reward_loop/reward_manager/dapo.py, __init__ (0.7.1 to main)."""
    settings, sizes = case.settings, _lengths(case.settings)
    found: list[Finding] = []
    manager = next((name for key in _MANAGERS if (name := settings.text(key)) is not None), None)
    if manager != "dapo" or flow_of(case) is None:
        return found
    for start in _MANAGER_VALUES:
        buffer, limit = f"{start}.overlong_buffer_cfg", f"{start}.max_resp_len"
        if settings.truth(f"{buffer}.enable") is not True:
            continue
        length, longest = settings.integer(f"{buffer}.len"), settings.integer(limit)
        unusable = longest is None and not settings.is_set(limit)
        unusable |= length is not None and (length <= 0 or (longest is not None and longest < length))
        differs = sizes is not None and longest is not None and longest != sizes[1]
        if unusable or differs:
            values: dict[str, object] = {"length": length, "response": sizes[1] if sizes else "?", "name": limit}
            place = settings.place(limit, f"{buffer}.len", f"{buffer}.enable")
            severity: Severity = sure(case) if unusable else "warning"
            found.append(Finding("NR229", severity, place, str(longest), str(length), values))
    return found


def unfiltered_prompts(case: Case) -> list[Finding]:
    """Source: verl utils/dataset/rl_dataset.py filters only; agent_loop.py cuts on the left (0.8.0 on) or pads."""
    settings = case.settings
    limit = settings.positive(_DATA_PROMPT)
    if settings.truth("data.filter_overlong_prompts") is not False or limit is None or flow_of(case) is None:
        return []
    place = settings.place("data.filter_overlong_prompts", "data.truncation", _DATA_PROMPT)
    return [Finding("NR230", "hint", place, "False", str(limit))]


def lengths_differ(case: Case) -> list[Finding]:
    """Source: verl experimental/agent_loop/agent_loop.py reads rollout.*_length, the data set filters by data.max_*."""
    settings = case.settings
    pairs = [(_PROMPT, _DATA_PROMPT), (_RESPONSE, _DATA_RESPONSE)]
    return [
        Finding("NR231", "warning", settings.place(own, data), str(used), str(asked), {"own": own, "data": data})
        for own, data in pairs
        for used, asked in [(settings.positive(own), settings.positive(data))]
        if used is not None and asked is not None and used < asked and flow_of(case) is not None
    ]


def ignored_end(case: Case) -> list[Finding]:
    """Source: vllm SamplingParams.ignore_eos, as verl's rollout hands it on: for measurements of speed only."""
    key = f"{ROLLOUT}.ignore_eos"
    if case.settings.truth(key) is not True or flow_of(case) is None:
        return []
    response = case.settings.positive(_RESPONSE)
    return [Finding("NR232", "warning", case.settings.place(key), "True", str(response))]


def few_sequences(case: Case) -> list[Finding]:
    """Source: vllm config/scheduler.py: max_num_seqs sequences run at a time, further ones wait."""
    sequences, n = _engine_number(case.settings, _SEQS), case.settings.positive(N)
    if sequences is None or n is None or sequences >= n or flow_of(case) is None:
        return []
    return [Finding("NR233", "hint", case.settings.place(*_engine_keys(_SEQS), N), str(sequences), str(n))]


def teacher_context(case: Case) -> list[Finding]:
    """Source: verl workers/config/distillation.py, validate_and_prepare_for_distillation (0.8.0 to main)."""
    settings, found = case.settings, []
    if settings.truth("distillation.enabled") is not True:
        return []
    for start in _teachers(settings):
        limit, prompt, response = (
            settings.positive(f"{start}.{key}") for key in ("max_model_len", "prompt_length", "response_length")
        )
        if limit is None or prompt is None or response is None or prompt + response < limit:
            continue
        needed = prompt + response + 1
        values: dict[str, object] = {"arithmetic": f"prompt {prompt} + response {response} + 1 = {needed}"}
        found.append(
            Finding("NR234", "error", settings.place(f"{start}.max_model_len"), str(limit), str(needed), values)
        )
    return found


RULES = (
    Rule("NR221", ("error", "warning"), over_model_len, ppo=True),
    Rule("NR222", ("error", "warning"), over_positions, ppo=True),
    Rule("NR223", ("error", "warning"), longer_than_context, ppo=True),
    Rule("NR224", ("warning", "hint"), unchunked_prefill, ppo=True),
    Rule("NR225", ("error", "warning"), batched_under_sequences, ppo=True),
    Rule("NR226", ("error", "warning"), cap_under_sequence, ppo=True),
    Rule("NR227", ("hint",), packed_tokens, ppo=True),
    Rule("NR228", ("hint",), aligned_lengths, ppo=True),
    Rule("NR229", ("error", "warning"), overlong_buffer, ppo=True),
    Rule("NR230", ("hint",), unfiltered_prompts, ppo=True),
    Rule("NR231", ("warning",), lengths_differ, ppo=True),
    Rule("NR232", ("warning",), ignored_end, ppo=True),
    Rule("NR233", ("hint",), few_sequences, ppo=True),
    Rule("NR234", ("error",), teacher_context, ppo=True),
)


def _lengths(settings: Settings) -> tuple[int, int] | None:
    """(Prompt, response) in tokens, as the rollout pads them."""
    prompt, response = settings.positive(_PROMPT), settings.positive(_RESPONSE)
    return None if prompt is None or response is None else (prompt, response)


def _sum(sizes: tuple[int, int]) -> str:
    return f"prompt {sizes[0]} + response {sizes[1]} = {sum(sizes)}"


def _positions(case: Case) -> int | None:
    return case.model.max_position_embeddings if case.model else None


def _engine_keys(name: str) -> tuple[str, str]:
    """The engine's own arguments win over verl's."""
    return f"{ROLLOUT}.engine_kwargs.vllm.{name}", f"{ROLLOUT}.{name}"


def _engine_number(settings: Settings, name: str) -> int | None:
    own, common = _engine_keys(name)
    return settings.positive(own if settings.is_set(own) else common)


def _caps(case: Case) -> Iterator[_Cap]:
    """Every cap that cuts sequences into micro-batches."""
    for key, prefix, used in [*_policy_caps(case), *_critic_caps(case)]:
        layout = layout_of(case, prefix)
        tokens = _CRITIC_INFER_DEFAULT if key == _CRITIC_INFER and not case.settings.is_set(key) else None
        tokens = tokens or case.settings.positive(key)
        if used and layout is not None and tokens is not None:
            yield _Cap(key, tokens, layout)


def _teachers(settings: Settings) -> list[str]:
    """Where the teachers' engines are set; verl drops its own single one where the job names others."""
    names = list(dict.fromkeys(key.partition(".")[0] for key in settings.below(_TEACHERS)))
    used = [name for name in names if name != "teacher_model"] or names
    return [f"{_TEACHERS}.{name}.inference" for name in used]


def _set_by(cap: _Cap) -> tuple[str, ...]:
    """The keys that decide over it: those of rollout and reference model follow the actor's."""
    return (cap.key,) if cap.key.startswith(CRITIC) else (cap.key, f"{ACTOR}.ppo_max_token_len_per_gpu")


def _policy_caps(case: Case) -> list[tuple[str, str, bool]]:
    """(Key, role whose layout counts, whether it is used)."""
    settings = case.settings
    bypassed = settings.truth("algorithm.rollout_correction.bypass_mode") is True
    reference = needs_reference(settings) and not reference_in_actor(settings)
    return [
        (f"{ACTOR}.ppo_max_token_len_per_gpu", ACTOR, settings.truth(f"{ACTOR}.use_dynamic_bsz") is True),
        (
            f"{ROLLOUT}.log_prob_max_token_len_per_gpu",
            ACTOR,
            settings.truth(f"{ROLLOUT}.log_prob_use_dynamic_bsz") is True and not bypassed,
        ),
        (
            f"{REF}.log_prob_max_token_len_per_gpu",
            REF,
            settings.truth(f"{REF}.log_prob_use_dynamic_bsz") is True and reference,
        ),
    ]


def _critic_caps(case: Case) -> list[tuple[str, str, bool]]:
    """Workers over engines always cut the critic's batch by tokens; the newest trainer only reads the second key."""
    used = needs_critic(case.settings)
    train = "critic.ppo_max_token_len_per_gpu"
    if uses_engine(case.settings):
        return [(train, CRITIC, used and flow_of(case) != "queue"), (_CRITIC_INFER, CRITIC, used)]
    used = used and case.settings.truth("critic.use_dynamic_bsz") is True
    return [(train, CRITIC, used), ("critic.forward_max_token_len_per_gpu", CRITIC, used)]
