"""`--config-name` and its like as keys of an argument group: what the published scripts of verl 0.7.1 need."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from submitter.arguments.assemble import arguments, argv
from submitter.checks.examine import examine
from submitter.checks.settings import Settings
from submitter.errors import UsageError
from submitter.job.model import Job
from submitter.rehearsal.overlay import apply_overlay
from submitter.render.bash import bash_script
from tests.support.job_files import load_text

TEXT = """
name: old
summary: verl 0.7.1 with Megatron
stack: cann-8.5.0
cluster: {nodes: 1, npus_per_node: 8}
variables: {CONFIG: ppo_megatron_trainer.yaml}
trainer: {module: verl.trainer.main_ppo, launcher: ray}
arguments:
  data: {data.train_files: /x.parquet}
  config:
    --config-name: ${CONFIG}
    --config-path: config
  rollout: {actor_rollout_ref.rollout.name: vllm, actor_rollout_ref.actor.megatron.param_offload: true}
"""
FIRST = ["--config-name=ppo_megatron_trainer.yaml", "--config-path=config"]


def made(folder: Path, text: str = TEXT) -> Job:
    return load_text(text, folder)


def test_options_are_passed_before_all_overrides(tmp_path: Path) -> None:
    words = arguments(made(tmp_path))
    assert words[:3] == [*FIRST, "data.train_files=/x.parquet"]
    assert argv(made(tmp_path))[3:] == words


def test_hydra_reads_them(tmp_path: Path) -> None:
    """Hydra's own command line: between overrides it would refuse an option."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "ppo_megatron_trainer.yaml").write_text("a: 1\n")
    main = "@hydra.main(config_path='other', config_name='x', version_base=None)\ndef main(c): print(c.a)\nmain()"
    app = f"import hydra\n{main}"
    (tmp_path / "app.py").write_text(app)
    words = [*arguments(made(tmp_path))[:2], "a=7"]
    done = subprocess.run(
        [sys.executable, "app.py", *words], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=True
    )
    assert done.stdout.strip() == "7"


def test_the_script_passes_the_same(tmp_path: Path) -> None:
    script = bash_script(made(tmp_path))
    assert script.index("HYDRA_ARGS=(") < script.index("DATA_ARGS=(")
    assert script.count("--config-name=ppo_megatron_trainer.yaml") == 1


@pytest.mark.parametrize("value", ["3", "[a]", "true", "null", "{a: b}"])
def test_only_a_text_is_an_option(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError, match="--config-name takes a text") as failed:
        made(tmp_path, TEXT.replace("${CONFIG}", value))
    assert failed.value.place is not None
    assert failed.value.place.line == 11


@pytest.mark.parametrize("key", ["--config", "--multirun", "-m", "--cfg", "+--config-name"])
def test_other_options_are_no_keys(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match="no key for Hydra"):
        made(tmp_path, TEXT.replace("--config-name", key))


def test_hostile_text_is_passed_as_it_is(tmp_path: Path) -> None:
    words = arguments(made(tmp_path, TEXT.replace("${CONFIG}", '"it\'s a $(b) \\"c\\""')))
    assert words[0] == '--config-name=it\'s a $(b) "c"'


def test_settings_and_composition_use_it(tmp_path: Path, trees: Path) -> None:
    job = made(tmp_path)
    assert Settings(job, "0.7.1").text("actor_rollout_ref.actor.strategy") == "megatron"
    report = examine(job, trees=trees)
    assert [one for one in report.findings if one.id.startswith(("NR10", "NR11"))] == []
    assert [one for one in report.not_checked if one.id == "NR101"] == []
    wrong = made(tmp_path, TEXT.replace("ppo_megatron_trainer.yaml", "ppo_megatron"))
    [one] = [one for one in examine(wrong, trees=trees).findings if one.id == "NR108"]
    assert one.place.line == 11
    assert "ppo_megatron_trainer" in one.message()


def test_a_rehearsal_drops_them(tmp_path: Path) -> None:
    text = TEXT.replace("--config-path", "algorithm.adv_estimator: grpo\n    --config-path")
    rehearsed, changes = apply_overlay(dataclasses.replace(made(tmp_path, text), stack=None), tmp_path)
    assert not [word for word in arguments(rehearsed) if word.startswith("--")]
    assert "--config-name" in {change.key for change in changes}
