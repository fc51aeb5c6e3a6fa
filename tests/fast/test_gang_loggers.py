"""What verl's loggers are told so that attempts make one curve."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from submitter.gang import verl_plugin
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


def test_without_a_home_there_is_no_folder_to_share() -> None:
    assert continued({}, "r-1", None) == {name: ALL[name] for name in ALL if name != "TENSORBOARD_DIR"}


def test_a_user_id_without_a_name_has_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    assert verl_plugin._home() is None


def test_a_user_without_a_home_has_no_folder() -> None:
    assert "TENSORBOARD_DIR" not in continued({}, "r-1", None)
