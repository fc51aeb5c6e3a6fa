"""Reading logs: any bytes, any chunks, compressed or not; line numbers as an editor counts them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.errors import UsageError
from submitter.recovery import logs
from submitter.recovery.logs import Block, DamagedError, Source, blocks, sources

PACKED = (gzip.compress, bz2.compress, lzma.compress)
MAGIC = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")


def _source(data: bytes, size: int = 1 << 18) -> Source:
    return Source("log", lambda: [data[at : at + size] for at in range(0, len(data), size)])


def _plain(data: bytes, size: int = 1 << 18) -> bytes:
    return b"".join(block.data for block in blocks(_source(data, size)))


def _numbered(read: Iterator[Block]) -> list[tuple[int, bytes]]:
    return [
        (number, line)
        for block in read
        for number, line in enumerate(block.data.splitlines(keepends=True), start=block.line)
    ]


@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(1, 60))
def test_every_line_comes_once_with_its_number(lines: list[bytes], size: int) -> None:
    data = b"\n".join(line.replace(b"\n", b"").replace(b"\r", b"") for line in lines)
    if data.startswith(MAGIC):
        data = b"." + data
    whole = list(blocks(_source(data, size)))
    assert b"".join(block.data for block in whole) == data
    assert [block.line for block in whole] == [
        1 + b"".join(one.data for one in whole[:index]).count(b"\n") for index in range(len(whole))
    ]
    assert all(block.data.endswith(b"\n") for block in whole[:-1])


@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_raise_but_damaged_archives(data: bytes, size: int) -> None:
    try:
        assert _plain(data, size) == data or data.startswith(MAGIC)
    except DamagedError:
        assert data.startswith(MAGIC)
    except UsageError as error:
        assert error.text_id == "diagnose.zstd" and data.startswith(b"\x28\xb5\x2f\xfd")


@pytest.mark.parametrize("pack", PACKED)
@pytest.mark.parametrize("size", [1, 7, 1 << 18])
def test_compressed_logs_of_several_members_are_one_log(pack: Callable[[bytes], bytes], size: int) -> None:
    first, second = b"one\ntwo\n" * 900, b"three\n"
    assert _plain(pack(first) + pack(b"") + pack(second), size) == first + second


@pytest.mark.parametrize("pack", PACKED)
def test_a_compressed_log_that_ends_early_is_read_as_far_as_it_goes(pack: Callable[[bytes], bytes]) -> None:
    data = b"".join(b"%d %s\n" % (number, os.urandom(20).hex().encode()) for number in range(60_000))
    packed = pack(data)
    read = []
    with pytest.raises(DamagedError):
        for block in blocks(_source(packed[: len(packed) * 2 // 3])):
            read.append(block.data)
    assert len(data) // 3 < len(b"".join(read)) < len(data)
    assert data.startswith(b"".join(read))


def test_zeros_behind_a_whole_member_are_padding() -> None:
    assert _plain(gzip.compress(b"all\n") + bytes(512)) == b"all\n"


def test_a_bomb_comes_in_blocks() -> None:
    packed = gzip.compress((b"x" * 99 + b"\n") * 2_000_000)
    sizes = [len(block.data) for block in blocks(_source(packed))]
    assert sum(sizes) == 200_000_000 and max(sizes) < 2 * logs.BLOCK_BYTES


def test_a_line_of_megabytes_comes_in_pieces_that_overlap() -> None:
    line = b"x" * (3 * logs.LINE_BYTES) + b"CORE" + b"y" * 100
    whole = list(blocks(_source(b"first\n" + line + b"\nlast\n")))
    assert max(len(block.data) for block in whole) <= 2 * logs.LINE_BYTES
    assert {block.line for block in whole if b"CORE" in block.data} == {2}
    assert whole[-1].data.endswith(b"\nlast\n") and _numbered(iter(whole))[-1] == (3, b"last\n")


def test_utf_16_is_read_as_text() -> None:
    text = "第一行 RuntimeError\r\nsecond\r\n"
    for encoding in ("utf-16-le", "utf-16-be"):
        data = "\ufeff".encode(encoding) + text.encode(encoding)
        assert _plain(data, 5).decode() == text


def test_files_folders_and_standard_input_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "logs"
    (folder / "node-b").mkdir(parents=True)
    for name in ("b.log", "a.log.gz", "node-b/worker-1.out", "plog-12_2026.log", "rank_0.log.1"):
        (folder / name).write_bytes(b"x")
    for name in ("model.safetensors", "train.parquet", "logger.py", ".hidden.log", "events.json"):
        (folder / name).write_bytes(b"x")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"piped\n")))
    alone = tmp_path / "weird 'name'; $x\n.txt"
    alone.write_bytes(b"y")
    found = sources([str(alone), str(folder), "-", str(alone)])
    names = [Path(source.name).name for source in found]
    assert names == [alone.name, "a.log.gz", "b.log", "worker-1.out", "plog-12_2026.log", "rank_0.log.1", "-"]
    assert [b"".join(source.open()) for source in (found[0], found[-1])] == [b"y", b"piped\n"]


def test_a_pipe_is_opened_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (source,) = sources([str(pipe)])
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(b"through\n"),), daemon=True)
    writer.start()
    assert [block.data for block in blocks(source)] == [b"through\n"]
    writer.join(timeout=10)
    assert not writer.is_alive()


@pytest.mark.parametrize("name", ["missing.log", "no/folder/x.log", "nul\0.log"])
def test_what_cannot_be_read_is_wrong_usage(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        sources([str(tmp_path / name)])
    assert caught.value.text_id == "diagnose.unreadable"


def test_a_folder_without_logs_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(b"x")
    with pytest.raises(UsageError) as caught:
        sources([str(tmp_path)])
    assert caught.value.text_id == "diagnose.no_logs"
