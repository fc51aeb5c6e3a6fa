"""`python3 -m npurun_gang`: the entrypoint of a submission. What to do is in `plan.json` beside this file."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .attempt_safe import attempt_safe, number_of
from .driver import Driver
from .members import ATTEMPT_VARIABLE, QUARANTINE_VARIABLE
from .plan import Plan


def main() -> None:
    attempt = os.environ[ATTEMPT_VARIABLE]
    plan = plan_of(Path(__file__).with_name("plan.json").read_text(encoding="utf-8"), os.environ)
    end = Driver(plan, attempt).run()
    sys.stderr.flush()
    sys.stdout.write(f"\n{end.line()}\n")  # on a line of its own, whatever the trainer wrote last
    sys.stdout.flush()
    os._exit(end.exit)  # no exit handler of Ray may hang or print after the record


def plan_of(text: str, environ: Mapping[str, str]) -> Plan:
    """The plan, which is the same for all attempts of a run, with what the request says of this one."""
    plan = Plan.from_json(text)
    left_out = filter(None, environ.get(QUARANTINE_VARIABLE, "").split(","))
    flags = attempt_safe(plan.flags, number_of(environ[ATTEMPT_VARIABLE]))
    return dataclasses.replace(plan, quarantine=(*plan.quarantine, *left_out), flags=flags)


if __name__ == "__main__":
    main()
