"""The packages of a run, which the home keeps: what its requests name, and the plan that is in one of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from submitter.gang.plan import PACKAGE, Plan
from submitter.ledger import Ledger

PROTOCOL = "gcs://"


def package_uris(body: Mapping[str, Any]) -> list[str]:
    """Of what was uploaded for the run; modules that come from elsewhere are none of ours."""
    env = body["runtime_env"]
    uris = [*env.get("py_modules", ()), *([env["working_dir"]] if env.get("working_dir") else [])]
    return [uri for uri in uris if uri.startswith(PROTOCOL)]


def plan_of(body: Mapping[str, Any], ledger: Ledger) -> Plan | None:
    """What the attempt's driver was given; None when the package is gone from the home, or of another npurun."""
    for uri in package_uris(body):
        data = ledger.package(uri.removeprefix(PROTOCOL))
        if data is None:
            continue
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                return Plan.from_json(archive.read(f"{PACKAGE}/plan.json").decode())
        except (KeyError, TypeError, ValueError, zipfile.BadZipFile):
            continue
    return None
