"""Runs of the stand-in trainer (tests/standin) on a real cluster, through the `npurun` command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from submitter.cluster.client import RayClient
from submitter.ledger import Attempt, Run
from tests.support.cli import COMMAND, Result, environment
from tests.support.processes import carrying, command_line, wait_for, wait_gone
from tests.support.supervisor import end_below, ledger_of

JOB = str(Path(__file__).parents[1] / "standin" / "job.yaml")
COMMAND_BOUND_S = 300
STEP_BOUND_S = 90.0
"""From a submission to a step, on a loaded machine."""
END_BOUND_S = 120.0
GONE_BOUND_S = 45.0
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
    """One home, one cluster, one folder for what its runs read and write."""

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

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """The command in a session of its own, which a signal to this one does not reach; killed at the end."""
        with (self.home.parent / "commands.log").open("ab") as log:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                env=self.env(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait(10)

    def submit(self, run: str, *options: str, sets: tuple[str, ...] = (), trainer: tuple[str, ...] = ()) -> Result:
        return self("submit", *self.arguments(run, *options, sets=sets, trainer=trainer))

    def arguments(
        self, run: str, *options: str, sets: tuple[str, ...] = (), trainer: tuple[str, ...] = ()
    ) -> list[str]:
        values = [f"FOLDER={self.folder}", *sets]
        return [JOB, "--run", run, *options, *(f"--set={value}" for value in values), "--", *trainer]

    def status(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = self("status", run, "--json").document
        return found

    @property
    def book(self) -> Path:
        """The folder of the ledger."""
        return self.home / "npurun"

    def run(self, name: str) -> Run:
        with ledger_of(self.book) as ledger:
            found = ledger.run(name)
        assert found is not None, name
        return found

    def runs(self) -> list[Run]:
        if not self.book.exists():
            return []
        with ledger_of(self.book) as ledger:
            return list(ledger.runs().values())

    def attempts(self, run: str) -> list[Attempt]:
        if not self.book.exists():
            return []
        with ledger_of(self.book) as ledger:
            return ledger.attempts(run)

    def told(self, run: str) -> list[str]:
        """Ids of what people were told of the run."""
        with ledger_of(self.book) as ledger:
            return [event.text_id for event in ledger.events(run)]

    def trained(self) -> list[tuple[str, int]]:
        """(attempt, step) of every step that was trained, in order."""
        try:
            lines = (self.folder / "trained.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [(record["attempt"], record["step"]) for record in map(json.loads, lines)]

    def counted(self, run: str) -> list[int]:
        """The steps of a run that count: of each attempt those up to where the next one went on."""
        kept: list[int] = []
        trained = self.trained()
        for attempt in self.attempts(run):
            own = [step for name, step in trained if name == attempt.submission_id]
            if own:
                kept = [step for step in kept if step <= (attempt.resumed_from or 0)] + own
        return kept

    def wait(self, run: str, what: str, condition: Callable[[], Any], bound_s: float) -> None:
        try:
            wait_for(condition, bound_s=bound_s, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.story(run)}") from None

    def wait_step(self, attempt: str, step: int, *, bound_s: float = STEP_BOUND_S) -> None:
        def seen() -> bool:
            return any(name == attempt and number >= step for name, number in self.trained())

        self.wait(attempt.rpartition("-a")[0], f"step {step} of {attempt}", seen, bound_s)

    def wait_ended(self, attempt: str, *, bound_s: float = END_BOUND_S) -> Attempt:
        """As the ledger has it: with its reason."""
        run, _, number = attempt.rpartition("-a")
        self.wait(run, f"the end of {attempt}", lambda: self.attempts(run)[int(number) - 1].state, bound_s)
        return self.attempts(run)[int(number) - 1]

    def wait_over(self, run: str, *, bound_s: float = END_BOUND_S) -> Run:
        self.wait(run, f"the end of {run}", lambda: self.is_over(run), bound_s)
        return self.run(run)

    def is_over(self, run: str) -> bool:
        return any(one.run == run and one.state != "active" for one in self.runs())

    def last_step(self, attempt: str) -> int | None:
        return max((step for name, step in self.trained() if name == attempt), default=None)

    def ranks(self, attempt: str) -> list[int]:
        """Pids of the attempt's trainer ranks."""
        return self.actors(attempt, "ray::WorkerDict")

    def actors(self, attempt: str, title: str) -> list[int]:
        return [pid for pid in carrying(f"NPURUN_ATTEMPT={attempt}") if command_line(pid).startswith(title)]

    def driver(self, attempt: str) -> int:
        """Pid of the driver itself, not of the shell that Ray starts it in."""
        (found,) = [pid for pid in carrying(f"NPURUN_ATTEMPT={attempt}") if _is_driver(pid)]
        return found

    def step_folder(self, step: int) -> Path:
        return self.folder / "checkpoints" / f"global_step_{step}"

    def nothing_left(self) -> None:
        """Of any of its runs; the supervisor has been ended."""
        for run in self.runs():
            mark = f"NPURUN_RUN={run.run}"
            wait_gone(mark, bound_s=GONE_BOUND_S)

    def end(self) -> None:
        """Its supervisor goes, and what it may still have on the cluster."""
        end_below(self.home)
        for run in self.runs():
            if run.state == "active":
                for pid in carrying(f"NPURUN_RUN={run.run}"):
                    if _is_driver(pid):
                        os.kill(pid, signal.SIGTERM)

    def story(self, run: str) -> str:
        """For a test that failed."""
        if not self.book.exists():
            return "nothing was submitted"
        with ledger_of(self.book) as ledger:
            events = [f"{event.attempt} {event.text_id} {event.values}" for event in ledger.events(run)]
        attempts = self.attempts(run)
        rows = [
            f"{one.submission_id} {one.state} {one.reason} from {one.resumed_from} to {one.last_step} {one.ended_by}\n"
            f"   {(one.diagnosis or {}).get('evidence')}"
            for one in attempts
        ]
        return "\n".join([*rows, *events, self._log(attempts[-1].submission_id) if attempts else ""])

    def _log(self, attempt: str) -> str:
        try:
            return RayClient(self.address).log_tail(attempt, 80)
        except Exception as error:  # the story of a failure must not hide the failure
            return f"no log: {error}"

    def env(self) -> dict[str, str]:
        return environment(self.home, {"RAY_API_SERVER_ADDRESS": self.address})


def _is_driver(pid: int) -> bool:
    words = command_line(pid).split()
    return "npurun_gang" in words and "-m" in words and "-c" not in words


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
    row = {
        "prompt": [{"role": "user", "content": "1+1="}],
        "data_source": "openai/gsm8k",
        "reward_model": {"ground_truth": "2"},
    }
    parquet.write_table(pyarrow.Table.from_pylist([row] * 16), folder / "rows.parquet")
