"""What is installed on each node: equal everywhere, and what the job's stack says."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from .measure import Facts, Probe
from .odd import has_majority, odd_ones
from .verdict import Judge, Node, Severity, Verdict
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

_ROOTS = ("/usr/local/Ascend",)
_TOOLKITS = ("ascend-toolkit/latest", "cann", "latest")
"""Where CANN's version file may lie: `ascend-toolkit` until 8.x, `cann` since 9.0."""

_VERSION = re.compile(
    r"^\s*(?:Version|version|package_version|runtime_running_version)\s*=\s*\[?([^\s\]:]+)", re.MULTILINE
)

FATAL = frozenset({"python", "torch", "torch_npu", "vllm", "vllm_ascend", "verl", "megatron_core", "cann", "ray"})
"""Ranks that differ in these exchange tensors, pickles or collectives that the other side does not understand."""


def versions(_wish: Wish, roots: Sequence[str] = _ROOTS) -> Facts:
    """Component -> version; None: not installed. `driver` is the HDK's."""
    found: dict[str, str | None] = {name: _installed(names) for name, names in PACKAGES.items()}
    found["python"] = platform.python_version()
    found["cann"] = _first_version(
        [Path(root, toolkit, name) for root in roots for toolkit in _TOOLKITS for name in _INFO_FILES]
    )
    found["driver"] = _first_version([Path(root, "driver", "version.info") for root in roots])
    return dict(found)


def differ(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: ranks of one job load the same code; where most nodes agree, the others are wrong."""
    found = []
    for component in (*PACKAGES, "python", "cann", "driver"):
        seen = {node.ip: _told(node, component) for node in nodes}
        severity: Severity = "error" if component in FATAL and has_majority(seen) else "warning"
        found += [
            Verdict("NR511", ip, severity, value, usual, {"component": component})
            for ip, value, usual in odd_ones(seen)
        ]
    return found


def not_the_stack(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: runtime_env/stacks.yaml; checks of flags and arguments were made for the versions named there."""
    return [
        Verdict("NR512", node.ip, "warning", seen, wanted, {"component": component})
        for component, wanted in sorted(wish.stack.items())
        if is_version(wanted)
        for node in nodes
        if (seen := node.facts("versions").get(component)) is not None and not same_version(seen, wanted)
    ]


def is_version(text: str) -> bool:
    """A published version, not `a pinned commit` or a branch name."""
    return re.match(r"\d+\.\d+", text) is not None


def same_version(seen: str, wanted: str) -> bool:
    """`2.9.0.post2+gitabc` is 2.9.0.post2: what is wanted may be less exact, never another."""
    ours, theirs = (re.split(r"[.+-]", text.lower()) for text in (seen, wanted))
    return ours[: len(theirs)] == theirs


PROBES = (Probe("versions", versions, 4.0),)
JUDGES = (Judge("NR511", "versions", differ), Judge("NR512", "versions", not_the_stack))

_INFO_FILES = ("version.cfg", "version.info", "compiler/version.info", "runtime/version.info")


def _installed(names: Sequence[str]) -> str | None:
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def _first_version(files: Sequence[Path]) -> str | None:
    for file in files:
        try:
            match = _VERSION.search(file.read_text(errors="replace")[:10_000])
        except OSError:
            continue
        if match:
            return match[1]
    return None


def _told(node: Node, component: str) -> str | None:
    """Not installed counts as a value where versions were measured: one node without it is odd."""
    facts = node.facts("versions")
    return (facts.get(component) or "absent") if facts else None
