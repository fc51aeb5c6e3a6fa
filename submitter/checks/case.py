"""What rules look at: all that was gathered about one job. Rules are pure functions of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime_env.stacks import Stack
from submitter.arguments.compose import Composition
from submitter.checks.checkpoint_files import Checkpoint
from submitter.checks.cluster_node import ClusterNode
from submitter.checks.data_files import DataFile
from submitter.checks.model_contents import ModelContents
from submitter.checks.model_shape import ModelShape, Unknown
from submitter.checks.reward_file import RewardFile
from submitter.checks.settings import Settings
from submitter.checks.working_dir_measure import Packed
from submitter.job.model import Job
from submitter.texts import text


@dataclass(frozen=True)
class NotChecked:
    """What could not be looked at, and why: never a silent "ok". `why` is a text id."""

    id: str
    why: str
    values: dict[str, object] = field(default_factory=dict)

    def as_json(self, language: str = "en") -> dict[str, str]:
        return {"id": self.id, "why": self.message(language)}

    def message(self, language: str = "en") -> str:
        return text(self.why, language, **self.values)


@dataclass(frozen=True)
class Case:
    job: Job
    stack: Stack | None
    """None: the job names none."""
    settings: Settings
    working_dir: Packed | None = None
    """None: the job has none, or it is no folder."""
    cluster: tuple[ClusterNode, ...] | None = None
    """None: no cluster was asked."""
    composition: Composition | None = None
    """None: the arguments were not to be composed."""
    changes: Mapping[str, Composition] = field(default_factory=dict)
    """The arguments with those that recovery.on_reason may add, by its key."""
    model: ModelShape | None = None
    """None: unknown; `model_why` says why."""
    model_why: Unknown | None = None
    reward: RewardFile | None = None
    """None: the job has no custom reward function."""
    data: tuple[DataFile, ...] = ()
    """Of data.train_files and data.val_files, as far as the job sets them."""
    contents: ModelContents | None = None
    """The model's folder; None: the job names no model."""
    checkpoint: Checkpoint | None = None
    """That the first attempt would resume; None: there is none here."""

    @property
    def verl_release(self) -> str:
        """Whose behaviour counts; `settings.release` is the one whose defaults do, which may be an older one."""
        return self.stack.verl_release if self.stack else self.settings.release
