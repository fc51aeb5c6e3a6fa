"""The recovery section: its keys, and that the policy of a run is what it says."""

from __future__ import annotations

from pathlib import Path

from submitter.job.model import OnReason, Recovery
from submitter.recovery.policy import Policy
from tests.support.job_files import load_text

JOB = """\
name: t
cluster: {nodes: 1, npus_per_node: 1}
trainer: {module: m}
variables: {LIMIT: 2, UTILIZATION: "0.6"}
arguments: {}
recovery:
  max_attempts: 7
  max_hours: 12.5
  first_step_min: 45
  hang_min: 2.5
  resume: true
  from_start: true
  on_reason:
    peer_lost: backoff
    device_memory:
      limit: ${LIMIT}
      change:
        - actor_rollout_ref.rollout.gpu_memory_utilization=${UTILIZATION}
        - +a.b='x, y'
    hung: {retry: never}
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    job = load_text(JOB, tmp_path)
    change = ("actor_rollout_ref.rollout.gpu_memory_utilization=0.6", "+a.b='x, y'")
    rules = {
        "peer_lost": OnReason("backoff"),
        "device_memory": OnReason(None, 2, change),
        "hung": OnReason("never"),
    }
    assert job.recovery == Recovery(True, 7, 12.5, 45, 2.5, True, True, rules)
    assert job.place("recovery.on_reason.device_memory.change").line == 17
    assert Policy.of(job.recovery) == Policy(7, 12.5, True, True, rules)


def test_defaults(tmp_path: Path) -> None:
    bare = load_text(JOB.partition("recovery")[0], tmp_path)
    assert bare.recovery == Recovery()
    empty = load_text(JOB.partition("  max_attempts")[0], tmp_path)
    assert empty.recovery == Recovery(declared=True)
    assert Policy.of(bare.recovery) == Policy()
