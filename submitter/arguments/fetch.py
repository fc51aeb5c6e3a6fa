"""Takes verl's config trees from an installed verl or from the package index; carries them in a folder."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from submitter.arguments import trees as trees_room
from submitter.arguments.tree_sources import FILE_LIMIT_BYTES
from submitter.arguments.trees import RELEASE, FolderPackage, Tree, find_tree, install
from submitter.errors import Place, RunFailedError, UsageError
from submitter.texts import Tell

PACKAGE = "verl"
INDEX = "package index"
INSTALLED = "installed verl"
DOWNLOAD_S = 300
"""verl's wheels have 1 to 2 MB; a slow mirror gets its time."""
INDEX_TIMEOUT_S = 15
"""One connection attempt of pip; without a network it would wait four times as long, six times over."""
INDEX_RETRIES = 1

_OFFERED = re.compile(r"\(from versions: ([^)]*)\)")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


class IndexFailedError(RunFailedError):
    """The package index does not answer."""


def fetch(releases: Sequence[str], trees: Path, tell: Tell, *, at_hand: Path | None = None) -> list[Tree]:
    """Each release's tree into `trees`; those that are there stay. All are tried, then the first failure is raised.

    `at_hand`: a folder of trees to copy from, before any other source.
    """
    for release in releases:
        _known_form(release)
    if not all(find_tree(trees, release) for release in releases):
        trees_room.check_writable(trees)
    failures: list[UsageError | RunFailedError] = []
    got: list[Tree] = []
    for release in releases:
        silent = any(isinstance(failure, IndexFailedError) for failure in failures)
        try:
            copied = _copied(release, at_hand, trees, tell)
            got.append(copied or _fetched(release, trees, tell, use_index=not silent))
        except (UsageError, RunFailedError) as failure:
            failures.append(failure)
    if failures:
        raise failures[0]
    return got


def carry_from(folder: Path, releases: Sequence[str], trees: Path, tell: Tell) -> list[Tree]:
    """The trees of a folder that `--to` wrote; without `releases`, all of them. Sound ones are taken, then one
    UsageError names every one that is not."""
    if not folder.is_dir():
        raise UsageError("trees.no_folder", Place(file=str(folder)))
    for release in releases:
        _known_form(release)
    wanted = list(releases) or _carried(folder)
    if not wanted:
        raise UsageError("trees.none_there", Place(file=str(folder)))
    unfit: dict[str, list[str]] = {}
    found: list[Tree] = []
    for release in wanted:
        tree = _of_folder(folder, release)
        if isinstance(tree, str):
            unfit.setdefault(tree, []).append(release)
            continue
        trees_room.copy(tree, trees)
        tell("trees.taken", release=release, origin=folder)
        found.append(tree)
    if unfit:
        raise _unfit(folder, unfit)
    return found


def _carried(folder: Path) -> list[str]:
    """Every folder in it that is named as a release, sound or not."""
    return sorted(path.name for path in folder.iterdir() if RELEASE.fullmatch(path.name) and path.is_dir())


def _of_folder(folder: Path, release: str) -> Tree | str:
    """Or the text id of what is wrong with it."""
    if not (folder / release).exists():
        return "trees.not_there"
    if trees_room.has_links(folder / release):
        return "trees.links"
    tree = find_tree(folder, release)
    return "trees.damaged" if tree is None or not trees_room.is_readable(tree) else tree


def _unfit(folder: Path, unfit: Mapping[str, Sequence[str]]) -> UsageError:
    """One line for all causes, each with its releases."""
    errors = [
        UsageError(
            cause,
            Place(file=str(folder / releases[0] if len(releases) == 1 else folder)),
            release=", ".join(releases),
        )
        for cause, releases in unfit.items()
    ]
    return reduce(lambda first, second: UsageError("trees.also", first=first, second=second), errors)


def _known_form(release: str) -> None:
    if RELEASE.fullmatch(release) is None:
        raise UsageError("trees.bad_release", release=release)


def _copied(release: str, at_hand: Path | None, trees: Path, tell: Tell) -> Tree | None:
    tree = find_tree(at_hand, release) if at_hand else None
    if tree is None:
        return None
    trees_room.copy(tree, trees)
    tell("trees.taken", release=release, origin=at_hand)
    return find_tree(trees, release)


def _fetched(release: str, trees: Path, tell: Tell, *, use_index: bool) -> Tree:
    there = find_tree(trees, release)
    if there is not None:
        tell("trees.there", release=release, folder=there.folder)
        return there
    installed = _installed(release)
    if installed is not None:
        tree = install(installed, release, INSTALLED, trees)
        tell("trees.taken", release=release, origin=INSTALLED)
        return tree
    if not use_index:
        raise IndexFailedError("trees.no_index", release=release, reason="-")
    tell("trees.downloading", release=release)
    tree = _downloaded(release, trees)
    tell("trees.taken", release=release, origin=INDEX)
    return tree


def _installed(release: str) -> FolderPackage | None:
    """Found without importing it."""
    try:
        if version(PACKAGE) != release:
            return None
        spec = find_spec(PACKAGE)
    except (PackageNotFoundError, ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return FolderPackage(Path(places[0]).parent) if places else None


def _downloaded(release: str, trees: Path) -> Tree:
    try:
        with tempfile.TemporaryDirectory(prefix="npurun-verl-") as folder:
            wheel = _wheel(release, Path(folder))
            with ZipFile(wheel) as archive:
                return install(WheelPackage(archive), release, INDEX, trees)
    except (BadZipFile, EOFError, NotImplementedError) as error:
        raise UsageError("trees.bad_wheel", release=release, reason=str(error)) from error
    except OSError as error:
        raise UsageError("trees.unwritable", Place(file=tempfile.gettempdir()), reason=error.strerror) from error


@dataclass(frozen=True)
class WheelPackage:
    archive: ZipFile

    def names(self) -> Iterator[str]:
        yield from sorted(self.archive.namelist())

    def read(self, name: str) -> bytes:
        with self.archive.open(name) as file:
            return file.read(FILE_LIMIT_BYTES)

    def made(self) -> Mapping[str, object] | None:
        return None


def _wheel(release: str, folder: Path) -> Path:
    """pip's own configuration counts: mirrors, proxies, certificates."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--no-input"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", f"--retries={INDEX_RETRIES}"]
    command += [f"--timeout={INDEX_TIMEOUT_S}", "--dest", str(folder), f"{PACKAGE}=={release}"]
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=DOWNLOAD_S)
    except subprocess.TimeoutExpired as error:
        raise IndexFailedError("trees.index_slow", release=release, seconds=DOWNLOAD_S) from error
    found = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and found:
        return found[0]
    raise _failure(release, done.stderr.decode("utf-8", "replace"))


def _failure(release: str, words: str) -> UsageError | RunFailedError:
    """What pip's last words mean, without what a mirror's address may hold of a login."""
    offered = _OFFERED.search(words)
    known = [one.strip() for one in offered[1].split(",")] if offered else []
    if known and known != ["none"]:
        return UsageError("trees.unknown_release", release=release, known=", ".join(known))
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("WARNING: Retrying")), lines[-1] if lines else "-")
    return IndexFailedError("trees.no_index", release=release, reason=_CREDENTIALS.sub("", reason))
