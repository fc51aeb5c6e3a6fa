"""Curves of verl's own loggers that go on from attempt to attempt: ids and folders that all of a run share.

verl starts a logger by the variables of the process (verl/utils/tracking.py, 0.8.0 and 0.9.1). Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .checkpoint.resume import SAFE_FOLDER


def continued(environ: Mapping[str, str], run: str, home: Path | None) -> dict[str, str]:
    """What the process has to set so that its loggers go on with the run's curves; whatever is set already stays.

    - W&B: a run that is known by its id is gone on with (docs.wandb.ai, "Resume a run").
    - SwanLab: the same (swanlab 0.10, `SWANLAB_RUN_ID`, `SWANLAB_RESUME`).
    - TensorBoard: files of one folder are one run; a step that is trained again is shown twice. Nothing is set for a
      user without a home.
    - MLflow: a run that can be gone on with has to be there before (MLFLOW_RUN_ID): nothing is set.
    """
    wanted = {
        **_pair(environ, "WANDB_RUN_ID", "WANDB_RESUME", run),
        **_pair(environ, "SWANLAB_RUN_ID", "SWANLAB_RESUME", run),
        **({"TENSORBOARD_DIR": str(home / SAFE_FOLDER / run / "tensorboard")} if home else {}),
    }
    return {name: value for name, value in wanted.items() if not environ.get(name)}


def _pair(environ: Mapping[str, str], run_id: str, resume: str, run: str) -> dict[str, str]:
    """An id of the user's own is not said to be resumed: it may be meant for one attempt."""
    return {} if environ.get(run_id) else {run_id: run, resume: "allow"}
