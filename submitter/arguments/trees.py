"""verl's config trees: what composition needs of one verl release, in a folder `<trees>/<release>/`.

    tree.json                       the manifest: trainer modules, config classes and their fields
    verl/trainer/config/**.yaml     as in the package
    verl/experimental/*/config/**.yaml

No module of verl is ever imported: what `@hydra.main` names and which fields a config class has is read from the
sources with `ast`.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from submitter.arguments.tree_sources import Config, Package, manifest, wanted_configs
from submitter.errors import Place, UsageError

MANIFEST = "tree.json"
FORMAT = 1
"""Of the manifest; another one is fetched anew."""
RELEASE = re.compile(r"[0-9]+(?:\.[0-9]+){1,3}[A-Za-z0-9.+-]{0,24}", re.ASCII)
DEFAULT_RELEASES = ("0.7.1", "0.8.0", "0.9.0", "0.9.1")
"""What the known stacks run, and the newest on the index."""


@dataclass(frozen=True)
class Tree:
    release: str
    folder: Path
    origin: str
    """Where it came from, for people."""
    modules: Mapping[str, Config]
    """Trainer module -> the config that it composes."""
    classes: Mapping[str, Mapping[str, str]]
    """Config class (last part of its name) -> field -> annotation, those of its bases included."""


def trees_folder(home: Path) -> Path:
    """Of a `$NPURUN_HOME`."""
    return home / "verl"


def find_tree(trees: Path, release: str) -> Tree | None:
    """None: not at hand, or written by another version of npurun, or damaged."""
    folder = trees / release
    try:
        return _read(folder) if RELEASE.fullmatch(release) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # whatever a damaged manifest holds
        return None


def releases(trees: Path) -> list[str]:
    """Of every usable tree in the folder, oldest first."""
    try:
        names = [path.name for path in trees.iterdir() if path.is_dir()]
    except OSError:
        return []
    return sorted((name for name in names if find_tree(trees, name)), key=_order)


def install(package: Package, release: str, origin: str, trees: Path) -> Tree:
    """Writes the tree whole or not at all; one that is there is replaced. UsageError: no verl, or not writable."""
    made = manifest(package)
    if not made["modules"]:
        raise UsageError("trees.no_verl", Place(file=origin), release=release)
    files = wanted_configs(package)
    content = {"format": FORMAT, "release": release, "origin": origin, "files": files, **made}
    try:
        _write(package, content, trees, release)
    except OSError as error:
        raise UsageError("trees.unwritable", Place(file=str(trees)), reason=error.strerror or error) from error
    tree = find_tree(trees, release)
    if tree is None:
        raise UsageError("trees.no_verl", Place(file=origin), release=release)
    return tree


def copy(tree: Tree, target: Path) -> None:
    """To `<target>/<release>/`; UsageError when it cannot be written."""
    install(FolderPackage(tree.folder), tree.release, tree.origin, target)


def check_writable(trees: Path) -> None:
    """UsageError: trees cannot be written there. Leaves nothing behind, not even the folder."""
    folder = trees
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".npurun-", dir=folder):
            pass
    except OSError as error:
        raise UsageError("trees.unwritable", Place(file=str(trees)), reason=error.strerror or error) from error


def has_links(folder: Path) -> bool:
    """A carried tree holds none: they would lead to files that were not carried, or to this machine's own."""
    return folder.is_symlink() or any(path.is_symlink() for path in folder.rglob("*"))


def is_readable(tree: Tree) -> bool:
    """Every config is YAML."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for name in wanted_configs(FolderPackage(tree.folder)):
            yaml.load((tree.folder / name).read_bytes(), Loader=loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return False
    return True


@dataclass(frozen=True)
class FolderPackage:
    """A folder that holds `verl/…`: an unpacked wheel, site-packages, or a tree."""

    root: Path

    def names(self) -> Iterator[str]:
        for path in sorted((self.root / "verl").rglob("*")):
            if path.is_file():
                yield path.relative_to(self.root).as_posix()

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def made(self) -> Mapping[str, object] | None:
        """The manifest, when this folder is a tree already."""
        file = self.root / MANIFEST
        return json.loads(file.read_bytes()) if file.is_file() else None


def _read(folder: Path) -> Tree | None:
    made = json.loads((folder / MANIFEST).read_bytes())
    if made["format"] != FORMAT or made["release"] != folder.name:
        return None
    modules = {name: Config(*config) for name, config in made["modules"].items()}
    files = [*made.get("files", ()), *(config.file for config in modules.values())]
    if not all((folder / file).is_file() for file in files):
        return None
    return Tree(made["release"], folder, made["origin"], modules, made["classes"])


def _write(package: Package, content: Mapping[str, object], trees: Path, release: str) -> None:
    new, old = (trees / f".{release}.{kind}{os.getpid()}" for kind in ("new", "old"))
    try:
        trees.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # often $NPURUN_HOME
        trees.mkdir(exist_ok=True)
        for name in wanted_configs(package):
            file = new / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(package.read(name))
        (new / MANIFEST).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        if (trees / release).exists():
            (trees / release).rename(old)
        with suppress(FileExistsError):  # another process was quicker
            _move(new, trees / release)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _move(folder: Path, target: Path) -> None:
    try:
        folder.rename(target)
    except OSError as error:
        raise FileExistsError(*error.args) if error.errno == errno.ENOTEMPTY else error from error


def _order(release: str) -> tuple[list[int], str]:
    return [int(part) for part in re.findall(r"\d+", release)], release
