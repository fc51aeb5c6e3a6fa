"""What the job reads and writes: model, data, folders and the user's own modules, as this node sees them."""

from __future__ import annotations

import shutil
import subprocess
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..meeting import existing
from . import model_folder
from .child import python_child
from .measure import Facts, Probe
from .odd import has_majority, odd_ones
from .verdict import Judge, Node, Severity, Verdict, of_job
from .wish import Wish

IMPORT_S = 60.0
"""A module that imports torch takes 10 s on a cold file system."""
IMPORTS_AT_ONCE = 4
LATE = f"> {IMPORT_S:.0f} s"
CHECKPOINTS_KEPT = 2
"""The new one is written before an old one is removed."""
PARQUET_MAGIC = b"PAR1"

_IMPORT = """
import importlib, importlib.util, sys
name = sys.argv[1]
if name.endswith(".py"):
    spec = importlib.util.spec_from_file_location("npurun_probe_module", name)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
else:
    importlib.import_module(name)
"""


def model(wish: Wish) -> Facts:
    """`missing`; `tokenizer`: there is one; bytes and fingerprint of the weights; `small`: file -> digest."""
    folder = Path(str(wish.model))
    if not folder.is_dir():
        return {"missing": [str(folder)], "tokenizer": True, "bytes": None, "fingerprint": None, "small": {}}
    names = model_folder.weight_files(folder)
    return {
        "missing": model_folder.missing(folder, wish.weights),
        "tokenizer": model_folder.has_tokenizer(folder),
        "bytes": model_folder.total_bytes(folder, names),
        "fingerprint": model_folder.fingerprint(folder, names),
        "small": model_folder.small_files(folder),
    }


def data(wish: Wish) -> Facts:
    """Per data file: its size, or why it cannot be read; and its columns where a reader of its format is installed."""
    return {"files": {name: _data_file(Path(name)) for name in wish.data_files}}


def writable(wish: Wish) -> Facts:
    """Per folder: free bytes, or why nothing can be written there. The nearest folder that exists counts."""
    return {"folders": {name: _write(Path(name)) for name in (*wish.write_dirs, *wish.log_dirs)}}


def modules(wish: Wish) -> Facts:
    """Per module of the user: None, or the last line of the error that importing it gives; `late`: those that took
    too long. Each in a process of its own, that stands where Ray's workers stand: in the job's working_dir."""
    with ThreadPoolExecutor(IMPORTS_AT_ONCE) as pool:
        found = dict(zip(wish.modules, pool.map(_import_error, wish.modules), strict=True))
    return {"modules": found, "late": [name for name, why in found.items() if why == LATE]}


def incomplete(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: a shard that the index names and the folder lacks fails after the other nodes have loaded theirs."""
    return [
        Verdict("NR551", node.ip, "error", _some(missing), None, {"count": len(missing)})
        for node in nodes
        if (missing := node.facts("model").get("missing"))
    ]


def other_model(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: names, sizes and a sample of the weights; ranks would start from other ones."""
    seen = {
        node.ip: facts["fingerprint"] or None
        for node in nodes
        if (facts := node.facts("model")) and not facts["missing"]
    }
    severity: Severity = "error" if has_majority(seen) else "warning"
    return [Verdict("NR552", ip, severity, value[:12], usual[:12]) for ip, value, usual in odd_ones(seen)]


def other_small_files(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: contents of config and tokenizer files: a difference may be a comment, or other token ids."""
    known = {node.ip: facts["small"] for node in nodes if (facts := node.facts("model")) and not facts["missing"]}
    names = sorted({name for small in known.values() for name in small})
    odd: dict[str, list[str]] = {}
    for name in names:
        for ip, _, _ in odd_ones({ip: small.get(name, "-") for ip, small in known.items()}):
            odd.setdefault(ip, []).append(name)
    return [Verdict("NR559", ip, "warning", _some(files), None) for ip, files in odd.items()]


def no_tokenizer(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: the files that transformers' tokenizers read; a job may name a folder of its own for them."""
    return [
        Verdict("NR558", node.ip, "warning", model_folder.TOKENIZERS[0], None)
        for node in nodes
        if (facts := node.facts("model")) and not facts["missing"] and not facts["tokenizer"]
    ]


def bad_data(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: verl's RLHFDataset opens every file on the node where its driver runs: it may be any of the gang."""
    found = []
    for node in nodes:
        for name, one in node.facts("data").get("files", {}).items():
            absent = [column for column in wish.columns if one["columns"] and column not in one["columns"]]
            why = one["why"] or ("probe.no_column" if absent else None)
            if why:
                columns = {"columns": ", ".join(absent)} if absent else {}
                found.append(Verdict("NR553", node.ip, "error", name, None, {"why": why, **columns}))
    return found


def not_writable(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: a file written, read back and removed in the folder, or in the nearest one that exists."""
    return [
        Verdict("NR554", node.ip, "error" if name in wish.write_dirs else "warning", name, None, {"why": one["why"]})
        for node in nodes
        for name, one in node.facts("writable").get("folders", {}).items()
        if one["why"]
    ]


def not_shared(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: each node left a token in the folder and looked for the others'; a resume reads all ranks' files.

    A node that sees fewer than half of them lacks the mount that most have. Where nobody sees most, the folder is
    every node's own: training works, a resume on other nodes does not.
    """
    found = []
    for folder, seen in _tokens(nodes).items():
        most = {ip for ip, others in seen.items() if 2 * len(others & set(seen)) > len(seen)}
        if not most:
            found.append(Verdict("NR555", min(seen), "warning", folder, None, {"others": _some(sorted(seen)[1:])}))
        found += [
            Verdict("NR555", ip, "error", folder, None, {"others": _some(sorted(most - seen[ip]))})
            for ip in seen
            if most and ip not in most
        ]
    return found


def little_space(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: size of the model's files × what the job saves of it, for the checkpoints that exist at one time.

    Of a shared folder once; of folders that nodes have for themselves each holds its part.
    """
    size = max((node.facts("model").get("bytes") or 0 for node in nodes), default=0)
    wanted = size * (wish.checkpoint_ratio or 0) * CHECKPOINTS_KEPT
    found: dict[str, Verdict] = {}
    for node in nodes:
        for name, one in node.facts("writable").get("folders", {}).items():
            if name in wish.write_dirs and one["free"] is not None and one["free"] < wanted:
                verdict = Verdict("NR556", node.ip, "warning", _gib(one["free"]), _gib(wanted), {"folder": name})
                found.setdefault(name, verdict)
    return list(found.values())


def not_importable(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: imported in a process of its own on each node, with the environment of Ray's workers."""
    return [
        Verdict("NR557", node.ip, "warning" if name in facts["late"] else "error", name, None, {"why": why})
        for node in nodes
        if (facts := node.facts("modules"))
        for name, why in facts["modules"].items()
        if why
    ]


PROBES = (
    Probe("model", model, 10.0, lambda wish: wish.model),
    Probe("data", data, 10.0, lambda wish: wish.data_files),
    Probe("writable", writable, 10.0, lambda wish: wish.write_dirs or wish.log_dirs),
    Probe("modules", modules, IMPORT_S + 2, lambda wish: wish.modules),
)
JUDGES = (
    Judge("NR551", "model", of_job(incomplete)),
    Judge("NR552", "model", of_job(other_model)),
    Judge("NR553", "data", of_job(bad_data)),
    Judge("NR554", "writable", of_job(not_writable)),
    Judge("NR555", "peers", of_job(not_shared)),
    Judge("NR556", "writable", of_job(little_space)),
    Judge("NR557", "modules", of_job(not_importable)),
    Judge("NR558", "model", of_job(no_tokenizer)),
    Judge("NR559", "model", of_job(other_small_files)),
)


def _tokens(nodes: Sequence[Node]) -> dict[str, dict[str, set[str]]]:
    """Folder -> node -> nodes whose tokens it sees, of those that could leave their own; folders of several nodes."""
    table: dict[str, dict[str, set[str]]] = {}
    for node in nodes:
        for folder, seen in node.facts("peers").get("tokens", {}).items():
            if node.ip in seen:
                table.setdefault(folder, {})[node.ip] = set(seen)
    return {folder: seen for folder, seen in table.items() if len(seen) > 1}


def _data_file(path: Path) -> dict[str, Any]:
    fact: dict[str, Any] = {"bytes": None, "columns": None, "why": None}
    try:
        if not path.is_file():
            return {**fact, "why": "probe.not_there" if not path.exists() else "probe.no_file"}
        fact["bytes"] = path.stat().st_size
        with path.open("rb") as file:
            if path.suffix == ".parquet" and file.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
                return {**fact, "why": "probe.no_parquet"}
    except OSError as error:
        return {**fact, "why": error.strerror}
    return {**fact, **_columns(path)}


def _columns(path: Path) -> dict[str, Any]:
    if path.suffix != ".parquet":
        return {}
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        return {}
    try:
        return {"columns": list(parquet.read_schema(path).names)}
    except Exception as error:  # pyarrow raises what the broken part of the file makes it
        return {"why": str(error).splitlines()[0][:200]}


def _write(folder: Path) -> dict[str, Any]:
    place = existing(folder)
    token = place / f".npurun-write-{uuid.uuid4().hex}"
    why = None
    free: int | None = None
    try:
        token.write_text(token.name)
        if token.read_text() != token.name:
            why = "probe.not_kept"
        free = shutil.disk_usage(place).free
    except OSError as error:
        why = f"{error.strerror} ({place})"
    with suppress(OSError):  # a full file system makes the file, and refuses what is in it
        token.unlink()
    return {"free": free, "why": why}


def _import_error(name: str, timeout_s: float = IMPORT_S) -> str | None:
    command = python_child(["-c", _IMPORT, name])
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return LATE
    if done.returncode == 0:
        return None
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else f"exit code {done.returncode}"


def _some(names: Sequence[str], shown: int = 3) -> str:
    more = f", +{len(names) - shown}" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _gib(size: float) -> str:
    return f"{size / 1024**3:.0f} GiB"
