"""Job files gone wrong in the ways that hands do it: lines lost, doubled, swapped, values of the wrong kind."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

import jobs
from submitter.checks.examine import Report, examine
from submitter.errors import UsageError
from submitter.texts import LANGUAGES
from tests.support.job_files import HOME, load_text
from tests.support.values import HOSTILE

SMALL = """\
name: small
stack: cann-9.1.0
cluster: {nodes: 1, npus_per_node: 8}
trainer: {module: verl.trainer.main_ppo}
env:
  TASK_QUEUE_ENABLE: 1
  HCCL_CONNECT_TIMEOUT: 1200
  PYTORCH_NPU_ALLOC_CONF: max_split_size_mb:512
arguments:
  all:
    algorithm.adv_estimator: grpo
    algorithm.use_kl_in_reward: false
    data.train_files: /data/train.parquet
    data.val_files: /data/test.parquet
    data.train_batch_size: 64
    data.max_prompt_length: 512
    data.max_response_length: 1024
    actor_rollout_ref.model.path: Qwen/Qwen3-8B
    actor_rollout_ref.actor.optim.lr: 1e-6
    actor_rollout_ref.actor.ppo_mini_batch_size: 32
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu: 2
    actor_rollout_ref.actor.ulysses_sequence_parallel_size: 2
    actor_rollout_ref.actor.use_kl_loss: true
    actor_rollout_ref.actor.fsdp_config.param_offload: true
    actor_rollout_ref.rollout.name: vllm
    actor_rollout_ref.rollout.n: 8
    actor_rollout_ref.rollout.tensor_model_parallel_size: 2
    actor_rollout_ref.rollout.gpu_memory_utilization: 0.6
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu: 4
    actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu: 4
    trainer.n_gpus_per_node: 8
    trainer.nnodes: 1
    trainer.save_freq: 20
    trainer.default_local_dir: /ckpt/small
    trainer.logger: [console, tensorboard]
"""
BASES = tuple(text.splitlines() for text in (jobs.find("qwen3_5_122b_a10b_32k").read_text(), SMALL))

VALUES = (
    "", "null", "~",
    "true", "false", "0", "-1", "1", "2", "3", "7", "64", "0.5", "-0.0", "1e-6", "1e400", ".inf", ".nan",
    "nan", "99999999999999999", str(10**30), "9" * 400, "-" + "9" * 20, "0x10", "1_000", "1:30", "[]", "{}", "[1, 2]",
    "[[1], {a: b}]", "{a: {b: [1]}}", "'text'", "世界", "'é\u200d☃'", "'١٢'", "'１６'", "[null]", "{$text: '['}",
    "{$text: '{a:1}'}", "{$text: 'choice(1,2)'}", "{$text: '${actor_rollout_ref.rollout.n}'}", "'${TP}'",
    "'${{ 1 // 0 }}'",
    "{$text: '${trainer.nnodes}'}", "{$text: '${..n}'}", "expandable_segments:True", "megatron", "fsdp2", "vllm", "/",
    "'/no/such\\0file'", "/dev/zero", "'~'", "../..", "'a b'", '"line\\nbreak"',
)  # fmt: skip
"""As they stand in YAML."""

_value = st.one_of(
    st.sampled_from(VALUES),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(HOSTILE).map(lambda text: "{$text: " + _quoted(text) + "}"),
    st.text(max_size=12).map(lambda text: _quoted(text)),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A job file with one to four mistakes."""
    lines = list(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 4))):
        pairs = [index for index, line in enumerate(lines) if ": " in line]
        draw(st.sampled_from(_MISTAKES))(draw, lines, draw(st.sampled_from(pairs)))
    return "\n".join(lines) + "\n"


def outcome(text: str, folder: Path, **how: object) -> Report | UsageError:
    """Any other exception is a bug; what is said is said in one line, in both languages."""
    try:
        report = examine(load_text(text.encode("utf-8", "surrogatepass"), folder, environ=HOME), **how)  # type: ignore[arg-type]
    except UsageError as error:
        return error
    for language in LANGUAGES:
        said = [finding.message(language) for finding in report.findings]
        said += [finding.fix(language) for finding in report.findings]
        said += [one.message(language) for one in report.not_checked]
        assert all(len(line.splitlines()) == 1 for line in said)
    return report


def _delete(_draw: st.DrawFn, lines: list[str], at: int) -> None:
    del lines[at]


def _double(_draw: st.DrawFn, lines: list[str], at: int) -> None:
    lines.insert(at, lines[at])


def _swap_values(draw: st.DrawFn, lines: list[str], at: int) -> None:
    other = draw(st.sampled_from([index for index, line in enumerate(lines) if ": " in line]))
    (left, _, here), (right, _, there) = lines[at].partition(": "), lines[other].partition(": ")
    lines[at], lines[other] = f"{left}: {there}", f"{right}: {here}"


def _set_value(draw: st.DrawFn, lines: list[str], at: int) -> None:
    lines[at] = f"{lines[at].partition(': ')[0]}: {draw(_value)}"


def _misspell(draw: st.DrawFn, lines: list[str], at: int) -> None:
    key, colon, value = lines[at].partition(": ")
    cut = draw(st.integers(len(key) - len(key.lstrip()), len(key)))
    lines[at] = key[:cut] + draw(st.sampled_from(["", "x", ".", "_", "+", "~"])) + key[cut + 1 :] + colon + value


def _indent(draw: st.DrawFn, lines: list[str], at: int) -> None:
    lines[at] = " " * draw(st.integers(0, 6)) + lines[at].lstrip()


_MISTAKES = (_set_value, _set_value, _set_value, _set_value, _delete, _double, _swap_values, _misspell, _indent)
"""A value that is wrong is the mistake that reaches the rules: the others often end at the loader."""


def _quoted(text: str) -> str:
    return (
        '"' + "".join(f"\\U{ord(char):08x}" if not char.isalnum() or ord(char) > 127 else char for char in text) + '"'
    )
