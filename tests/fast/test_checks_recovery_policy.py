"""What recovery.on_reason may name, and changes that the trainer would refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from submitter.checks.examine import examine
from submitter.checks.finding import Finding
from submitter.checks.recovery_policy import RULES
from submitter.job.model import Job, OnReason, Recovery
from submitter.recovery.reasons import FAMILIES, REASONS
from submitter.texts import LANGUAGES
from tests.fast.test_checks_composition import made_of
from tests.support.builders import job
from tests.support.checks import findings_by, not_checked
from tests.support.job_files import load_text

ROLLOUT = "actor_rollout_ref.rollout"
MEMORY = f"{ROLLOUT}.gpu_memory_utilization"


def asking(name: str, rule: OnReason) -> Job:
    return job(recovery=Recovery(declared=True, on_reason={name: rule}))


def changing(*change: str, stack: str = "cann-9.0.0", arguments: tuple[str, ...] = ()) -> Job:
    rules = {"npu_out_of_memory": OnReason(change=change)}
    return made_of(*arguments, stack=stack, recovery=Recovery(declared=True, on_reason=rules))


def named(made: Job) -> list[Finding]:
    return findings_by([rule for rule in RULES if rule.id == "NR380"], made)


def refused(made: Job, trees: Path) -> list[Finding]:
    return [one for one in examine(made, trees=trees).findings if one.id == "NR118"]


def test_every_reason_and_every_family_may_be_named() -> None:
    rules = {name: OnReason(limit=2) for name in (*REASONS, *FAMILIES)}
    found = named(job(recovery=Recovery(declared=True, on_reason=rules)))
    outcomes = ["succeeded", "stopped", "still_running", "outcome"]
    assert [(one.value, one.severity) for one in found] == [(name, "warning") for name in outcomes]


def test_a_mistyped_reason_is_an_error_at_its_line_with_the_nearest_name(tmp_path: Path) -> None:
    text = "name: t\ncluster: {nodes: 1, npus_per_node: 1}\ntrainer: {module: m}\narguments: {}\n"
    made = load_text(f"{text}recovery:\n  on_reason:\n    hung: now\n    npu_out_of_memori: backoff\n", tmp_path)
    (found,) = named(made)
    assert (found.severity, found.place.line, found.place.key) == ("error", 8, "recovery.on_reason.npu_out_of_memori")
    assert "npu_out_of_memory" in found.message() and "npu_out_of_memory" in found.message("zh")
    (far,) = named(asking("zzz", OnReason("now")))
    assert "nearest" not in far.message() and "zzz" in far.message()


@pytest.mark.parametrize(
    ("name", "retry", "told"),
    [
        ("config", "now", True),
        ("reward_error", "backoff", True),
        ("batch_not_divisible", "exclude_node", True),
        ("version", "never", False),
        ("reward_error", "after_change", False),
        ("reward_error", None, False),
        ("npu_out_of_memory", "now", False),
        ("data", "now", False),
    ],
)
def test_a_retry_that_the_decision_would_not_make_is_told(name: str, retry: str | None, told: bool) -> None:
    found = named(asking(name, OnReason(retry)))  # type: ignore[arg-type]
    assert [one.severity for one in found] == (["warning"] if told else [])
    for one in found:
        assert name in one.message() and str(retry) in one.message("zh")


@pytest.mark.parametrize(
    ("change", "severity", "said"),
    [
        (f"{MEMORY}=0.6", None, ""),
        (f"++{MEMORY}=0.6", None, ""),
        (f"+{ROLLOUT}.engine_kwargs.vllm.swap_space=8", None, ""),
        (f"{ROLLOUT}.gpu_memory_utilisation=0.6", "error", MEMORY),
        (f"+{MEMORY}=0.6", "error", f"++{MEMORY}"),
        (f"{MEMORY}=much", "error", "float"),
        (f"{MEMORY}=[0.6", "error", MEMORY),
        (f"{MEMORY}=0.6,0.7", "error", MEMORY),
        ("model_engine=megatrom", "error", "megatron"),
    ],
)
def test_a_change_is_looked_at_as_an_argument_is(trees: Path, change: str, severity: str | None, said: str) -> None:
    found = refused(changing(change), trees)
    assert [one.severity for one in found] == ([severity] if severity else [])
    for one in found:
        assert one.place.key == "recovery.on_reason.npu_out_of_memory.change"
        assert said in one.message() + one.fix()
        for language in LANGUAGES:
            assert "npu_out_of_memory" in one.message(language) and one.fix(language)


def test_what_is_wrong_without_the_change_is_told_once(trees: Path) -> None:
    made = changing(f"{MEMORY}=0.6", arguments=("trainer.nnode=4", f"{MEMORY}=0.9"))
    assert refused(made, trees) == []
    assert [one.id for one in examine(made, trees=trees).findings if one.id == "NR101"] == ["NR101"]
    adds = changing("+a.b=1", arguments=("+a.b=2",))
    assert [one.severity for one in refused(adds, trees)] == ["error"]


def test_changes_of_one_rule_are_applied_together_and_each_rule_alone(trees: Path) -> None:
    assert len(refused(changing("+x.y=1", "+x.y=2"), trees)) == 1
    rules = {"hung": OnReason(change=("+x.y=1",)), "npu_out_of_memory": OnReason(change=("+x.y=2",))}
    assert refused(made_of(recovery=Recovery(declared=True, on_reason=rules)), trees) == []


def test_what_could_not_be_composed_is_said(tmp_path: Path) -> None:
    report = examine(changing(f"{MEMORY}=0.6"), trees=tmp_path)
    (one,) = [one for one in report.not_checked if one.id == "NR118"]
    assert "npu_out_of_memory" in one.message() and "npu_out_of_memory" in one.message("zh")
    assert not_checked(changing(f"{MEMORY}=0.6"), "NR118") == []  # nothing was to be composed
