"""The faults of a campaign, each with what is right to come of it."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.support.checkpoints import cut
from tests.support.processes import wait_for
from tests.support.renew import RenewableCluster
from tests.support.standin import Standin
from tests.support.supervisor import holder_pid

TOLD_BOUND_S = 60.0
SAVE_EVERY = 5


@dataclass
class Scene:
    """The attempt that trains, and all that may happen to it."""

    cluster: RenewableCluster
    standin: Standin
    rng: random.Random
    run: str
    attempt: str
    stop: Callable[[], None]
    """As its user does, who waits for it."""
    resume: Callable[[], None]
    mend: list[Callable[[], None]] = field(default_factory=list)
    """What is put right again when the next attempt has been submitted."""


@dataclass(frozen=True)
class Fault:
    name: str
    strike: Callable[[Scene], None] = lambda _scene: None
    reasons: frozenset[str] = frozenset()
    """Of the attempt's end; none: it goes on."""
    blames_node: bool = False
    """The run has to do without a node from then on."""
    arguments: tuple[str, ...] = ()
    """Of the trainer: a run of its own, which fails."""


def kill_rank(scene: Scene) -> None:
    os.kill(scene.rng.choice(scene.standin.ranks(scene.attempt)), signal.SIGKILL)


def stop_rank(scene: Scene) -> None:
    """Between two checkpoints: the time for one is given on top of the time for a step."""
    wait_for(
        lambda: (scene.standin.last_step(scene.attempt) or 0) % SAVE_EVERY == 1,
        bound_s=TOLD_BOUND_S,
        what="a step after a checkpoint",
    )
    os.kill(scene.rng.choice(scene.standin.ranks(scene.attempt)), signal.SIGSTOP)


def kill_driver(scene: Scene) -> None:
    os.kill(scene.standin.driver(scene.attempt), signal.SIGKILL)


def kill_node_worker(scene: Scene) -> None:
    workers = scene.standin.actors(scene.attempt, "ray::NodeWorker")
    victim = scene.rng.choice(workers)
    os.kill(victim, signal.SIGKILL)

    def replaced() -> bool:
        return len(set(scene.standin.actors(scene.attempt, "ray::NodeWorker")) - {victim}) == len(workers)

    wait_for(lambda: replaced() or scene.standin.is_over(scene.run), bound_s=TOLD_BOUND_S, what="another node worker")


def kill_raylet(scene: Scene) -> None:
    ranks = scene.standin.ranks(scene.attempt)
    nodes = [node for node in scene.cluster.nodes[1:] if set(node.pids()) & set(ranks)]
    victim = scene.rng.choice(nodes)
    os.kill(victim.raylet_pid, signal.SIGKILL)

    def back() -> None:
        scene.cluster.start_again(victim)
        assert scene.standin("nodes", "release", victim.ip).code == 0

    scene.mend.append(back)


def kill_supervisor(scene: Scene) -> None:
    """Who follows the run starts another one."""
    killed = holder_pid(scene.standin.book)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)

    def another() -> bool:
        return holder_pid(scene.standin.book) not in (None, killed)

    wait_for(lambda: another() or scene.standin.is_over(scene.run), bound_s=TOLD_BOUND_S, what="another supervisor")


def kill_supervisor_and_rank(scene: Scene) -> None:
    """Nobody sees the attempt end."""
    killed = holder_pid(scene.standin.book)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    kill_rank(scene)


def kill_dashboard(scene: Scene) -> None:
    with scene.cluster.without_dashboard():
        _wait_away(scene)


def kill_rank_behind_a_dead_dashboard(scene: Scene) -> None:
    with scene.cluster.without_dashboard():
        kill_rank(scene)
        _wait_away(scene)


def freeze_dashboard(scene: Scene) -> None:
    with scene.cluster.frozen_dashboard():
        _wait_away(scene)


def cut_checkpoint_and_kill_rank(scene: Scene) -> None:
    """The newest one of those that are there; one before it is whole."""
    folder = scene.standin.folder / "checkpoints"
    wait_for(
        lambda: (folder / f"global_step_{2 * SAVE_EVERY}" / "data.pt").exists(),
        bound_s=TOLD_BOUND_S,
        what="two checkpoints",
    )
    kill_rank(scene)
    newest = max(folder.iterdir(), key=lambda path: int(path.name.rpartition("_")[2]) if path.is_dir() else 0)
    cut(scene.rng.choice(sorted((newest / "actor").iterdir())))


def stop_and_resume(scene: Scene) -> None:
    scene.stop()
    scene.resume()


def _wait_away(scene: Scene) -> None:
    """Until the supervisor has told that the cluster does not answer."""
    before = scene.standin.told(scene.run).count("supervise.away")

    def told() -> bool:
        return scene.standin.told(scene.run).count("supervise.away") > before

    with suppress(AssertionError):  # a run that is over asks for nothing any more
        wait_for(lambda: told() or scene.standin.is_over(scene.run), bound_s=TOLD_BOUND_S, what="told that it is away")


KILLED = frozenset({"actor_died", "worker_crashed", "worker_killed"})

FAULTS = (
    Fault("a rank is killed", kill_rank, KILLED),
    Fault("a rank is stopped", stop_rank, frozenset({"hung"})),
    Fault("the driver is killed", kill_driver, frozenset({"worker_killed"})),
    Fault("a node worker is killed", kill_node_worker),
    Fault("a raylet is killed", kill_raylet, frozenset({"node_lost"}), blames_node=True),
    Fault("the supervisor is killed", kill_supervisor),
    Fault("the supervisor and a rank are killed", kill_supervisor_and_rank, KILLED),
    Fault("the dashboard is killed", kill_dashboard),
    Fault("the dashboard and a rank are killed", kill_rank_behind_a_dead_dashboard, KILLED),
    Fault("the cluster does not answer", freeze_dashboard),
    Fault("a checkpoint is cut, a rank killed", cut_checkpoint_and_kill_rank, KILLED),
    Fault("the user stops it and resumes it", stop_and_resume, frozenset({"stopped"})),
    Fault("the reward function raises", reasons=frozenset({"reward_error"}), arguments=("+standin.raise_at=7",)),
    Fault("an argument is wrong", reasons=frozenset({"config_unknown_key"}), arguments=("trainer.total_stepz=5",)),
)
