"""`npurun rehearse`: a local cluster, the overlaid job submitted to it as to any other, and a look at its results."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import NoReturn

from submitter.errors import RunFailedError, UsageError
from submitter.exit_codes import ExitCode
from submitter.gang.placement import CPUS_PER_NPU
from submitter.gang.selector import example
from submitter.job.model import Job
from submitter.rehearsal import assets, memory
from submitter.rehearsal.local_cluster import NODE_BYTES, LocalCluster, NodeSpec, require_memory
from submitter.rehearsal.overlay import Change, Overlay, apply_overlay, load_overlay
from submitter.rehearsal.results import Results, read_results
from submitter.texts import Tell

RunJob = Callable[[Job, str, Mapping[str, Path]], ExitCode]

PACKAGE = "npurun_verl_cpu"
"""Name under which `verl_cpu` travels."""
NEEDED = ("ray", "verl", "torch", "transformers", "tensordict", "transfer_queue", "pyarrow")
SPARE_CPUS = 16
"""For actors without an NPU (task runner, agent loops, reward) beside the reservation."""
TRAINER_BYTES = 3100 * memory.MIB
"""Once: dashboard, drivers, task runner, agent loop, reward worker, transfer queue (measured: 3080 MiB)."""
RANK_BYTES = 750 * memory.MIB
"""A trainer rank and its rollout server (measured: 407 and 311 MiB)."""


def rehearse(job: Job, *, nodes: int | None, workdir: Path, tell: Tell, run_job: RunJob) -> ExitCode:
    """Rehearse `job` on `nodes` local nodes (None: as many as it asks for); everything started is ended on return.

    `run_job(job, address, packages)` submits and follows. `workdir` gets data, checkpoints and logs; it is the
    caller's. Raises UsageError for what cannot be rehearsed, NotPlacedError when memory does not suffice,
    RunFailedError when the cluster does not come or the run's results are not there.
    """
    require_packages()
    rules = load_overlay()
    rehearsed, changes = apply_overlay(job, workdir, nodes=nodes, overlay=rules)
    count = rehearsed.cluster.nodes
    require_memory(memory_needed(count, rules), what=count)
    tell_changes(job, changes, tell)
    with _signals_end_orderly():
        make_assets(workdir / "assets", tell)
        with LocalCluster.start(node_specs(rehearsed), base_dir=workdir / "logs", tell=tell) as cluster:
            try:
                code = run_job(rehearsed, cluster.address, {PACKAGE: Path(__file__).with_name("verl_cpu")})
            finally:
                tell("rehearsal.ending", nodes=count)
    if code is ExitCode.DONE:
        tell_results(read_results(workdir), tell)
    return code


def require_packages(find: Callable[[str], object | None] = find_spec) -> None:
    """Raises UsageError naming what the extra `rehearsal` would bring."""
    missing = [name for name in NEEDED if find(name) is None]
    if missing:
        raise UsageError("rehearsal.missing_packages", missing=", ".join(missing))


def memory_needed(nodes: int, rules: Overlay) -> int:
    """Bytes at the peak of a rehearsal."""
    return TRAINER_BYTES + nodes * (NODE_BYTES + rules.ranks_per_node * RANK_BYTES)


def node_specs(job: Job) -> list[NodeSpec]:
    """One node as the job asks for, with its labels and one of its own."""
    npus = job.cluster.npus_per_node
    meant = {name: example(selector) for name, selector in job.cluster.labels.items()}
    labels = {name: label for name, label in meant.items() if label is not None}
    return [
        NodeSpec(
            npus=npus,
            cpus=npus * CPUS_PER_NPU[job.trainer.launcher] + SPARE_CPUS,
            labels={**labels, "npurun-rehearsal-node": str(index)},
        )
        for index in range(job.cluster.nodes)
    ]


def tell_changes(job: Job, changes: list[Change], tell: Tell) -> None:
    tell("rehearsal.changes", count=len(changes), job=job.name)
    for change in changes:
        tell(f"rehearsal.because.{change.because}", change=change)


def make_assets(folder: Path, tell: Tell) -> None:
    tell("rehearsal.assets")
    try:
        assets.make(folder)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines()
        raise RunFailedError("rehearsal.assets_failed", reason=lines[-1] if lines else error.returncode) from None
    except subprocess.TimeoutExpired:
        raise RunFailedError("rehearsal.assets_failed", reason=f"> {assets.MAKE_WAIT_S:.0f} s") from None


def tell_results(results: Results, tell: Tell) -> None:
    tell("rehearsal.steps", steps=results.steps, first=f"{results.first_reward:.3f}", last=f"{results.last_reward:.3f}")
    tell("rehearsal.checkpoint", step=results.checkpoint_step, ranks=results.ranks, mib=f"{results.mib:.1f}")
    tell("rehearsal.not_proved")


@contextmanager
def _signals_end_orderly() -> Iterator[None]:
    """SIGTERM and a closed terminal clean up as Ctrl-C does; by default they would end this process at once."""

    def leave(number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
