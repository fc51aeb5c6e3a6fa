"""A request as a `ray job submit` line that works when pasted."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from submitter.gang.plan import PACKAGE
from submitter.render.request import ENTRYPOINT

_JSON_OPTIONS = {
    "metadata": "--metadata-json",
    "entrypoint_label_selector": "--entrypoint-label-selector",
    "entrypoint_resources": "--entrypoint-resources",
}


def command_line(body: Mapping[str, Any], package_dir: PurePath, address: str | None = None) -> str:
    """One line of shell; without `address`, Ray takes RAY_API_SERVER_ADDRESS or the cluster of this machine.

    `package_dir` must hold the unpacked gang package (`packages.write_folder`) and, for a job with a working_dir, its
    zip (`packages.write_archive`): Ray uploads both from there.
    """
    options = [f"--address={address}"] if address else []
    options += [f"--submission-id={body['submission_id']}", f"--runtime-env-json={_json(_local(body, package_dir))}"]
    options += [f"{option}={_json(body[key])}" for key, option in _JSON_OPTIONS.items() if key in body]
    return shlex.join(["ray", "job", "submit", "--no-wait", *options, "--", *ENTRYPOINT])


def _local(body: Mapping[str, Any], package_dir: PurePath) -> dict[str, Any]:
    """The runtime_env with local paths for URIs.

    Ray zips a py_modules folder under its own name, so the module is called as the folder is. The working_dir stays a
    zip: `excludes` beside it would be applied to py_modules too (ray/_private/runtime_env/py_modules.py, 2.60).
    """
    env = {**body["runtime_env"], "py_modules": [str(package_dir / PACKAGE)]}
    if "working_dir" in env:
        env["working_dir"] = str(package_dir / PurePath(env["working_dir"]).name)
    return env


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
