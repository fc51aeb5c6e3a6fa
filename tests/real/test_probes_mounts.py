"""Folders that are full or of another file system, on real mounts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from submitter.gang.meeting import Meeting
from submitter.gang.probes import host, paths
from submitter.gang.probes.wish import Wish
from tests.support import netns
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(60),
    pytest.mark.skipif(netns.possible() is not None, reason=netns.possible() or ""),
]


@contextmanager
def tmpfs(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True, timeout=20)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True, timeout=20)


def fill(folder: Path) -> None:
    with pytest.raises(OSError, match="No space left"), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 65536)


def test_a_full_tmp(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "tmp", "8m") as small:
        fill(small)
        facts = host.folders(Wish(), str(tmp_path), str(small))
        facts["ray"] = host._usage(str(tmp_path))  # Ray's own folder lies elsewhere
        bad = node("10.0.0.1", measured={"folders": facts})
        (verdict,) = [one for one in judged(host.JUDGES, [bad]) if one.severity == "error"]
        assert (verdict.id, verdict.value, verdict.values["path"]) == ("NR533", "0 MiB", str(small))
        full = paths.writable(Wish(write_dirs=(str(small / "ckpt"),)))
        assert "No space left" in full["folders"][str(small / "ckpt")]["why"]
        assert [path.name for path in small.iterdir()] == ["filler"]


def test_a_small_shm_and_one_that_was_left_full(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "docker", "64m") as small, tmpfs(tmp_path / "left", "96m") as left:
        fill(left)
        for shm in (small, left):
            facts = host.folders(Wish(), str(shm), str(tmp_path))
            found = judged(host.JUDGES[1:2], [node("10.0.0.1", measured={"folders": facts})])
            assert brief(found) == [("NR532", "1", "error")], shm


def test_a_mount_that_one_node_lacks(tmp_path: Path) -> None:
    """Three nodes as they would see one path: two by the mount, one by the folder that lies below it."""
    wanted = str(tmp_path / "share" / "checkpoints")
    (tmp_path / "share").mkdir()
    with ExitStack() as ends:
        lacking = Meeting("run-a1", "10.0.0.1", (wanted,))
        ends.callback(lacking.close)
        ends.enter_context(tmpfs(tmp_path / "share", "8m"))
        having = [Meeting("run-a1", f"10.0.0.{number}", (wanted,)) for number in (2, 3)]
        for one in having:
            ends.callback(one.close)
        peers = {f"10.0.0.{number}": [1] for number in (1, 2, 3)}
        seen: dict[str, Any] = {"10.0.0.2": having[0], "10.0.0.3": having[1]}
        tokens = {ip: one._seen(tmp_path / "share", peers) for ip, one in seen.items()}
    tokens["10.0.0.1"] = ["10.0.0.1"]
    assert tokens["10.0.0.2"] == tokens["10.0.0.3"] == ["10.0.0.2", "10.0.0.3"]
    nodes = [node(ip, measured={"peers": {"reach": {}, "tokens": {wanted: tokens[ip]}}}) for ip in sorted(tokens)]
    assert brief(judged(paths.JUDGES, nodes)) == [("NR555", "1", "error")]
