"""The driver's phase `checkpoint`: which arguments a later attempt's trainer gets so that it goes on."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from ..ask import Answer, Bound, Nodes, ask_all
from ..attempt_safe import FIRST, number_of
from ..ended import Ended, Stop
from ..launch_torchrun import rank_order
from ..members import CHANGES_VARIABLE, RESUME_VARIABLE, RUN_VARIABLE, TRAINED_VARIABLE, Gang
from ..plan import Plan
from ..record import Resume, resume_line
from ..say import clean, say, warn
from .choose import Choice, Look, candidates, choose, ranks_of
from .plan import CheckpointPlan
from .seen import Listing, Seen

LIST = Bound(total_s=30.0, grace_s=20.0)
"""A folder's names; a slow NFS takes seconds."""
LOOK = Bound(total_s=75.0, grace_s=60.0)
"""One checkpoint: 16 ranks have 48 files on a node, each opened and read at its end."""
ALL_S = 180.0
"""All of them together: the devices are held meanwhile."""
SAFE_FOLDER = "npurun"
"""Below the user's home: where relative checkpoint folders go."""

_BARE = re.compile(r"[A-Za-z0-9_/\-+.%*@?|:]+")

LOCAL_DIR, MODE, PATH = "trainer.default_local_dir", "trainer.resume_mode", "trainer.resume_from_path"


def made_safe(plan: Plan, environ: Mapping[str, str]) -> Plan:
    """The plan of any attempt: with the changes that a policy allowed, and a checkpoint folder that every attempt has.

    Ray unpacks a working_dir anew for each attempt: what is saved below it is lost to the next one.
    """
    changes = json.loads(environ.get(CHANGES_VARIABLE) or "[]")
    for change in changes:
        say(f"with a change that the job's policy allows: {clean(change)}")
    plan = _with(plan, changes)
    checkpoint = plan.checkpoint
    if checkpoint is None or checkpoint.folder.startswith("/") or not checkpoint.saves:
        return plan
    folder = absolute(checkpoint.folder, str(Path.home()), environ.get(RUN_VARIABLE, ""))
    say(f"checkpoints go to {clean(folder)} on the nodes: {clean(checkpoint.folder)} is relative, and another folder")
    say("in each attempt; an absolute path on storage that all nodes share is better")
    safe = dataclasses.replace(checkpoint, folder=folder)
    return _with(dataclasses.replace(plan, checkpoint=safe), [f"{LOCAL_DIR}={hydra_text(folder)}"])


def absolute(folder: str, home: str, run: str) -> str:
    """`~/x` in the home, `x` in `<home>/npurun/<run>/x`; what leads out of it stays inside."""
    if folder == "~" or folder.startswith("~/"):
        return str(PurePosixPath(home, *PurePosixPath(folder).parts[1:]))
    inner = [part for part in PurePosixPath(folder).parts if part not in ("..", "/")]
    return str(PurePosixPath(home, SAFE_FOLDER, run, *inner))


def resumed(plan: Plan, attempt: str, gang: Gang, nodes: Nodes, stop: Stop, environ: Mapping[str, str]) -> Plan:
    """The plan with the arguments that make the trainer go on. Raises Ended: no_checkpoint, stopped."""
    checkpoint = plan.checkpoint
    forced = environ.get(RESUME_VARIABLE) == "1"
    if checkpoint is None:
        if number_of(attempt) > FIRST or forced:
            say("checkpoint: this trainer's checkpoints are not known to npurun; it starts as its arguments say")
        return plan
    if number_of(attempt) == FIRST and not forced:
        print(resume_line(attempt, Resume(None, None, "first")), flush=True)
        return plan
    choice = _found(plan, checkpoint, gang, nodes, stop) if checkpoint.resume or forced else _nothing()
    _tell(choice, checkpoint)
    print(resume_line(attempt, choice.resume), flush=True)
    if choice.resume.path is not None:
        return _with(plan, [f"{MODE}=resume_path", f"{PATH}={hydra_text(choice.resume.path)}"])
    _check_may_start_anew(checkpoint, choice, environ.get(TRAINED_VARIABLE, "0"))
    return _from_start(plan, checkpoint, choice)


def hydra_text(value: str) -> str:
    """A string as Hydra's override grammar reads it back: as `submitter.arguments.values` for what paths may hold."""
    if _BARE.fullmatch(value):
        return value
    safe = re.sub(r"(\\*)\$\{", lambda match: match[1] * 2 + r"\${", value)
    safe = re.sub(r"(\\*)'", lambda match: match[1] * 2 + r"\'", safe)
    return "'" + re.sub(r"(\\+)$", lambda match: match[1] * 2, safe) + "'"


def _with(plan: Plan, arguments: Sequence[str]) -> Plan:
    """Of several values of one key Hydra takes the last."""
    return dataclasses.replace(plan, command=(*plan.command, *arguments))


def _nothing() -> Choice:
    return Choice(Resume(None, None, "none"))


def _found(plan: Plan, checkpoint: CheckpointPlan, gang: Gang, nodes: Nodes, stop: Stop) -> Choice:
    say(f"checkpoint: looking for the newest complete one in {clean(checkpoint.folder)}")
    order = _rank_order(plan, gang)
    places = {gang.members[place].ip: place for place in order}
    per_node = plan.torchrun.nproc_per_node if plan.torchrun else plan.npus_per_node
    ranks = ranks_of(list(places), checkpoint.world_size, per_node)
    raw = dataclasses.asdict(checkpoint)
    deadline = time.monotonic() + ALL_S

    def ask(method: str, bound: Bound, arguments: Callable[[str], Sequence[object]]) -> dict[str, Answer]:
        questions = {place: arguments(ip) for ip, place in places.items()}
        answers = ask_all(nodes, questions, method, bound, stop.check)
        return {ip: answers[place] for ip, place in places.items()}

    def look(step: int) -> list[Look]:
        first = next(iter(places))
        asked = ask("checkpoint", LOOK, lambda ip: (raw, step, list(ranks[ip]), ip == first))
        return [_look(ip, answer) for ip, answer in asked.items()]

    listings = {ip: _listing(ip, answer) for ip, answer in ask("checkpoints", LIST, lambda _: (raw["folder"],)).items()}
    steps = candidates(listings)
    _tell_found(steps, listings)
    path = str(PurePosixPath(checkpoint.folder)).rstrip("/")
    return choose(steps, look, lambda step: f"{path}/global_step_{step}", lambda: time.monotonic() > deadline)


def _rank_order(plan: Plan, gang: Gang) -> list[int]:
    """Places of the members in the order of their ranks: verl sorts nodes by their IPs as strings."""
    if plan.torchrun is not None:
        with suppress(ValueError):  # the launcher says what is wrong with the address
            return rank_order(gang.members, plan.torchrun.master_addr)
    return sorted(range(len(gang.members)), key=lambda place: gang.members[place].ip)


def _look(ip: str, answer: Answer) -> Look:
    if answer.why is not None or answer.value["seen"] is None:
        return Look(ip, None, answer.why or answer.value["why"])
    return Look(ip, Seen.from_json(answer.value["seen"]))


def _listing(ip: str, answer: Answer) -> Listing | None:
    if answer.why is not None or answer.value["listing"] is None:
        warn(f"checkpoint: {ip}: the folder is not measured: {clean(answer.why or answer.value['why'])}")
        return None
    return Listing.from_json(answer.value["listing"])


def _tell_found(steps: Sequence[int], listings: Mapping[str, Listing | None]) -> None:
    absent = [ip for ip, one in listings.items() if one and not one.there]
    if absent:
        say(f"checkpoint: the folder is not there on {', '.join(absent)}")
    if steps:
        hints = sorted({one.hint for one in listings.values() if one and one.hint is not None})
        named = f"; the trainer's own note names {', '.join(map(str, hints))}" if hints else ""
        say(f"checkpoint: steps {', '.join(map(str, steps[:10]))}{' …' if len(steps) > 10 else ''} are there{named}")


def _tell(choice: Choice, checkpoint: CheckpointPlan) -> None:
    for one in choice.resume.skipped:
        where = f" on {one.node}" if one.node else ""
        warn(f"checkpoint: step {one.step} is left out: {one.why.replace('_', ' ')}{where}: {clean(one.value)[:500]}")
    if choice.unchecked:
        warn(f"checkpoint: {choice.unchecked} files of it are there, and there was no time to look into them")
    if choice.resume.step is not None:
        say(f"checkpoint: going on from step {choice.resume.step}: {clean(choice.resume.path)}")
    elif not checkpoint.resume:
        say("checkpoint: the job does not resume (recovery.resume, trainer.resume_mode): starting from step 0")


def _check_may_start_anew(checkpoint: CheckpointPlan, choice: Choice, trained: str) -> None:
    if trained == "0" or checkpoint.from_start or not checkpoint.resume:
        say("checkpoint: none to go on from, so the trainer starts as in the first attempt")
        return
    folder = clean(checkpoint.folder)
    saves = "" if checkpoint.saves else "; the job saves none (trainer.save_freq)"
    skipped = [
        f"global_step_{one.step} ({one.node or 'all nodes'}): {one.why}: {one.value}" for one in choice.resume.skipped
    ]
    lines = (f"step {trained} was trained, and {folder} has no complete checkpoint{saves}", *map(clean, skipped))
    say(f"checkpoint: {lines[0]}; recovery.from_start: true would train again from step 0")
    raise Ended("no_checkpoint", evidence=lines)


def _from_start(plan: Plan, checkpoint: CheckpointPlan, choice: Choice) -> Plan:
    """verl's own search would take what was just left out."""
    own_search = checkpoint.mode == "auto" and (choice.resume.skipped or not checkpoint.resume)
    return _with(plan, [f"{MODE}=disable"]) if own_search else plan
