"""The stand-in's trainer: verl's processes, lines and files, in tenths of a second a step.

Arguments beside verl's own: `standin.step_s` (seconds a step takes on each rank), `standin.raise_at` (the step at which
the reward function raises), `standin.ledger` (a file that gets a line for each step trained: attempt and step).
"""

from __future__ import annotations

import json
import os
import sys
import time
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

STEP_BOUND_S = 60.0
START_BOUND_S = 60.0
TRAINER_KEYS = frozenset(
    {
        *("logger", "nnodes", "n_gpus_per_node", "total_training_steps", "save_freq", "default_local_dir"),
        *("resume_mode", "resume_from_path"),
    }
)
SHARDS = ("model", "optim", "extra_state")


def main(arguments: list[str]) -> None:
    import ray

    for argument in arguments:
        _override(argument)
    pairs = (argument.lstrip("+").split("=", 1) for argument in arguments)
    settings = {key: unquoted(value) for key, value in pairs}
    attempt = os.environ["NPURUN_ATTEMPT"]
    ray.init(address="auto", namespace=f"npurun-{attempt}")
    gang = ray.get(ray.get_actor("gang").facts.remote(), timeout=START_BOUND_S)
    runner = ray.remote(num_cpus=0)(TaskRunnerV1).options(scheduling_strategy=_on(gang["nodes"][0]["node_id"]))
    ray.get(runner.remote(gang, settings, attempt).run.remote())  # as verl: without a bound, a hang is a hang


class WorkerDict:
    """One rank."""

    def __init__(self, rank: int, world_size: int) -> None:
        self._name = f"world_size_{world_size}_rank_{rank}.pt"

    def step(self, seconds: float, before: float) -> float:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.005)
        return before + 1.0

    def save(self, folder: str, value: float) -> None:
        actor = Path(folder, "actor")
        actor.mkdir(parents=True, exist_ok=True)
        for shard in SHARDS:
            write_archive(actor / f"{shard}_{self._name}", {"value": value})

    def load(self, folder: str) -> float:
        for shard in SHARDS:
            value = read_archive(Path(folder, "actor", f"{shard}_{self._name}"))["value"]
        return float(value)


class TaskRunnerV1:
    def __init__(self, gang: dict[str, Any], settings: dict[str, str], attempt: str) -> None:
        import ray

        self._settings = settings
        self._attempt = attempt
        self._folder = Path(settings["trainer.default_local_dir"])
        places = [(group, bundle) for group in gang["groups"] for bundle in range(gang["bundles_per_group"])]
        rank_class = ray.remote(num_cpus=1, resources={"NPU": 1})(WorkerDict)
        self._ranks = [
            rank_class.options(scheduling_strategy=_in(group, bundle)).remote(rank, len(places))
            for rank, (group, bundle) in enumerate(places)
        ]

    def run(self) -> None:
        total = int(self._settings["trainer.total_training_steps"])
        save_freq = int(self._settings.get("trainer.save_freq", "-1"))
        done, value = self._resume()
        for step in range(done + 1, total + 1):
            began = time.monotonic()
            value = self._step(step, value)
            if save_freq > 0 and (step % save_freq == 0 or step == total):
                self._save(step, value)
            _log_step(step, value, time.monotonic() - began)

    def _resume(self) -> tuple[int, float]:
        if self._settings.get("trainer.resume_mode") != "resume_path":
            return 0, 0.0
        folder = self._settings["trainer.resume_from_path"]
        (value, *others) = self._all("load", folder)
        assert all(other == value for other in others), (value, others)
        print(f"Load from checkpoint folder: {folder}", flush=True)
        return int(folder.rpartition("global_step_")[2]), value

    def _step(self, step: int, value: float) -> float:
        if step == int(self._settings.get("standin.raise_at", "-1")):
            import_module("reward").compute_score(f"step {step}")  # beside the job file, as a user's own
        after = self._all("step", float(self._settings.get("standin.step_s", "0.1")), value)[0]
        with Path(self._settings["standin.ledger"]).open("a") as file:
            file.write(json.dumps({"attempt": self._attempt, "step": step}) + "\n")
        return float(after)

    def _save(self, step: int, value: float) -> None:
        folder = self._folder / f"global_step_{step}"
        folder.mkdir(parents=True, exist_ok=True)
        self._all("save", str(folder), value)
        write_archive(folder / "data.pt", {"step": step})
        (self._folder / "latest_checkpointed_iteration.txt").write_text(str(step))
        print(f"local_global_step_folder: {folder}", flush=True)

    def _all(self, method: str, *values: object) -> list[float]:
        import ray

        return list(ray.get([getattr(rank, method).remote(*values) for rank in self._ranks]))


def _override(argument: str) -> None:
    """Ends as Hydra does over a key that the configuration does not have."""
    section, _, key = argument.partition("=")[0].partition(".")
    if section != "trainer" or key in TRAINER_KEYS:
        return
    name = argument.partition("=")[0]
    print(
        f"Could not override '{name}'.\nTo append to your config use +{argument}\nKey '{key}' is not in struct\n"
        f"    full_key: {name}\n    object_type=dict\n\n"
        "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
        file=sys.stderr,
        flush=True,
    )
    sys.exit(1)


def unquoted(value: str) -> str:
    """As Hydra reads a quoted string."""
    quote = value[:1]
    if quote not in ("'", '"') or value[-1:] != quote:
        return value
    return value[1:-1].replace(f"\\{quote}", quote)


def write_archive(path: Path, content: dict[str, float]) -> None:
    """In the shape of torch.save: a zip without compression."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", json.dumps(content))
        archive.writestr("archive/byteorder", "little")
        archive.writestr("archive/version", "3\n")


def read_archive(path: Path) -> dict[str, float]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, float] = json.loads(archive.read("archive/data.pkl"))
    return found


def _log_step(step: int, value: float, seconds: float) -> None:
    metrics = {
        "actor/loss": -value / 100,
        "actor/grad_norm": 0.6,
        "critic/rewards/mean": min(value / 100, 1.0),
        "training/global_step": step,
        "timing_s/step": seconds,
        "perf/throughput": 100.0,
    }
    print(f"step:{step} - " + " - ".join(f"{name}:{number}" for name, number in metrics.items()), flush=True)


def _on(node_id: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node_id, soft=False)


def _in(group: str, bundle: int) -> Any:
    from ray._raylet import PlacementGroupID
    from ray.util.placement_group import PlacementGroup
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    found = PlacementGroup(PlacementGroupID(bytes.fromhex(group)))
    return PlacementGroupSchedulingStrategy(found, placement_group_bundle_index=bundle)


if __name__ == "__main__":
    main(sys.argv[1:])
