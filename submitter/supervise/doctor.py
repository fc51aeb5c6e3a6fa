"""The node probes alone: a Ray job that looks at every node, reserves nothing, and stands in no ledger."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from runtime_env.stacks import Stack
from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.cluster.packages import Package, gang_package, working_dir_package
from submitter.errors import NpurunError, RunFailedError, UnreachableError
from submitter.exit_codes import ExitCode
from submitter.gang.fitness import longest_s
from submitter.gang.node_worker import BUILD, START
from submitter.gang.plan import Plan
from submitter.gang.probes.wish import Wish
from submitter.gang.record import RECORD_PREFIXES, parse_fitness, parse_verdict
from submitter.job.model import Cluster, Job, Trainer
from submitter.render.plan import plan
from submitter.render.request import ATTEMPT_KEY, RUN_KEY, Facts, request, request_bytes
from submitter.render.wish import components
from submitter.supervise.inspect import whole_log
from submitter.supervise.node_findings import NodeFinding, finding_of
from submitter.supervise.outcome import end_in, first_line, outcome_of
from submitter.supervise.submit import mint_run, upload
from submitter.texts import Tell

NAME = "doctor"
POLL_S = 0.5
SAY_EVERY_S = 15.0
START_BOUND_S = 120.0
"""For Ray to unpack a megabyte on the head and to start a process there: seconds, on a loaded head a minute."""
START_WITH_PIP_S = 900.0
"""Ray's own limit for a job that installs packages first (RAY_JOB_START_TIMEOUT_SECONDS)."""
DOUBT_S = 10.0
"""A POST whose answer was lost shows as a job by then, or it never arrived."""
MARGIN_S = 40.0
"""Beside the looking itself: connecting to Ray, the records, the end of all workers."""
STOP_BOUND_S = 15.0
"""Ray does not stop a job that is pending, although it says so: asked again until it has ended."""

_SEVERITIES = ("error", "warning", "hint")
_NO_JOB = Job(
    name=NAME,
    summary="",
    stack=None,
    file="",
    cluster=Cluster(nodes=0, npus_per_node=0),
    variables={},
    flags=(),
    trainer=Trainer("", "ray"),
    groups=(),
)
"""What a request without a job is made of: no flags, no packages of the user."""


class InterruptedDoctorError(NpurunError):
    exit_code = ExitCode.INTERRUPTED


@dataclass(frozen=True)
class NotMeasured:
    probe: str
    why: str
    """The node's own words, English."""
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Examination:
    nodes: tuple[Mapping[str, Any], ...]
    """`gang.probes.verdict.Node` as JSON, by IP."""
    findings: tuple[NodeFinding, ...]
    """Errors first, else by node and id."""
    not_measured: tuple[NotMeasured, ...]
    took_s: float
    """From the submission to the end of the job."""


def examine(
    job: Job | None,
    client: RayClient,
    *,
    stack: Stack | None = None,
    tell: Tell,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    rng: random.Random | None = None,
) -> Examination:
    """Looks at every node of the cluster, for `job` if there is one, else for what `stack` says if there is one.

    RunFailedError: the driver could not start, failed, or did not end in time. UnreachableError: the cluster.
    InterruptedDoctorError: Ctrl-C; the Ray job was stopped.
    """
    run = mint_run(NAME, rng or random.SystemRandom())
    packages, body = prepare(job, stack, run=run, ray_version=client.version(), head_node_id=client.head().node_id)
    for package in packages:
        upload(package, client, tell)
    identity = str(body["submission_id"])
    began = clock()
    try:
        doubt = _post(client, body)
        tell("doctor.looking", address=client.address, submission=identity)
        info = _Waiting(client, identity, doubt, bounds(job), tell, clock, sleep).until_ended()
    except KeyboardInterrupt:
        ended = _stop(client, identity, clock, sleep)
        told = "doctor.interrupted" if ended else "doctor.interrupted_going"
        raise InterruptedDoctorError(told, submission=identity) from None
    return _read(info, list(whole_log(client, identity)), clock() - began)


@dataclass(frozen=True)
class Bounds:
    """Seconds: until the driver runs, and from then on until its end."""

    start_s: float
    look_s: float


def bounds(job: Job | None) -> Bounds:
    installs = job is not None and bool(job.runtime_env.pip)
    looking = longest_s(doctor_plan(job, None).wish, BUILD if installs else START)
    return Bounds(START_WITH_PIP_S if installs else START_BOUND_S, looking + MARGIN_S)


def prepare(
    job: Job | None, stack: Stack | None, *, run: str, ray_version: str, head_node_id: str
) -> tuple[list[Package], dict[str, Any]]:
    """What is uploaded, and the body that is posted: the flags and the folder of the job, as its workers will have."""
    gang = gang_package(doctor_plan(job, stack))
    folder = working_dir_package(job.runtime_env) if job is not None else None
    facts = Facts(
        run=run,
        attempt=1,
        package_uris=(gang.uri,),
        working_dir_uri=folder.uri if folder else None,
        head_node_id=head_node_id,
        ray_version=ray_version,
    )
    body = request(job or _NO_JOB, facts)
    for key in (RUN_KEY, ATTEMPT_KEY):  # it is no run: `npurun list` finds runs by these
        del body["metadata"][key]
    return [gang, *([folder] if folder else [])], body


def doctor_plan(job: Job | None, stack: Stack | None) -> Plan:
    if job is not None:
        return dataclasses.replace(plan(job), command=(), secrets={}, task="doctor")
    wish = Wish(stack=components(stack))
    return Plan("ray", command=(), nodes=0, npus_per_node=0, labels={}, flags={}, wish=wish, task="doctor")


def not_measured(nodes: Iterable[Mapping[str, Any]]) -> tuple[NotMeasured, ...]:
    """One per probe and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        for probe, one in node["measured"].items():
            if one["why"] is not None:
                found.setdefault((probe, one["why"]), []).append(node["ip"])
    return tuple(NotMeasured(probe, why, tuple(ips)) for (probe, why), ips in found.items())


def _post(client: RayClient, body: Mapping[str, Any]) -> RayError | None:
    """Once: a POST in doubt, whose error is returned, is resolved by looking for the job."""
    try:
        client.post_job(request_bytes(body))
    except RayError as error:
        if not error.in_doubt:
            raise
        return error
    return None


class _Waiting:
    """For the job's end, within two bounds: until its driver runs, and from then on."""

    def __init__(
        self,
        client: RayClient,
        identity: str,
        doubt: RayError | None,
        bounds: Bounds,
        tell: Tell,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._client = client
        self._id = identity
        self._doubt = doubt
        self._tell = tell
        self._clock = clock
        self._sleep = sleep
        self._info: JobInfo | None = None
        self._error: RayError | None = None
        self._since = self._said_at = clock()
        self._bounds = bounds
        self._bound_s = bounds.start_s

    def until_ended(self) -> JobInfo:
        while True:
            self._look()
            if self._info is not None and self._info.ended:
                return self._info
            self._check_bound()
            self._say()
            self._sleep(POLL_S)

    @property
    def _running(self) -> bool:
        return self._info is not None and self._info.status == "RUNNING"

    def _look(self) -> None:
        ran = self._running
        try:
            self._info = self._client.job(self._id) or self._info
        except RayError as error:
            if error.refused:
                raise
            if self._error is None:
                self._tell("doctor.away", submission=self._id, error=error)
            self._error = error
            return
        self._error = None
        if self._running and not ran:
            self._since = self._said_at = self._clock()
            self._bound_s = self._bounds.look_s

    def _check_bound(self) -> None:
        unknown = self._info is None and self._error is None
        if self._doubt is not None and unknown and self._clock() - self._since > DOUBT_S:
            raise self._doubt
        if self._clock() - self._since <= self._bound_s:
            return
        values = {"submission": self._id, "address": self._client.address, "seconds": f"{self._bound_s:.0f}"}
        if self._error is not None or self._info is None:
            raise UnreachableError("doctor.lost", None, **values)
        _stop(self._client, self._id, self._clock, self._sleep)
        if self._running:
            raise RunFailedError("doctor.not_in_time", None, **values, said=_last_line(self._client, self._id))
        raise RunFailedError("doctor.not_started", None, **values, said=first_line(self._info.message) or "-")

    def _say(self) -> None:
        now = self._clock()
        if self._error is not None or now - self._said_at < SAY_EVERY_S:
            return
        self._said_at = now
        waited, bound = f"{now - self._since:.0f}", f"{self._bound_s:.0f}"
        if self._running:
            self._tell("doctor.waiting", seconds=waited, bound=bound, said=_last_line(self._client, self._id))
        else:
            said = first_line(self._info.message) if self._info else ""
            self._tell("doctor.starting", seconds=waited, bound=bound, said=said or "-")


def _stop(client: RayClient, identity: str, clock: Callable[[], float], sleep: Callable[[float], None]) -> bool:
    """Whether it has ended within the bound; a job that outlives it holds nothing and ends by itself."""
    until = clock() + STOP_BOUND_S
    while clock() < until:
        with suppress(RayError):
            info = client.job(identity)
            if info is None or info.ended:
                return True
            client.stop(identity)
        sleep(POLL_S)
    return False


def _last_line(client: RayClient, identity: str) -> str:
    with suppress(RayError):
        lines = [line for line in client.log_tail(identity, 5).splitlines() if line.strip()]
        return lines[-1] if lines else "-"
    return "-"


def _read(info: JobInfo, lines: Sequence[str], took_s: float) -> Examination:
    found = [node for line in lines if (node := parse_fitness(line, info.submission_id))]
    nodes = tuple(sorted(found, key=lambda node: _by_number(node["ip"])))
    if info.status != "SUCCEEDED" or not nodes:
        raise _failed(info, lines)
    verdicts = [verdict for line in lines if (verdict := parse_verdict(line, info.submission_id))]
    order = {node["ip"]: place for place, node in enumerate(nodes)}
    findings = sorted(map(finding_of, verdicts), key=lambda one: _rank(one, order))
    return Examination(nodes, tuple(findings), not_measured(nodes), took_s)


def _by_number(ip: str) -> list[tuple[int, str]]:
    """10.0.0.9 comes before 10.0.0.10."""
    return [(int(part) if part.isdigit() else -1, part) for part in ip.split(".")]


def _rank(finding: NodeFinding, order: Mapping[str, int]) -> tuple[int, int, str]:
    return _SEVERITIES.index(finding.severity), order.get(finding.place.node or "", len(order)), finding.id


def _failed(info: JobInfo, lines: Sequence[str]) -> RunFailedError:
    """The driver's own account where it left one, else the last line of its log, else Ray's words."""
    outcome = outcome_of(info, end_in(lines, info.submission_id))
    evidence = [str(one) for one in (outcome.end or {}).get("evidence") or ()]
    last = [line.strip() for line in lines if line.strip() and not line.startswith(RECORD_PREFIXES)][-1:]
    said = next(iter((*evidence, *last, outcome.message)), "") or "-"
    return RunFailedError("doctor.failed", None, submission=info.submission_id, reason=outcome.reason, said=said)
