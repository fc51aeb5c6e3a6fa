"""Runs of the stand-in trainer (tests/standin) on a real cluster, through the `npurun` command."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.cli import COMMAND, Result, environment
from tests.support.processes import carrying, command_line

JOB = str(Path(__file__).parents[1] / "standin" / "job.yaml")
COMMAND_BOUND_S = 300
CONFIG = {
    "model_type": "qwen2",
    "architectures": ["Qwen2ForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32768,
    "vocab_size": 512,
}


@dataclass(frozen=True)
class Standin:
    """One home, one cluster, one folder for what a run reads and writes."""

    address: str
    home: Path
    folder: Path

    def __post_init__(self) -> None:
        make_files(self.folder)

    def __call__(self, *arguments: str, bound_s: float = COMMAND_BOUND_S) -> Result:
        done = subprocess.run(
            [*COMMAND, *arguments], env=self.env(), capture_output=True, text=True, timeout=bound_s, check=False
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command in a session of its own; whoever starts it ends it."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*COMMAND, *arguments], env=self.env(), stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )

    def submit(self, run: str, *options: str, sets: tuple[str, ...] = (), trainer: tuple[str, ...] = ()) -> Result:
        return self("submit", *self.arguments(run, *options, sets=sets, trainer=trainer))

    def arguments(self, run: str, *options: str, sets: tuple[str, ...], trainer: tuple[str, ...]) -> list[str]:
        values = [f"FOLDER={self.folder}", *sets]
        return [JOB, "--run", run, *options, *(f"--set={value}" for value in values), "--", *trainer]

    def status(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = self("status", run, "--json").document
        return found

    def trained(self) -> list[tuple[str, int]]:
        """(attempt, step) of every step that was trained, in order."""
        try:
            lines = (self.folder / "trained.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [(record["attempt"], record["step"]) for record in map(json.loads, lines)]

    def ranks(self, attempt: str) -> list[int]:
        """Pids of the attempt's trainer ranks."""
        return [pid for pid in carrying(f"NPURUN_ATTEMPT={attempt}") if command_line(pid).startswith("ray::WorkerDict")]

    def env(self) -> dict[str, str]:
        return environment(self.home, {"RAY_API_SERVER_ADDRESS": self.address})


def make_files(folder: Path) -> None:
    """A model's folder and a data file that the node probes have nothing against."""
    import pyarrow
    from pyarrow import parquet

    model = folder / "model"
    model.mkdir(parents=True, exist_ok=True)
    (model / "config.json").write_text(json.dumps(CONFIG))
    (model / "tokenizer.json").write_text("{}")
    (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (model / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    row = {"prompt": [{"role": "user", "content": "1+1="}], "data_source": "openai/gsm8k", "reward_model": {"ground_truth": "2"}}
    parquet.write_table(pyarrow.Table.from_pylist([row] * 16), folder / "rows.parquet")
