"""The sections of a job file → the dataclasses of `model.py`. Each function reads one section."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, cast

from submitter.errors import UsageError
from submitter.gang.selector import SELECTOR
from submitter.job.document import Mapping, Scalar
from submitter.job.fields import (
    Section,
    integer,
    matching,
    one_of,
    positive_number,
    read_bool,
    read_text,
)
from submitter.job.model import (
    Cluster,
    Flag,
    OnReason,
    Recovery,
    Retry,
    RuntimeEnvSpec,
    Secret,
    Torchrun,
    Trainer,
)
from submitter.job.scalars import Resolved
from submitter.job.variables import NAME

MAX_NODES = 4096
MAX_NPUS_PER_NODE = 64
MAX_PLACE_WAIT_S = 7 * 24 * 3600
"""A week: whoever waits longer has forgotten the job."""
MAX_ATTEMPTS = 1000
MAX_HOURS = 10_000.0
MAX_FIRST_STEP_MIN = 7 * 24 * 60
MAX_HANG_MIN = 7 * 24 * 60.0
MAX_PORT = 65_535

SECTIONS = (
    "name",
    "summary",
    "stack",
    "cluster",
    "variables",
    "constants",
    "env",
    "trainer",
    "quoting",
    "arguments",
    "recovery",
    "runtime_env",
    "secrets",
    "imported",
)
RETRIES = ("now", "backoff", "exclude_node", "after_change", "never")

# A run's name is the job's plus 9 characters, at most 57 together.
read_name = matching(r"[a-z0-9][a-z0-9_-]{0,47}", "name")
# A name, then what replaces single versions: `cann-9.1.0,verl=0.9.1`; runtime_env.stacks reads it.
read_stack = matching(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(,[A-Za-z0-9._+= -]{0,80}){0,12}", "stack")
_read_module = matching(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", "module")
# No `-` first: Python would take it for an option. A path, so that no module is taken for one.
SCRIPT = r"(?![-])[^\x00-\x1f\x7f]*(?:[^\x00-\x1f\x7f]\.py|/[^\x00-\x1f\x7f]+)"
_read_script = matching(SCRIPT, "script")
_read_host = matching(r"[A-Za-z0-9.:_-]+", "host")
_read_absolute = matching(r"/[^\0]*", "absolute_path")
_read_env_name = matching(NAME.pattern, "env_name")
_read_selector = matching(SELECTOR, "label_selector")
_read_override = matching(r"\+{0,2}[A-Za-z_][^=\s]*=[^\n\r\0]*", "override")
_read_port = integer(1, MAX_PORT)


def cluster(top: Section) -> Cluster:
    section = top.section("cluster", ("nodes", "npus_per_node", "labels", "on_unfit", "place_wait_s"))
    on_unfit = section.get("on_unfit", one_of(("exclude", "fail"))) or Cluster.on_unfit
    return Cluster(
        nodes=section.need("nodes", integer(1, MAX_NODES)),
        npus_per_node=section.need("npus_per_node", integer(1, MAX_NPUS_PER_NODE)),
        labels=_selectors(section.section("labels", None)),
        on_unfit=cast(Literal["exclude", "fail"], on_unfit),
        place_wait_s=section.get("place_wait_s", integer(1, MAX_PLACE_WAIT_S)) or Cluster.place_wait_s,
    )


def trainer(top: Section, npus_per_node: int) -> Trainer:
    section = top.section("trainer", ("module", "script", "launcher", "torchrun"))
    script = section.get("script", _read_script)
    module = section.get("module", _read_module) if script else section.need("module", _read_module)
    if script and module:
        raise UsageError("job.script_and_module", section.at("script"))
    launcher = section.get("launcher", one_of(("ray", "torchrun"))) or "ray"
    if launcher == "ray":
        if "torchrun" in section.entries:
            raise UsageError("job.torchrun_unused", section.at("torchrun"))
        return Trainer(module or "", "ray", script=script)
    return Trainer(module or "", "torchrun", _torchrun(section, npus_per_node), script)


def recovery(top: Section) -> Recovery:
    known = ("max_attempts", "max_hours", "first_step_min", "hang_min", "resume", "from_start", "on_reason")
    section = top.section("recovery", known)
    resume = section.get("resume", read_bool)
    return Recovery(
        declared="recovery" in top.entries,
        max_attempts=section.get("max_attempts", integer(1, MAX_ATTEMPTS)) or Recovery.max_attempts,
        max_hours=section.get("max_hours", positive_number(MAX_HOURS)),
        first_step_min=section.get("first_step_min", integer(1, MAX_FIRST_STEP_MIN)),
        hang_min=section.get("hang_min", positive_number(MAX_HANG_MIN)),
        resume=Recovery.resume if resume is None else resume,
        from_start=section.get("from_start", read_bool) or Recovery.from_start,
        on_reason=_on_reasons(section.section("on_reason", None)),
    )


def runtime_env(top: Section, folder: str) -> RuntimeEnvSpec:
    """`folder`: the job file's, to which a relative working_dir belongs."""
    section = top.section("runtime_env", ("working_dir", "excludes", "pip"))
    working_dir = section.get("working_dir", read_text) or None
    if working_dir is not None and "://" not in working_dir:  # a URL is refused later, as it was written
        working_dir = os.path.abspath(os.path.join(folder, working_dir))  # noqa: PTH100, PTH118  # keeps symlinks
    return RuntimeEnvSpec(working_dir, section.texts("excludes"), section.texts("pip"))


def flags(top: Section) -> tuple[Flag, ...]:
    section = top.section("env", None)
    return tuple(_flag(section, name) for name in section.entries)


def secrets(top: Section) -> tuple[Secret, ...]:
    section = top.section("secrets", None)
    return tuple(_secret(section, name) for name in section.entries)


def _selectors(section: Section) -> dict[str, str]:
    return {key: section.need(key, _read_selector) for key in section.entries}


def _on_reasons(section: Section) -> dict[str, OnReason]:
    return {reason: _on_reason(section, reason) for reason in section.entries}


def _on_reason(reasons: Section, reason: str) -> OnReason:
    """`hung: backoff`, or `hung: {retry: backoff, limit: 2}`."""
    if not isinstance(reasons.entries[reason].node, Mapping):
        return OnReason(cast(Retry, reasons.need(reason, one_of(RETRIES))))
    section = reasons.section(reason, ("retry", "limit", "change"))
    return OnReason(
        retry=cast("Retry | None", section.get("retry", one_of(RETRIES))),
        limit=section.get("limit", integer(0, MAX_ATTEMPTS)),
        change=section.texts("change", _read_override),
    )


def _torchrun(trainer: Section, npus_per_node: int) -> Torchrun:
    section = trainer.section("torchrun", ("nproc_per_node", "master_addr", "master_port"))
    return Torchrun(
        nproc_per_node=section.get("nproc_per_node", integer(1, MAX_NPUS_PER_NODE)) or npus_per_node,
        master_addr=section.get("master_addr", _optional_host),
        master_port=section.get("master_port", _optional_port),
    )


def _optional_host(resolved: Resolved, key: str) -> str | None:
    return _read_host(resolved, key) if resolved.spelling else None


def _optional_port(resolved: Resolved, key: str) -> int | None:
    return _read_port(resolved, key) if resolved.spelling else None


def _flag(section: Section, name: str) -> Flag:
    _check_env_name(section, name)
    resolved = section.scope.resolve(section.entries[name].node, section.name(name))
    if resolved.value is None:
        raise UsageError("job.flag_null", section.at(name), name=name)
    return Flag(name, resolved.spelling, section.at(name))


def _secret(secrets: Section, name: str) -> Secret:
    _check_env_name(secrets, name)
    if isinstance(secrets.entries[name].node, Scalar):  # most likely the secret itself: it is not repeated
        raise UsageError("job.secret_form", secrets.at(name), name=name)
    section = secrets.section(name, ("file", "env"))
    if len(section.entries) != 1:
        raise UsageError("job.secret_form", secrets.at(name), name=name)
    if "file" in section.entries:
        return Secret(name, "file", section.need("file", _unseen(_read_absolute)), secrets.at(name))
    return Secret(name, "env", section.need("env", _unseen(_read_env_name)), secrets.at(name))


def _unseen(read: Callable[[Resolved, str], str]) -> Callable[[Resolved, str], str]:
    """`read`, whose errors do not repeat the value: it may be the secret itself, written in place of a reference."""

    def unseen(resolved: Resolved, key: str) -> str:
        try:
            return read(resolved, key)
        except UsageError as error:
            raise UsageError(error.text_id, error.place, key=key, value="…") from None

    return unseen


def _check_env_name(section: Section, name: str) -> None:
    if NAME.fullmatch(name) is None:
        raise UsageError("job.env_name", section.at(name), name=name)
