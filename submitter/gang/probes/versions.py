"""What is installed on each node: equal everywhere, and what the job's stack says."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from .measure import Facts, Probe
from .odd import has_majority, odd_ones
from .verdict import Judge, Node, Severity, Verdict, of_job
from .wish import Wish

PACKAGES: Mapping[str, tuple[str, ...]] = {
    # Component, as in a stack -> the distributions that carry it; the first that is installed counts.
    "torch": ("torch",),
    "torch_npu": ("torch-npu",),
    "vllm": ("vllm", "vllm-empty"),
    "vllm_ascend": ("vllm-ascend",),
    "verl": ("verl",),
    "megatron_core": ("megatron-core",),
    "mindspeed": ("mindspeed",),
    "transformers": ("transformers",),
    "ray": ("ray",),
}

SOURCES: Mapping[str, tuple[str, str]] = {
    # Component -> (module, its version file): a checkout on PYTHONPATH has no distribution.
    "verl": ("verl", "version/version"),
    "megatron_core": ("megatron", "core/package_info.py"),
    "mindspeed": ("mindspeed", ""),
}
FROM_SOURCE = "from source"
"""A checkout that tells no version."""
ABSENT = "absent"

_ROOTS = ("/usr/local/Ascend",)
_HOMES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
"""Which of several toolkits a worker uses: set_env.sh exports both."""
_TOOLKITS = ("cann", "ascend-toolkit/latest", "latest")
"""Where the toolkit lies without them: `cann` since 8.5, `ascend-toolkit` before."""
_TOOLKIT_FILES = (
    # File below the toolkit -> what stands before the version there.
    ("{arch}-linux/ascend_toolkit_install.info", r"version="),
    ("version.cfg", r"(?:toolkit|runtime)_running_version=\[[^:\]]*:"),  # [internal version:version]
    ("compiler/version.info", r"version_dir="),
    ("runtime/version.info", r"version_dir="),
)
_DRIVER = (r"package_version=", r"Version=")
_VALUE = r"\s*(?:CANN-|cann-)?([0-9][^\s\]:]*)"

FATAL = frozenset({"python", "torch", "torch_npu", "vllm", "vllm_ascend", "verl", "megatron_core", "cann", "ray"})
"""Ranks that differ in these exchange tensors, pickles or collectives that the other side does not understand."""
MINOR_ONLY = frozenset({"python", "megatron_core", "mindspeed"})
"""Pickles of one Python minor are alike; a release branch (core_r0.16.0) carries several patch levels."""
NPU_BASE = ("cann", "torch_npu")
"""What a process needs to use an NPU at all."""
STACK_NAMES = {"hdk": "driver"}
DRIVERS_SINCE = 20
"""Drivers are counted by year (24.1.rc3); a stack that names HDK 9.0.0 means the CANN release it came with."""


def versions(_wish: Wish, roots: Sequence[str] = _ROOTS, environ: Mapping[str, str] | None = None) -> Facts:
    """Component -> version; None: not installed. `driver` is the HDK's."""
    homes = [home for name in _HOMES if (home := (os.environ if environ is None else environ).get(name))]
    toolkits = [Path(home) for home in homes] + [Path(root, place) for root in roots for place in _TOOLKITS]
    found: dict[str, str | None] = {name: _installed(name, names) for name, names in PACKAGES.items()}
    found["python"] = platform.python_version()
    found["cann"] = next(_cann_versions(toolkits), None)
    found["driver"] = next((version for root in roots for version in _driver_versions(Path(root))), None)
    return dict(found)


def differ(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: ranks of one job load the same code; where most nodes agree, the others are wrong."""
    found = []
    for component in (*PACKAGES, "python", "cann", "driver"):
        seen = {node.ip: _told(node, component) for node in nodes}
        clear = has_majority(seen)
        found += [
            Verdict("NR511", ip, _severity(component, value, usual, wish, clear), value, usual, _of(component))
            for ip, value, usual in odd_ones(seen)
        ]
    return found


def not_the_stack(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: runtime_env/stacks.yaml; checks of flags and arguments were made for the versions named there."""
    return [
        Verdict("NR512", node.ip, "warning", seen, wanted, _of(component))
        for named, wanted in sorted(wish.stack.items())
        for component in [STACK_NAMES.get(named, named)]
        for node in nodes
        if (seen := node.facts("versions").get(component)) not in (None, FROM_SOURCE)
        and comparable(component, wanted)
        and not same_version(component, seen, wanted)
    ]


def not_installed(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: what the job's own settings name (engine, rollout) is imported on every node. Where some nodes have it,
    the others fail; where none has, NR512's stack is another one, or the trainer brings it along."""
    lacking = {
        component: [node.ip for node in nodes if _told(node, component) == ABSENT]
        for component in wish.needs
        if any(_told(node, component) not in (None, ABSENT) for node in nodes)
    }
    return [Verdict("NR513", ip, "error", component, None) for component, ips in sorted(lacking.items()) for ip in ips]


def nowhere(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: as NR513, over the nodes that have NPU device files, or over all where none has. A warning: a rehearsal
    runs without most of it. Said once, at the first node."""
    with_devices = [node for node in nodes if node.facts("device_files").get("numbers")]
    measured = [node for node in with_devices or nodes if node.facts("versions")]
    base = [name for name in NPU_BASE if wish.npus_per_node and (wish.needs or name in wish.stack)]
    absent = [
        component
        for component in dict.fromkeys((*base, *wish.needs))
        if all(_told(node, component) == ABSENT for node in measured)
    ]
    return [Verdict("NR514", measured[0].ip, "warning", ", ".join(absent), None)] if measured and absent else []


def comparable(component: str, wanted: str) -> bool:
    """A published version: not `a pinned commit`, a branch's name, or an HDK counted like CANN."""
    numbers = _numbers(_plain(component, wanted))
    return len(numbers) > 1 and (component != "driver" or int(numbers[0]) >= DRIVERS_SINCE)


def same_version(component: str, seen: str, wanted: str) -> bool:
    """`2.9.0.post2+gitabc` is 2.9.0.post2: what is wanted may be less exact, never another."""
    ours, theirs = (re.split(r"[.+_-]", _plain(component, text).lower()) for text in (seen, wanted))
    if component in MINOR_ONLY:
        theirs = theirs[:2]
    return ours[: len(theirs)] == theirs


PROBES = (Probe("versions", versions, 4.0),)
JUDGES = (
    Judge("NR511", "versions", differ),
    Judge("NR512", "versions", of_job(not_the_stack)),
    Judge("NR513", "versions", of_job(not_installed)),
    Judge("NR514", "versions", of_job(nowhere)),
)


def _installed(component: str, names: Sequence[str]) -> str | None:
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return _from_source(*SOURCES[component]) if component in SOURCES else None


def _from_source(module: str, file: str) -> str | None:
    """Finds the module without importing it."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        told = _source_version(Path(folder, file)) if file else None
        if told or (Path(folder, file) if file else Path(folder)).exists():
            return told or FROM_SOURCE
    return None


def _source_version(file: Path) -> str | None:
    text = _text(file)
    parts = [re.search(rf"^{name}\s*=\s*(\d+)", text, re.MULTILINE) for name in ("MAJOR", "MINOR", "PATCH")]
    if all(parts):
        return ".".join(part[1] for part in parts if part)
    plain = re.fullmatch(r"\s*(\d+\.\d+\S*)\s*", text)
    return plain[1] if plain else None


def _cann_versions(toolkits: Sequence[Path]) -> Iterator[str]:
    for toolkit in toolkits:
        for file, before in _TOOLKIT_FILES:
            yield from _matches(toolkit / file.format(arch=platform.machine()), before)


def _driver_versions(root: Path) -> Iterator[str]:
    for before in _DRIVER:
        yield from _matches(root / "driver" / "version.info", before)


def _matches(file: Path, before: str) -> Iterator[str]:
    for match in re.finditer(rf"^\s*{before}{_VALUE}", _text(file), re.MULTILINE):
        yield match[1]


def _text(file: Path) -> str:
    try:
        with file.open(errors="replace") as opened:
            return opened.read(20_000)
    except OSError:
        return ""


def _told(node: Node, component: str) -> str | None:
    """Not installed counts as a value where versions were measured: one node without it is odd."""
    facts = node.facts("versions")
    return (facts.get(component) or ABSENT) if facts else None


def _severity(component: str, value: str, usual: str, wish: Wish, clear: bool) -> Severity:
    """An error only where a release differs from what most nodes have. What is absent is told by NR513 where the job
    needs it; a build (`+cpu`, `.post2`), or a Python patch level, may do."""
    if not clear or component not in FATAL or ABSENT in (value, usual) or FROM_SOURCE in (value, usual):
        return "warning"
    parts = 2 if component in MINOR_ONLY else 3
    ours, theirs = (_numbers(text)[:parts] for text in (value, usual))
    return "error" if ours != theirs else "warning"


def _numbers(version: str) -> list[str]:
    """`2.9.0.post2+cpu` -> 2, 9, 0."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return match[0].split(".") if match else []


def _plain(component: str, version: str) -> str:
    """`2.3.0_core_r0.12.1` -> 0.12.1: Megatron's and MindSpeed's branches name the core release that they are for."""
    branch = re.search(r"core_[rv]?(\d.*)", version) if component in ("megatron_core", "mindspeed") else None
    return branch[1] if branch else version


def _of(component: str) -> dict[str, object]:
    return {"component": component}
