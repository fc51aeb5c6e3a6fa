"""Whether a file of weights is whole: by its own index against its size, without reading a tensor."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

LOCAL_HEADER = b"PK\x03\x04"
LOCAL_HEADER_BYTES = 30
LOOKED_AT = 8
"""Members of an archive whose beginning is read: a host that lost power leaves files of the right size, all zeros."""
SAFETENSORS_HEADER_MAX = 100_000_000
"""The format's own limit."""


def torch_problem(path: Path) -> str | None:
    """What is wrong with a file of torch.save; None: it is whole, by its index. OSError where it cannot be read."""
    size = path.stat().st_size
    if size == 0:
        return "0 B"
    try:
        with zipfile.ZipFile(path) as archive:
            return _archive_problem(archive, path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, struct.error) as error:
        return f"{size} B, no whole archive: {error}"


def safetensors_problem(path: Path) -> str | None:
    """As `torch_problem`: eight bytes with the length of a JSON header, which names the end of each tensor."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or not 2 <= length <= min(size - 8, SAFETENSORS_HEADER_MAX):
            return f"{size} B, no whole header"
        text = file.read(length)
    try:
        ends = [one["data_offsets"][1] for name, one in json.loads(text).items() if name != "__metadata__"]
        wanted = 8 + length + max(ends, default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return f"{size} B, a header that cannot be read"
    return None if size == wanted else f"{size} B, {wanted} wanted"


def _archive_problem(archive: zipfile.ZipFile, path: Path) -> str | None:
    members = archive.infolist()
    if not any(member.filename.endswith("/data.pkl") for member in members):
        return "an archive without data.pkl"
    index = archive.start_dir
    for member in members:
        if member.header_offset + LOCAL_HEADER_BYTES + member.compress_size > index:
            return f"{member.filename} ends after the file"
    lost = next(_without_header(path, members), None)
    return f"{lost} is lost" if lost else None


def _without_header(path: Path, members: list[zipfile.ZipInfo]) -> Iterator[str]:
    every = max(1, len(members) // LOOKED_AT)
    with path.open("rb") as file:
        for member in {one.header_offset: one for one in [*members[::every], members[-1]]}.values():
            file.seek(member.header_offset, os.SEEK_SET)
            if file.read(len(LOCAL_HEADER)) != LOCAL_HEADER:
                yield member.filename
