"""Runs that have trained for a while, with all that the ledger then has of them: for pages, terminals, exports.

`python -m tests.support.trained HOME` fills a home with a few of them.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from submitter.ledger import Ledger, Quarantined
from submitter.metrics.alerts import Alert
from tests.support import curves
from tests.support.runs import MIN_MS, Told

NOW_MS = 1_790_000_000_000
START_MS = 4 * MIN_MS
"""From the submission of an attempt to its first step's begin."""
GAP_MS = 1 * MIN_MS
"""From an attempt's end to the next one's submission."""
LOST_MS = 3 * MIN_MS
"""From an attempt's last step to its end: in the midst of a step, or waiting."""
WAIT_S = 300
"""Before the next attempt of a run that is between two."""
LOST_STEPS = 13
"""Since the last checkpoint, by an attempt that failed."""
SAMPLE_EVERY_MS = 10_000
HBM_MB = 65_536
ARGUMENTS = (
    "algorithm.adv_estimator=grpo",
    "data.train_batch_size=512",
    "data.max_response_length=4096",
    "actor_rollout_ref.actor.ppo_mini_batch_size=128",
    "actor_rollout_ref.rollout.name=vllm",
    "trainer.save_freq=20",
)
CHANGE = "actor_rollout_ref.rollout.gpu_memory_utilization=0.6"

State = Literal["running", "waiting", "failed", "succeeded", "stopped"]


@dataclass(frozen=True)
class Failure:
    reason: str
    why: str
    """Of the decision that follows."""
    evidence: str
    blames_node: bool = False


FAILURES = (
    Failure("device_lost", "exclude_node", "[ERROR] EZ9999: device 5 is lost, error code 507018", blames_node=True),
    Failure("hung", "now", "no step for 10 min; the longest before was 96 s"),
    Failure("ray_oom_killed", "now", "ray.exceptions.OutOfMemoryError: memory <script>alert(1)</script> 98.2% used"),
    Failure("hccl_timeout", "now", "EI0002: HCCL notify wait timed out, remote rank 17"),
)
"""In turn; one of them has a text that a page must not take for its own."""


@dataclass(frozen=True)
class Part:
    """One attempt of a run."""

    attempt: int
    first: int
    last: int
    resumed_from: int | None
    began_ms: int
    """When it was submitted."""
    seen_ms: Sequence[int]
    """When each of its steps came."""
    ended_ms: int | None
    nodes: Sequence[str]
    left_out: Sequence[str]
    """Nodes in quarantine."""
    failure: Failure
    """How it ended, unless it is the last and did not fail."""


@dataclass(frozen=True)
class Trained:
    """What was written; to be compared with what is shown."""

    run: str
    state: State
    parts: Sequence[Part]
    total_steps: int
    now_ms: int
    names: Sequence[str] = field(repr=False)
    """Of its metrics, but for those of validation and saving."""

    @property
    def began_ms(self) -> int:
        return self.parts[0].began_ms


def trained_run(
    ledger: Ledger,
    name: str = "trained",
    *,
    steps: int = 200,
    attempts: int = 3,
    metrics: int = 40,
    nodes: int = 4,
    devices: int | None = 16,
    samples: int = 30,
    alerts: int = 2,
    state: State = "running",
    step_s: float = 60.0,
    total_steps: int | None = None,
    now_ms: int = NOW_MS,
    address: str = "http://127.0.0.1:1",
    job: str = "qwen3_5_122b_a10b_32k",
) -> Trained:
    """The run has made `steps` steps by `now_ms`. Each later attempt goes on from the last checkpoint before the end
    of the one before, so that some steps are there twice; each but the last has failed.

    `devices`: on each node, None where nothing could be measured. `samples`: of each node, the last ones. `alerts`:
    0, 1 (one that has passed) or 2 (and one that holds).
    """
    total = total_steps or (steps if state == "succeeded" else steps + steps // 4 or 1)
    timed = _Timeline(name, nodes, total, metrics, step_s)
    spans = list(_spans(steps, attempts))
    logs = [timed.log(number, resumed, last) for number, (resumed, last) in enumerate(spans, 1)]
    length_ms = timed.parts[-1].seen_ms[-1] + (0 if state == "running" else LOST_MS)
    parts = [_shifted(part, now_ms - length_ms, part.attempt < attempts or state != "running") for part in timed.parts]
    told = Told(ledger, name, address=address, began_ms=parts[0].began_ms, job=job, total_steps=total)
    with ledger.together(durable=False):
        for part, log in zip(parts, logs, strict=True):
            _tell(told, part, log, is_last=part.attempt == attempts, state=state)
        _tell_state(told, parts[-1], state)
        _sample(ledger, name, parts[-1], now_ms, devices, samples)
        _alert(ledger, name, parts, now_ms, alerts)
    return Trained(name, state, parts, total, now_ms, [*logs[0].rows[0]][:metrics])


def _spans(steps: int, attempts: int) -> Sequence[tuple[int | None, int]]:
    """(the checkpoint that it goes on from, the last step) of each attempt."""
    shares = [steps * (number + 1) // attempts for number in range(attempts)]
    ends = [min(steps - 1, share - share % curves.SAVE_EVERY + LOST_STEPS) for share in shares]
    ends[-1] = steps
    saved = [end - end % curves.SAVE_EVERY for end in ends]
    return [*zip([None, *(one or None for one in saved[:-1])], ends, strict=True)]


class _Timeline:
    """The attempts one after the other; the first begins at 0 ms."""

    def __init__(self, run: str, nodes: int, total: int, metrics: int, step_s: float) -> None:
        self.parts: list[Part] = []
        self._run, self._total, self._metrics, self._step_s = run, total, metrics, step_s
        self._nodes = [f"10.0.0.{number}" for number in range(1, nodes + 1)]
        self._left_out: list[str] = []
        self._now_ms = 0

    def log(self, attempt: int, resumed: int | None, last: int) -> curves.Logged:
        steps = range((resumed or 0) + 1, last + 1)
        log = curves.logged(
            self._run,
            attempt,
            steps,
            total=self._total,
            metrics=self._metrics,
            step_s=self._step_s,
            nodes=len(self._nodes),
        )
        began_ms, self._now_ms = self._now_ms, self._now_ms + START_MS
        seen_ms = []
        for took_s in log.took_s:
            self._now_ms += round(took_s * 1000)
            seen_ms.append(self._now_ms)
        failure = FAILURES[(attempt - 1) % len(FAILURES)]
        ended_ms = self._now_ms + LOST_MS
        self.parts.append(
            Part(
                attempt,
                steps[0],
                last,
                resumed,
                began_ms,
                seen_ms,
                ended_ms,
                tuple(self._nodes),
                tuple(self._left_out),
                failure,
            )
        )
        self._now_ms = ended_ms + GAP_MS
        if failure.blames_node:
            self._left_out.append(self._nodes[-1])
            self._nodes[-1] = f"10.0.0.{int(self._nodes[-1].rpartition('.')[2]) + 1}"
        return log


def _shifted(part: Part, by_ms: int, has_ended: bool) -> Part:
    ended_ms = part.ended_ms + by_ms if has_ended and part.ended_ms else None
    seen_ms = [one + by_ms for one in part.seen_ms]
    return replace(part, began_ms=part.began_ms + by_ms, seen_ms=seen_ms, ended_ms=ended_ms)


def _tell(told: Told, part: Part, log: curves.Logged, *, is_last: bool, state: State) -> None:
    quarantine = {"NPURUN_QUARANTINE": ",".join(part.left_out)} if part.left_out else {}
    changes = [CHANGE] if part.attempt > 2 else []
    began = _min(told, part.began_ms)
    submission = told.begin(
        part.attempt,
        began,
        arguments=[*ARGUMENTS, *changes],
        env=quarantine,
        changes=changes,
        resumed_from=part.resumed_from,
    )
    _event(told, part, "supervise.posted", part.began_ms, address=told.address)
    rows = list(zip(log.steps, part.seen_ms, log.rows, strict=True))
    if part.resumed_from is None and part.attempt == 1:
        first = {curves.VALIDATION: curves.accuracy(told.run, 1, 0, told.total_steps or 1)}
        rows.insert(0, (0, part.began_ms + START_MS, first))
    told.ledger.record_steps(told.run, part.attempt, rows)
    told.ledger.observe(
        submission, state="RUNNING", last_step=part.last, log_bytes=900 * len(rows), now_ms=part.seen_ms[-1]
    )
    if not is_last or state in ("waiting", "failed"):
        _fail(told, part, retries=not is_last or state == "waiting", wait_s=WAIT_S * is_last)


def _fail(told: Told, part: Part, *, retries: bool, wait_s: int) -> None:
    assert part.ended_ms is not None
    failure, end = part.failure, _min(told, part.ended_ms)
    node = part.nodes[-1] if failure.blames_node else None
    record = {"reason": "trainer_failed", "nodes": list(part.nodes), "node": node, "phase": "training"}
    told.end(part.attempt, end, failure.reason, node=node, evidence=failure.evidence, end=record)
    values = {"reason": failure.reason, "node": node or "-"}
    _event(told, part, "supervise.ended", part.ended_ms, **values, step=part.last)
    _event(told, part, "supervise.proof", part.ended_ms, file="driver", line=812, text=failure.evidence)
    if node is not None:
        _quarantine(told, part, node)
    if retries:
        why = "backoff" if wait_s else failure.why
        told.decide(part.attempt, end, why, wait_s=wait_s, **values)
        said = {**values, "attempt": part.attempt, "next": part.attempt + 1, "wait_s": wait_s}
        _event(told, part, f"decide.{why}", part.ended_ms, **said)


def _quarantine(told: Told, part: Part, node: str) -> None:
    assert part.ended_ms is not None
    entry = Quarantined(
        address=told.address,
        node=node,
        submission_id=f"{told.run}-a{part.attempt}",
        finding=FAILURES[0].reason,
        evidence={"file": "driver", "line": 812, "text": FAILURES[0].evidence},
        since_ms=part.ended_ms,
        until_ms=part.ended_ms + 7 * 24 * 60 * MIN_MS,
    )
    told.ledger.quarantine([entry])


def _tell_state(told: Told, part: Part, state: State) -> None:
    if state in ("running", "waiting"):
        return
    assert part.ended_ms is not None and part.failure is not None
    end, reason = _min(told, part.ended_ms), part.failure.reason if state == "failed" else state
    if state != "failed":
        record = {"reason": reason, "nodes": list(part.nodes), "phase": "training"}
        told.end(part.attempt, end, reason, state=state.upper(), end=record)
    told.over(end, state, reason)
    said = {"reason": reason, "attempts": part.attempt, "step": part.last}
    _event(told, part, f"supervise.run_{state}", part.ended_ms, **said)


def _event(told: Told, part: Part, text_id: str, at_ms: int, **values: Any) -> None:
    said = {"run": told.run, "submission": f"{told.run}-a{part.attempt}", **values}
    told.ledger.event(told.run, part.attempt, text_id, said, at_ms)


def _min(told: Told, at_ms: int) -> float:
    return (at_ms - told.began_ms) / MIN_MS


def _sample(ledger: Ledger, run: str, part: Part, now_ms: int, devices: int | None, count: int) -> None:
    times = [now_ms - SAMPLE_EVERY_MS * back for back in reversed(range(count))]
    for number, node in enumerate(part.nodes):
        ledger.record_samples(run, part.attempt, [sample(node, number, at_ms, devices) for at_ms in times])


def sample(node: str, number: int, at_ms: int, devices: int | None) -> dict[str, Any]:
    """As a node worker hands it over; of the `number`th node of the run."""
    wave = math.sin(at_ms / 60_000 + number)
    return {
        "at": at_ms / 1000,
        "node": node,
        "host": f"a3-{number + 1:02}",
        "devices": None if devices is None else [_device(npu, wave) for npu in range(devices)],
        "devices_at": None if devices is None else at_ms / 1000,
        "why": "npu-smi: not found" if devices is None else None,
        "memory_used_mb": round(420_000 + 9_000 * wave),
        "memory_total_mb": 1_536_000,
        "cpu_percent": round(31 + 6 * wave, 1),
        "load": round(40 + 8 * wave, 2),
        "interval_s": 10.0,
        "tool_s": None if devices is None else 0.09,
    }


def _device(npu: int, wave: float) -> dict[str, Any]:
    return {
        "npu": npu,
        "use": round(82 + 12 * wave - npu % 3),
        "hbm_used_mb": round(52_000 + 3_000 * wave + 40 * npu),
        "hbm_total_mb": HBM_MB,
        "power_w": round(310 + 40 * wave + npu, 1),
        "temp_c": round(52 + 5 * wave + npu % 4),
        "health": "OK",
    }


def _alert(ledger: Ledger, run: str, parts: Sequence[Part], now_ms: int, count: int) -> None:
    first, last = parts[0], parts[-1]
    begin, middle = first.first, first.seen_ms[len(first.seen_ms) // 2]
    grew = {"metric": "actor/grad_norm", "value": 1.9, "usual": 0.31, "steps": 21}
    passed = Alert("NR904", "warning", None, begin, begin + 20, grew)
    took = {"value": 96, "usual": 61, "times": 1.57, "phase": "generation", "phase_s": 68, "phase_usual_s": 33}
    holds = Alert("NR907", "warning", None, max(1, last.last - 30), last.last, took)
    if count > 0:
        ledger.record_alerts(run, first.attempt, [passed], middle)
        ledger.record_alerts(run, first.attempt, [], first.seen_ms[-1])
    if count > 1:
        ledger.record_alerts(run, last.attempt, [holds], now_ms)


def fill(home: Path, now_ms: int, address: str = "http://127.0.0.1:1") -> list[Trained]:
    """A run in each state, one with many steps, one that measured no devices."""
    ledger = Ledger(home)
    hour = 60 * MIN_MS

    def run(name: str, ago_ms: int = 0, **settings: Any) -> Trained:
        return trained_run(ledger, name, now_ms=now_ms - ago_ms, address=address, **settings)

    try:
        return [
            run("qwen3-122b-grpo", steps=412, nodes=4, step_s=96.0, total_steps=600),
            run("qwen3-8b-long", steps=20_000, attempts=5, step_s=11.0, samples=300),
            run("no-npu-smi", steps=60, attempts=1, nodes=2, devices=None, alerts=0),
            run("between-two", steps=90, attempts=2, state="waiting"),
            run("gave-up", 5 * hour, steps=48, attempts=4, nodes=2, state="failed", job="qwen3_8b_grpo"),
            run("done-at-once", 26 * hour, steps=300, attempts=1, state="succeeded", alerts=1),
            run("stopped-by-hand", 3 * hour, steps=33, attempts=1, state="stopped", alerts=0),
        ]
    finally:
        ledger.close()


if __name__ == "__main__":
    for one in fill(Path(sys.argv[1]), int(time.time() * 1000)):
        print(f"{one.run}: {one.state}, {len(one.parts)} attempts, step {one.parts[-1].last} of {one.total_steps}")
