"""What travels with a submission: zips that Ray keeps under a content hash and unpacks on every node."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from submitter.checks.working_dir_measure import ray_excludes, respects_gitignore, silent_logger
from submitter.errors import Place, UsageError
from submitter.gang.plan import PACKAGE, Plan
from submitter.job.model import RuntimeEnvSpec

_URI_PREFIX = "gcs://"
_NAME_PREFIX = "_ray_pkg_"
"""Ray's own names for packages (ray/_private/runtime_env/packaging.py)."""

_SKIPPED_FOLDERS = frozenset({"__pycache__", "tests"})
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest date that a zip can hold: equal content gives equal bytes, whenever it was packed."""
_FILE_MODE = 0o100644


@dataclass(frozen=True)
class Package:
    name: str
    """`_ray_pkg_<hash>.zip`."""
    data: bytes

    @property
    def uri(self) -> str:
        return _URI_PREFIX + self.name


def gang_package(plan: Plan, extra: Mapping[str, Path] | None = None) -> Package:
    """The driver's package with its plan; `extra` adds top-level packages {name: folder}.

    Equal plan and sources give equal bytes on every machine: fixed dates, order and mode, stored uncompressed
    (zlib's output differs between builds).
    """
    members = {f"{PACKAGE}/{path}": data for path, data in _sources(_gang_folder())}
    for name, folder in (extra or {}).items():
        members |= {f"{name}/{path}": data for path, data in _sources(folder)}
    members[f"{PACKAGE}/plan.json"] = plan.to_json().encode()
    data = _zip(members)
    return Package(f"{_NAME_PREFIX}{hashlib.sha256(data).hexdigest()}.zip", data)


def working_dir_package(spec: RuntimeEnvSpec) -> Package | None:
    """The user's folder as Ray itself packs and names it: `excludes`, .gitignore and .rayignore count.

    None when there is no working_dir. Reads every file twice (hash, zip): check the size first. UsageError when the
    folder cannot be read.
    """
    if spec.working_dir is None:
        return None
    try:
        return _packed_by_ray(Path(spec.working_dir), ray_excludes(spec.excludes))
    except (OSError, ValueError) as error:
        place = Place(key="runtime_env.working_dir")
        raise UsageError("package.unreadable", place, folder=spec.working_dir, why=error) from error


def write_folder(package: Package, target: Path) -> Path:
    """Unpacks into `target`, so that `target/npurun_gang` is there; UsageError when files of something else are."""
    with zipfile.ZipFile(io.BytesIO(package.data)) as archive:
        _refuse_others(target, archive.namelist())
        archive.extractall(target)
    return target


def write_archive(package: Package, target: Path) -> Path:
    """The zip itself, as `target/<name>`: a working_dir for `ray job submit`."""
    target.mkdir(parents=True, exist_ok=True)
    path = target / package.name
    path.write_bytes(package.data)
    return path


def _gang_folder() -> Path:
    import submitter.gang

    return Path(submitter.gang.__file__).parent


def _sources(folder: Path) -> Iterator[tuple[str, bytes]]:
    """(path below `folder`, content) of each file, without caches, tests and hidden ones."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS and not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and not name.endswith(".pyc"):
                path = Path(root, name)
                yield path.relative_to(folder).as_posix(), path.read_bytes()


def _zip(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # Unix: the mode bits count
            entry.external_attr = _FILE_MODE << 16
            archive.writestr(entry, members[name])
    return buffer.getvalue()


def _packed_by_ray(folder: Path, excludes: list[str]) -> Package:
    from ray._private.runtime_env.packaging import create_package, get_uri_for_directory

    gitignore = respects_gitignore()
    # It takes no logger, and would print a line for each ignore file.
    logging.getLogger(get_uri_for_directory.__module__).disabled = True
    uri: str = get_uri_for_directory(str(folder), gitignore, excludes=excludes)
    name = uri.removeprefix(_URI_PREFIX)
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch, name)
        create_package(str(folder), target, gitignore, excludes=excludes, logger=silent_logger())
        return Package(name, target.read_bytes())


def _refuse_others(target: Path, members: list[str]) -> None:
    """A file left from another version would travel along: `ray job submit` zips the whole folder."""
    own = {target / member for member in members}
    tops = {target / member.split("/", 1)[0] for member in members}
    for top in sorted(tops):
        for path in sorted(top.rglob("*")):
            if path.is_file() and path not in own and "__pycache__" not in path.parts:
                raise UsageError("package.foreign_file", Place(file=str(path)), folder=top)
