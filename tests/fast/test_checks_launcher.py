"""Launchers and what they start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from submitter.checks.launcher import ENTRY_POINTS
from submitter.job.model import Job, Torchrun, Trainer
from tests.support.builders import job, torchrun_job
from tests.support.checks import findings_of

IDS = ("NR38",)
STACKS = {"0.7.1": "cann-8.5.0", "0.8.0": "cann-9.0.0", "0.9.1": "cann-9.0.0,verl=0.9.1", "0.10.0": "cann-9.1.0"}


def starts(module: str, launcher: str, stack: str | None = "cann-9.0.0", **changes: Any) -> Job:
    torchrun = Torchrun(16) if launcher == "torchrun" else None
    return job(trainer=Trainer(module, launcher, torchrun), stack=stack, **changes)  # type: ignore[arg-type]


def said(made: Job) -> list[tuple[str, str]]:
    return [(one.id, one.severity) for one in findings_of(made, *IDS)]


@pytest.mark.parametrize(
    ("module", "ray", "torchrun"),
    [
        ("verl.trainer.main_ppo", None, "NR381"),
        ("verl.trainer.main_generation_server", None, "NR381"),
        ("verl.trainer.sft_trainer_ray", None, "NR381"),
        ("verl.experimental.fully_async_policy.fully_async_main", None, "NR381"),
        ("verl.experimental.one_step_off_policy.main_ppo", None, "NR381"),
        ("verl.trainer.sft_trainer", "NR382", None),
        ("verl.model_merger", None, None),
        ("my.trainer", "NR385", "NR385"),
        ("llamafactory.launcher", None, None),
    ],
)
def test_launcher_and_module(module: str, ray: str | None, torchrun: str | None) -> None:
    severity = "warning" if ray == "NR385" else "error"
    assert said(starts(module, "ray")) == ([(ray, severity)] if ray else [])
    assert said(starts(module, "torchrun")) == ([(torchrun, severity)] if torchrun else [])


def test_one_driver_per_rank_is_counted() -> None:
    (finding,) = findings_of(starts("verl.trainer.main_ppo", "torchrun"), "NR381")
    assert finding.limit == "64" and "64 times" in finding.message()
    assert finding.place.key == "trainer.module"


@pytest.mark.parametrize(
    ("module", "releases"),
    [
        ("verl.trainer.main_ppo_sync", ["0.8.0"]),
        ("verl.trainer.main_ppo_v0", []),
        ("verl.trainer.main_ppo", list(STACKS)),
        ("verl.trainer.main_generation", []),
        ("verl.experimental.vla.main_sac", ["0.7.1"]),
        ("verl.utils.debug.trajectory_tracker", list(STACKS)),
        ("verl.trainer.main_pppo", []),
        ("verl.trainer.ppo.ray_trainer", []),
    ],
)
def test_modules_by_release(module: str, releases: list[str]) -> None:
    for release, stack in STACKS.items():
        found = findings_of(starts(module, "ray", stack), "NR383")
        assert [one.limit for one in found] == ([] if release in releases else [release])
    unknown = [] if module in ENTRY_POINTS else ["warning"]
    assert [one.severity for one in findings_of(starts(module, "ray", None), "NR383")] == unknown
    for stack in ("cann-9.0.0,verl=0.6.1", "cann-9.0.0,verl=0.11.0"):
        found = findings_of(starts(module, "ray", stack), "NR383")
        assert [one.severity for one in found if one.severity == "warning"] == unknown


@pytest.mark.parametrize(
    ("module", "rule", "severity", "meant"),
    [
        ("verl.trainer.main_pppo", "NR383", "error", "verl.trainer.main_ppo"),
        ("verl.trainer.main_ppo.py", "NR383", "error", "verl.trainer.main_ppo"),
        ("verl.trainer.sft_triner", "NR383", "error", "verl.trainer.sft_trainer"),
        ("verl.trainer.fully_async_main", "NR383", "error", "fully_async_policy.fully_async_main"),
        ("verl", "NR383", "error", "verl.trainer.main_ppo"),
        ("main_ppo", "NR385", "warning", "verl.trainer.main_ppo"),
        ("train", "NR385", "warning", "working_dir"),
    ],
)
def test_a_module_that_nobody_has(module: str, rule: str, severity: str, meant: str) -> None:
    (finding,) = findings_of(starts(module, "ray"), "NR383", "NR385")
    assert (finding.id, finding.severity) == (rule, severity)
    assert meant in finding.fix() and module in finding.message()
    assert "-" not in finding.message().split() and "None" not in finding.message("zh")


def test_a_verl_that_the_job_installs_may_have_more_modules() -> None:
    made = starts("verl.trainer.main_pppo", "ray", pip=["git+https://example.org/verl"])
    assert [one.severity for one in findings_of(made, "NR383")] == ["warning"]
    assert findings_of(starts("my_rl.train", "ray", pip=["my-rl==1.0"]), "NR385") == []


def test_successors_are_named() -> None:
    (finding,) = findings_of(starts("verl.trainer.fsdp_sft_trainer", "torchrun"), "NR383")
    assert "verl.trainer.sft_trainer" in finding.fix() and "verl.trainer.sft_trainer" in ENTRY_POINTS


def test_a_working_dir_with_its_own_verl(tmp_path: Path) -> None:
    (tmp_path / "verl" / "trainer").mkdir(parents=True)
    made = starts("verl.trainer.main_ppo", "ray", working_dir=str(tmp_path))
    assert said(made) == []
    (tmp_path / "verl" / "__init__.py").touch()
    assert said(made) == [("NR384", "warning")]
    assert said(starts("verl.trainer.main_ppo", "ray", working_dir=str(tmp_path), excludes=["verl"])) == []
    (tmp_path / "verl" / "trainer" / "main_ppo_v0.py").touch()
    assert said(starts("verl.trainer.main_ppo_v0", "ray", working_dir=str(tmp_path))) == [("NR384", "warning")]


def test_recipes_have_to_travel(tmp_path: Path) -> None:
    assert said(starts("recipe.dapo.main_dapo", "ray")) == [("NR385", "warning")]
    (tmp_path / "recipe" / "dapo").mkdir(parents=True)
    (tmp_path / "recipe" / "dapo" / "main_dapo.py").touch()
    assert said(starts("recipe.dapo.main_dapo", "ray", working_dir=str(tmp_path))) == []
    assert said(starts("recipe.dapo.main_dapo", "torchrun", working_dir=str(tmp_path))) == [("NR381", "error")]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("examples/my train.py", False),
        ("./examples/../examples/my train.py", False),
        ("examples/__init__.py", False),
        ("/opt/train.py", False),
        ("train.py", True),
        ("../train.py", True),
        ("examples/left_out.py", True),
    ],
)
def test_a_script_has_to_travel(tmp_path: Path, script: str, told: bool) -> None:
    (tmp_path / "examples").mkdir()
    for name in ("my train.py", "__init__.py", "left_out.py"):
        (tmp_path / "examples" / name).touch()
    for launcher in ("ray", "torchrun"):
        trainer = Trainer("", launcher, Torchrun(16) if launcher == "torchrun" else None, script)
        made = job(trainer=trainer, working_dir=str(tmp_path), excludes=["left_out.py"])
        found = findings_of(made, *IDS, "NR390")
        assert [(one.id, one.severity, one.place.key) for one in found] == [
            ("NR390", "warning", "trainer.script")
        ] * told
        assert all(script in one.message() and str(tmp_path) in one.message("zh") for one in found)


def test_a_script_without_a_folder_to_be_in() -> None:
    (finding,) = findings_of(job(trainer=Trainer("", "ray", script="train.py")), *IDS, "NR390")
    assert (finding.id, "no working_dir" in finding.message()) == ("NR390", True)


@pytest.mark.parametrize(
    ("options", "nodes", "expected"),
    [
        (Torchrun(16), 4, []),
        (Torchrun(16, "10.0.0.1", 29500), 4, []),
        (Torchrun(8), 4, [("NR386", "warning")]),
        (Torchrun(17), 4, [("NR386", "error")]),
        (Torchrun(16, "127.0.0.1", 29500), 4, [("NR387", "error")]),
        (Torchrun(16, "LOCALHOST"), 4, [("NR387", "error")]),
        (Torchrun(16, "127.0.0.1", 29500), 1, []),
        (Torchrun(16, None, 1023), 1, [("NR388", "warning")]),
        (Torchrun(16, None, 1024), 1, []),
        (Torchrun(16, None, 32767), 1, []),
        (Torchrun(16, None, 32768), 1, [("NR388", "warning")]),
        (Torchrun(16, None, 60001), 1, [("NR388", "warning")]),
    ],
)
def test_rendezvous(options: Torchrun, nodes: int, expected: list[tuple[str, str]]) -> None:
    made = job(trainer=Trainer("verl.trainer.sft_trainer", "torchrun", options), nodes=nodes, stack="cann-9.0.0")
    assert said(made) == expected


def test_rendezvous_in_the_environment_has_no_effect() -> None:
    (finding,) = findings_of(torchrun_job(flags={"OTHER": "1", "MASTER_PORT": "29501"}), *IDS)
    assert (finding.id, finding.severity, finding.place.line) == ("NR389", "warning", 2)
    assert findings_of(job(flags={"MASTER_PORT": "29501"}), *IDS) == []
