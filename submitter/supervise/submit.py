"""One submission, exactly once: written down, posted, and on doubt looked up, never posted under a second name."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime_env.ids import MAX_RUN_CHARACTERS, check_run, submission_id
from submitter.arguments.assemble import arguments
from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.cluster.packages import Package, gang_package, working_dir_package
from submitter.errors import UsageError
from submitter.job.model import Job
from submitter.ledger import Attempt, Ledger, Run
from submitter.recovery.policy import Policy
from submitter.render.plan import plan
from submitter.render.request import SPEC_KEY, Facts, request, request_bytes
from submitter.supervise.find import jobs_of
from submitter.supervise.nodes import left_out
from submitter.supervise.post import check_same_spec, other_spec, post
from submitter.texts import Tell, clipped

SUFFIX_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
SUFFIX_CHARACTERS = 8
"""36^8 names: two runs of one job never meet."""
FIRST_ATTEMPT = 1
PACKAGE_SHOWN = 40
"""Characters of a package's name, which is mostly a hash: the line fits 80 columns."""


@dataclass(frozen=True)
class Submission:
    run: str
    attempt: int
    submission_id: str
    adopted: bool
    """The cluster had it already, with the same request."""


def submit(
    job: Job,
    client: RayClient,
    ledger: Ledger,
    *,
    run: str | None,
    tell: Tell,
    supervised: bool = False,
    extra_packages: Mapping[str, Path] | None = None,
    clock: Callable[[], float] = time.time,
    rng: random.Random | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Submission:
    """Posts `job` as the first attempt of a run, or adopts the live run named `run` if it does the same.

    `supervised`: the supervisor of this ledger may go on with further attempts; what they need is kept.

    UsageError (nothing was posted): a bad or spent name, a live run that does something else. UnreachableError: the
    cluster; after it `submit --run` with the same name goes on where this ended.
    """
    from submitter.supervise.inspect import catch_up  # brings asyncio; `render` needs only `prepare`

    name = check_run(run) if run is not None else mint_run(job.name, rng or random.SystemRandom())
    version = client.version()
    catch_up(ledger, client)
    packages, body = prepare(
        job,
        run=name,
        ray_version=version,
        head_node_id=client.head().node_id,
        extra_packages=extra_packages,
        quarantine=left_out(ledger, client.address, _now_ms(clock), tell),
    )
    if run is not None:
        adopted = _adopt(name, body, client, ledger)
        if adopted is not None:
            # A POST that was in doubt has turned out well: should Ray forget the job, the name is spent all the same.
            ledger.record_posted(adopted.submission_id, _now_ms(clock))
            return adopted
    for package in packages:
        if supervised:
            ledger.keep_package(package.name, package.data)
        upload(package, client, tell)
    noted_ms = _now_ms(clock)
    _note(job, name, body, client, ledger, noted_ms, supervised)
    identity = str(body["submission_id"])
    try:
        known_already = post(client, body, run=name, tell=tell, sleep=sleep)
    except (RayError, UsageError):
        ledger.withdraw(identity, noted_ms)  # this call surely submitted nothing: the name stays free
        raise
    ledger.record_posted(identity, _now_ms(clock))
    return Submission(name, FIRST_ATTEMPT, identity, known_already)


def prepare(
    job: Job,
    *,
    run: str,
    attempt: int = FIRST_ATTEMPT,
    head_node_id: str,
    ray_version: str,
    extra_packages: Mapping[str, Path] | None = None,
    quarantine: tuple[str, ...] = (),
) -> tuple[list[Package], dict[str, Any]]:
    """What is uploaded (npurun's own package first), and the body that is posted."""
    gang = gang_package(plan(job), extra_packages)
    folder = working_dir_package(job.runtime_env)
    facts = Facts(
        run=run,
        attempt=attempt,
        package_uris=(gang.uri,),
        working_dir_uri=folder.uri if folder else None,
        head_node_id=head_node_id,
        ray_version=ray_version,
        quarantine=quarantine,
    )
    return [gang, *([folder] if folder else [])], request(job, facts)


def mint_run(job_name: str, rng: random.Random) -> str:
    """`<job with _ as ->-<8 random characters>`, the job's part cut so that the whole has at most 57 characters."""
    stem = re.sub(r"[^a-z0-9-]+", "-", job_name.lower()).strip("-")[: MAX_RUN_CHARACTERS - SUFFIX_CHARACTERS - 1]
    suffix = "".join(rng.choice(SUFFIX_ALPHABET) for _ in range(SUFFIX_CHARACTERS))
    return check_run(f"{stem.strip('-') or 'job'}-{suffix}")


def total_steps(job: Job) -> int | None:
    """What the job sets for `trainer.total_training_steps`; None when the trainer works it out from its data."""
    pattern = re.compile(r"\+{0,2}trainer\.total_training_steps=(\d+)")
    found = [match[1] for argument in arguments(job) if (match := pattern.fullmatch(argument))]
    return int(found[-1]) if found else None


def _adopt(run: str, body: Mapping[str, Any], client: RayClient, ledger: Ledger) -> Submission | None:
    """The live run of this name; None when the name is free, or was written down and never arrived."""
    attempts, noted = ledger.attempts(run), ledger.run(run)
    begun = [one for one in attempts if one.posted_ms is not None or one.state is not None]
    if noted is not None and noted.supervised and begun:  # also while its supervisor is about to post the next one
        return _adopt_supervised(noted, begun[-1], body, client)
    jobs = jobs_of(client, run, len(attempts))
    if jobs:
        newest = jobs[-1]
        if newest.ended:
            raise UsageError("submit.run_ended", run=run, state=newest.status)
        check_same_spec(newest, body, run)
        number = int(newest.submission_id.rpartition("-a")[2])
        return Submission(run, number, newest.submission_id, adopted=True)
    if noted is None:
        return None
    if noted.address != client.address:
        raise UsageError("submit.run_elsewhere", run=run, there=noted.address, here=client.address)
    if attempts and attempts[-1].state is not None:
        raise UsageError("submit.run_ended", run=run, state=attempts[-1].state)
    if attempts and attempts[-1].posted_ms is not None:
        raise UsageError("submit.run_forgotten", run=run, address=client.address)
    return None


def _adopt_supervised(noted: Run, newest: Attempt, body: Mapping[str, Any], client: RayClient) -> Submission:
    """A run in care is live between two attempts too, and while its cluster is away."""
    if noted.address != client.address:
        raise UsageError("submit.run_elsewhere", run=noted.run, there=noted.address, here=client.address)
    if noted.state != "active":
        raise UsageError("submit.run_ended", run=noted.run, state=noted.state)
    here = str(body["metadata"][SPEC_KEY])
    if noted.spec != here:
        raise other_spec(noted.run, there=noted.spec, here=here)
    return Submission(noted.run, newest.attempt, newest.submission_id, adopted=True)


def upload(package: Package, client: RayClient, tell: Tell) -> None:
    if client.has_package(package.uri):
        return
    tell("submit.uploading", package=clipped(package.name, PACKAGE_SHOWN), size=f"{len(package.data) / 2**20:.1f} MiB")
    client.put_package(package)


def _note(
    job: Job, run: str, body: Mapping[str, Any], client: RayClient, ledger: Ledger, now_ms: int, supervised: bool
) -> None:
    """The intent, on disk before the POST: a crash after this leads to the same submission, not to a second one."""
    spec = str(body["metadata"][SPEC_KEY])
    noted = ledger.record_intent(
        run=run,
        attempt=FIRST_ATTEMPT,
        submission_id=submission_id(run, FIRST_ATTEMPT),
        address=client.address,
        spec=spec,
        job=job.name,
        total_steps=total_steps(job),
        body=request_bytes(body),
        now_ms=now_ms,
        policy=Policy.of(job.recovery).to_json(),
        supervised=supervised,
    )
    if noted.spec != spec:
        raise other_spec(run, there=noted.spec, here=spec)


def _now_ms(clock: Callable[[], float]) -> int:
    return int(clock() * 1000)
