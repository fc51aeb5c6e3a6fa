"""What a rehearsal trains: a tiny random Qwen2, a byte tokenizer, sums of two digits. `python assets.py FOLDER`.

Run as a process of its own, so that torch and transformers are never in `npurun`'s.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

MAKE_WAIT_S = 120.0
"""About 8 s on an idle core: torch and transformers are imported."""
SEED = 1
PAD, END, START, TURN_END = "<|pad|>", "<|end|>", "<|start|>", "<|turn_end|>"
TEMPLATE = (
    "{% for message in messages %}<|start|>{{ message['role'] }}\n{{ message['content'] }}<|turn_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
TRAIN_ROWS = 256
TEST_ROWS = 16
# 87 thousand parameters: a training step on 4 ranks of 2 cores is a matter of seconds.
SHAPE = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}


def make(folder: Path, *, python: str = sys.executable) -> None:
    """Write model/, train.parquet and test.parquet into `folder`; raises CalledProcessError or TimeoutExpired."""
    folder.mkdir(parents=True, exist_ok=True)
    # -I: this file's folder must not be on sys.path, its modules would shadow others.
    subprocess.run(
        [python, "-I", __file__, str(folder)],
        check=True,
        capture_output=True,
        timeout=MAKE_WAIT_S,
        env={**os.environ, "TMPDIR": str(folder)},  # torch makes a cache folder there as soon as it is imported
        start_new_session=True,
    )


def _write(folder: Path) -> None:
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(folder / "model")
    _model(tokenizer).save_pretrained(folder / "model")
    rng = random.Random(SEED)
    for name, rows in (("train", TRAIN_ROWS), ("test", TEST_ROWS)):
        _table([_sum(rng, name, index) for index in range(rows)], folder / f"{name}.parquet")


def _tokenizer() -> Any:
    """Byte level without merges: every byte is one token, so any text can be read and answered."""
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers.models.qwen2 import Qwen2Tokenizer

    vocabulary = [*sorted(ByteLevel.alphabet()), PAD, END, START, TURN_END]
    tokenizer = Qwen2Tokenizer(
        vocab={token: index for index, token in enumerate(vocabulary)},
        merges=[],
        pad_token=PAD,
        bos_token=END,
        unk_token=END,
        eos_token=TURN_END,
        extra_special_tokens=[START],
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.padding_side = "left"
    return tokenizer


def _model(tokenizer: Any) -> Any:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(SEED)
    tokens = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), dtype="float32", **tokens, **SHAPE))


def _sum(rng: random.Random, split: str, index: int) -> dict[str, Any]:
    left, right = rng.randint(0, 9), rng.randint(0, 9)
    return {
        "data_source": "npurun/sums",
        "prompt": [{"role": "user", "content": f"{left}+{right}="}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": str(left + right)},
        "extra_info": {"split": split, "index": index},
    }


def _table(rows: list[dict[str, Any]], path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
