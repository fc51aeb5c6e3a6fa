"""What verl's loggers are told so that attempts make one curve."""

from __future__ import annotations

from pathlib import Path

import pytest

from submitter.gang.loggers import continued

HOME = Path("/home/u")
ALL = {
    "WANDB_RUN_ID": "r-1",
    "WANDB_RESUME": "allow",
    "SWANLAB_RUN_ID": "r-1",
    "SWANLAB_RESUME": "allow",
    "TENSORBOARD_DIR": "/home/u/npurun/r-1/tensorboard",
}


def test_every_attempt_has_the_ids_of_the_run() -> None:
    assert continued({"NPURUN_ATTEMPT": "r-1-a3"}, "r-1", HOME) == ALL


@pytest.mark.parametrize(
    ("own", "left"),
    [
        ({"WANDB_RUN_ID": "mine"}, {"SWANLAB_RUN_ID", "SWANLAB_RESUME", "TENSORBOARD_DIR"}),
        ({"WANDB_RESUME": "must"}, set(ALL) - {"WANDB_RESUME"}),
        ({"SWANLAB_RUN_ID": "mine"}, {"WANDB_RUN_ID", "WANDB_RESUME", "TENSORBOARD_DIR"}),
        ({"TENSORBOARD_DIR": "/data/tb"}, set(ALL) - {"TENSORBOARD_DIR"}),
        ({"TENSORBOARD_DIR": ""}, set(ALL)),
    ],
)
def test_what_the_user_has_set_stays(own: dict[str, str], left: set[str]) -> None:
    assert continued(own, "r-1", HOME) == {name: ALL[name] for name in left}
