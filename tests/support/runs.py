"""Runs as the commands find them: submitted to a fake Ray in nobody's care, or told to a ledger attempt by attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from submitter.cluster.client import RayClient
from submitter.cluster.packages import gang_package
from submitter.gang.plan import Plan
from submitter.job.load import load_job
from submitter.ledger import Ledger
from submitter.recovery.diagnose import Diagnosis, Line
from submitter.recovery.reasons import REASONS
from submitter.render.request import request_bytes
from submitter.supervise.submit import submit

MIN_MS = 60_000


def submit_alone(job: Path, address: str, run: str, home: Path) -> None:
    """As an npurun without a supervisor did it; the ledger is in `home`/npurun."""
    ledger = Ledger(home / "npurun")
    submit(load_job(str(job), environ={}), RayClient(address), ledger, run=run, tell=lambda *_, **__: None)
    ledger.close()


@dataclass(frozen=True)
class Told:
    """A run in care, as a supervisor would have written it down by now; times in minutes from its begin."""

    ledger: Ledger
    run: str
    address: str = "http://127.0.0.1:1"
    began_ms: int = 1_700_000_000_000
    job: str = "qwen3_5_122b_a10b_32k"
    total_steps: int | None = 200

    def begin(
        self,
        attempt: int,
        at_min: float,
        *,
        arguments: Sequence[str] = (),
        env: dict[str, str] | None = None,
        changes: Sequence[str] = (),
        resumed_from: int | None = None,
    ) -> str:
        """Posted; its submission id."""
        name, at_ms = f"{self.run}-a{attempt}", self._ms(at_min)
        package = gang_package(plan(*arguments))
        self.ledger.keep_package(package.name, package.data)
        env_vars = {"NPURUN_RUN": self.run, "NPURUN_ATTEMPT": name, **(env or {})}
        body = {"submission_id": name, "runtime_env": {"env_vars": env_vars, "py_modules": [package.uri]}}
        self.ledger.record_intent(
            run=self.run,
            attempt=attempt,
            submission_id=name,
            address=self.address,
            spec="s",
            job=self.job,
            total_steps=self.total_steps,
            body=request_bytes(body),
            now_ms=at_ms,
            changes=changes,
            supervised=True,
        )
        self.ledger.record_posted(name, at_ms)
        if resumed_from is not None:
            self.ledger.record_resumed(name, resumed_from)
        return name

    def seen(self, attempt: int, at_min: float, *, state: str = "RUNNING", first: int, last: int) -> None:
        """It has logged these steps."""
        name = f"{self.run}-a{attempt}"
        self.ledger.record_steps(self.run, attempt, [(step, self._ms(at_min), {}) for step in (first, last)])
        self.ledger.observe(name, state=state, last_step=last, log_bytes=1, now_ms=self._ms(at_min))

    def end(
        self,
        attempt: int,
        at_min: float,
        reason: str,
        *,
        state: str = "FAILED",
        node: str | None = None,
        evidence: str | None = None,
        end: dict[str, Any] | None = None,
        ended_by: str = "itself",
    ) -> None:
        lines = (Line("driver", 812, evidence),) if evidence else ()
        diagnosis = Diagnosis(reason, REASONS[reason].retry, node, lines)
        self.ledger.record_end(
            f"{self.run}-a{attempt}",
            state=state,
            reason=reason,
            end=end,
            started_ms=None,
            ended_ms=self._ms(at_min),
            diagnosis=diagnosis.as_json("en"),
            ended_by=ended_by,
        )

    def decide(
        self, after: int, at_min: float, why: str, *, action: str = "retry", wait_s: int = 0, **values: Any
    ) -> None:
        decision = {"action": action, "wait_s": wait_s, "exclude": [], "changes": [], "why": why, "inputs": {}}
        all_values = {"attempt": after, "next": after + 1, "wait_s": wait_s, **values}
        due_ms = self._ms(at_min) + wait_s * 1000
        self.ledger.record_decision(self.run, after, {**decision, "values": all_values}, due_ms, self._ms(at_min))

    def over(self, at_min: float, state: Any, reason: str) -> None:
        self.ledger.end_run(self.run, state, reason, self._ms(at_min))

    def _ms(self, at_min: float) -> int:
        return self.began_ms + round(at_min * MIN_MS)


def plan(*arguments: str, **changes: Any) -> Plan:
    values: dict[str, Any] = {"launcher": "ray", "nodes": 4, "npus_per_node": 16, "labels": {}, "flags": {}}
    return Plan(command=("python3", "-m", "verl.trainer.main_ppo", *arguments), **{**values, **changes})
