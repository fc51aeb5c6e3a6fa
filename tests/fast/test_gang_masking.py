"""Masking of evidence: no value of a secret is left, and what explains a failure stays readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.masking import LONGEST_LINE, known_values, mask

KEY = "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0"

SECRET_LINES = (
    f"WANDB_API_KEY={KEY}",
    f"export WANDB_API_KEY='{KEY}' && python3 train.py",
    f"'env_vars': {{'WANDB_API_KEY': '{KEY}', 'VLLM_USE_V1': '1'}}",
    f'RAY_JOB_CONFIG_JSON: {{\\"HF_TOKEN\\": \\"{KEY}\\"}}',
    f"headers: {{'Authorization': 'Bearer {KEY}'}}",
    "Authorization: Basic dXNlcjpwYXNz",
    f'  File "x.py", line 3, in login\n    wandb.login(key="{KEY}")\nWANDB_KEY={KEY}',
    f"wandb login --api-key {KEY} --relogin",
    f"{{'accessToken': '{KEY}'}}",
    "db.password = 'hunter2-hunter2'",
    "swanlab: cannot reach https://user:hunter2secret@swan.example.com/api",
    f"GET https://obs.example.com/x?X-Amz-Signature={KEY}&y=1",
    "token hf_abcdefghijklmnopqrstuvwxyz0123456789 was refused",
    f"b'Cookie': b'session={KEY}'",
    f"aws_access_key_id={KEY}",
    f"OBS_SK={KEY}",
)

PLAIN_LINES = (
    "    self.token = tokenizer.encode(text)",
    "KeyError: 'actor_rollout_ref.rollout.max_num_batched_tokens'",
    "data.prompt_key=prompt data.max_prompt_length=4096 rollout.max_num_batched_tokens: 36864",
    "[rank3]: RuntimeError: HCCL error EI0006: Getting socket times out, 10.0.0.4:60000",
    "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.32 GiB (NPU 0; 60.96 GiB total capacity)",
    "(WorkerDict pid=4711, ip=10.0.0.2) eos_token: <|im_end|> pad_token_id=151643",
    "ValueError: train_batch_size (63) must be divisible by ppo_mini_batch_size (16)",
    "  token = self.queue.get(timeout=5)",
)


@pytest.mark.parametrize("line", SECRET_LINES)
def test_no_secret_stays(line: str) -> None:
    shown = mask(line)
    assert "***" in shown
    for part in (KEY, "hunter2", "dXNlcjpwYXNz", "hf_abc"):
        assert part not in shown


@pytest.mark.parametrize("line", PLAIN_LINES)
def test_what_explains_a_failure_stays(line: str) -> None:
    assert mask(line) == line


def test_names_and_values_of_the_job_are_masked_wherever_they_stand() -> None:
    assert mask("LICENCE=abc, x", names=("LICENCE",)) == "LICENCE=***, x"
    assert mask("{'LICENCE': 'abc'}", names=("LICENCE",)) == "{'LICENCE': '***'}"
    assert mask("server said: open sesame!", values=("open sesame",)) == "server said: ***!"


def test_values_are_read_where_their_references_lead(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("first line of it\nsecond line of it\nab\n")
    references = {"A": {"file": str(file)}, "B": {"env": "OTHER"}, "C": {"file": "/nowhere"}, "D": {"env": "SHORT"}}
    values = known_values(references, {"OTHER": "from the node", "SHORT": "abc"})
    assert values == {"first line of it", "second line of it", "from the node"}


@given(st.text(), st.sampled_from(SECRET_LINES))
def test_masking_again_changes_nothing(text: str, line: str) -> None:
    shown = mask(f"{text} {line}")
    assert KEY not in shown
    assert mask(shown) == shown


def test_a_long_line_is_cut_and_takes_no_time() -> None:
    for piece in ("a", "a:", "eyJ", "='", "://a", "token=", '\\"'):
        assert len(mask(piece * 500_000)) < 3 * LONGEST_LINE


def test_where_a_long_line_is_cut_no_half_of_a_secret_is_left() -> None:
    key = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
    for shown in range(1, len(key)):
        assert "hf" not in mask(f"{'x' * (LONGEST_LINE - shown - 1)} {key} more")
    assert len(mask("y" * 2 * LONGEST_LINE)) == LONGEST_LINE + 1
