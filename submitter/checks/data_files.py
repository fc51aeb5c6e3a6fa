"""The training and validation files that can be read here: what verl's dataset would find in them, bounded.

Of parquet the footer is read, and one short column of its first rows; of JSON the first row and, in a small file, the
number of rows. Nothing is opened that is no regular file: a pipe would block.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from submitter.checks.settings import Settings
from submitter.texts import Phrase

TRAIN = "data.train_files"
VAL = "data.val_files"

FORMATS = (".parquet", ".json", ".jsonl")
"""By the end of the name, in every verl release that was read."""
FILES_READ = 64
"""Of one setting: footers take about a millisecond each."""
JSON_HEAD_BYTES = 4 << 20
"""The first row of a JSON file must end within these."""
JSON_COUNTED_BYTES = 64 << 20
"""The rows of a larger file are not counted."""

SOURCE = "data_source"
SOURCE_BATCH_ROWS, SOURCE_BATCHES = 10_000, 10
"""Rows that the sources of a file are looked for in."""
SOURCES_READ = 100
"""More than a data set is mixed of; a column with a text of its own in each row ends here."""

Kind = Literal["chat", "text", "struct", "other"]
"""`chat`: a list of structs; `text`: a string, or a list of them; `struct`: has named fields."""
State = Literal["read", "remote", "absent", "lost", "format", "no_file", "unreadable", "corrupt", "no_reader"]
"""`absent`: not on this machine; `lost`: the folder is here, the file is not; `no_reader`: pyarrow is not installed."""


@dataclass(frozen=True)
class Column:
    kind: Kind
    type: str
    """As its file names the type."""
    fields: frozenset[str] = frozenset()
    """Of a struct."""


@dataclass(frozen=True)
class DataFile:
    key: str
    """`data.train_files` or `data.val_files`."""
    path: str
    """As the job names it; of a pattern, the file that it stands for."""
    state: State
    why: Phrase | str = ""
    """Of a file that cannot be read, in the words of the system or of the reader."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    rows: int | None = None
    """None: not counted."""
    sources: tuple[str, ...] = ()
    """The values of the column `data_source` in the first rows of a parquet file."""


def read_data(settings: Settings, working_dir: str | None) -> tuple[DataFile, ...]:
    """Relative paths are looked for in the job's working_dir, which is where its trainer starts."""
    return tuple(
        found
        for key in (TRAIN, VAL)
        if settings.is_set(key)
        for path in islice(_paths(settings, key), FILES_READ)
        for found in _read_path(key, path, working_dir)
    )


def is_remote(path: str) -> bool:
    """`hdfs://…`, `s3://…`: not a path on a disk."""
    return "://" in path


def _paths(settings: Settings, key: str) -> Iterator[str]:
    return (item for item in settings.items(key) if isinstance(item, str) and item)


def _read_path(key: str, path: str, working_dir: str | None) -> Iterator[DataFile]:
    if not path.endswith(FORMATS):
        yield DataFile(key, path, "format")
    elif is_remote(path):
        yield DataFile(key, path, "remote")
    elif "\0" in path:
        yield DataFile(key, path, "unreadable", Phrase("NR342.nul"))
    else:
        yield from _read_local(key, path, working_dir)


def _read_local(key: str, path: str, working_dir: str | None) -> Iterator[DataFile]:
    here = _here(path, working_dir)
    if here is None:
        yield DataFile(key, path, "absent")
    elif has_magic(path) and not os.path.lexists(here):
        found = _matching(here)
        yield from (_read_file(key, str(one), one) for one in found)
        if not found:
            yield DataFile(key, path, "absent")
    else:
        yield _read_file(key, path, here)


def _matching(pattern: Path) -> list[Path]:
    """Only of one folder: the names of a whole disk are not looked through."""
    if has_magic(str(pattern.parent)):
        return []
    try:
        return list(islice(pattern.parent.glob(pattern.name), FILES_READ))
    except (OSError, ValueError):
        return []


def _here(path: str, working_dir: str | None) -> Path | None:
    """None: relative to a folder that only the cluster has."""
    try:
        local = Path(path).expanduser()
    except RuntimeError:  # nobody's home: ~name
        return None
    if local.is_absolute():
        return local
    return Path(working_dir) / local if working_dir else None


def _read_file(key: str, path: str, here: Path) -> DataFile:
    try:
        mode = here.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return DataFile(key, path, "lost" if _is_folder(here.parent) else "absent")
    except OSError as error:
        return DataFile(key, path, "unreadable", error.strerror or str(error))
    if not stat.S_ISREG(mode):
        return DataFile(key, path, "no_file")
    read = _parquet if path.endswith(".parquet") else _json
    try:
        columns, rows, sources = read(here)
    except _NoReaderError:
        return DataFile(key, path, "no_reader")
    except _CorruptError as error:
        return DataFile(key, path, "corrupt", error.why)
    except OSError as error:
        return DataFile(key, path, "unreadable", error.strerror or str(error))
    return DataFile(key, path, "read", columns=columns, rows=rows, sources=sources)


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return False


class _NoReaderError(Exception):
    pass


class _CorruptError(Exception):
    def __init__(self, why: Phrase | str) -> None:
        super().__init__(why)
        self.why = why


def _parquet(path: Path) -> tuple[dict[str, Column], int, tuple[str, ...]]:
    _check_parquet_ends(path)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise _NoReaderError from None
    try:
        with parquet.ParquetFile(path) as file:
            columns = {one.name: _arrow_column(one.type) for one in file.schema_arrow}
            sources = _sources(file) if SOURCE in columns and columns[SOURCE].kind == "text" else ()
            return columns, file.metadata.num_rows, sources
    except (pyarrow.ArrowException, ValueError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's; pyarrow says with an OSError without a number that a footer is broken
        raise _CorruptError(next(iter(str(error).splitlines()), type(error).__name__)) from error


def _sources(file: Any) -> tuple[str, ...]:
    """Of the one column, and not of more rows than take a few milliseconds."""
    import pyarrow

    found: dict[str, None] = {}
    try:
        for batch in islice(file.iter_batches(SOURCE_BATCH_ROWS, columns=[SOURCE]), SOURCE_BATCHES):
            found.update((one, None) for one in batch.column(0).unique().to_pylist() if isinstance(one, str))
            if len(found) > SOURCES_READ:
                break
    except (pyarrow.ArrowException, OSError, ValueError):
        return ()  # a codec that is not built in here says nothing about the nodes
    return tuple(found)


def _check_parquet_ends(path: Path) -> None:
    """Told without pyarrow: an empty file, a file that ends early, a git-lfs pointer, a file of another kind."""
    with path.open("rb") as file:
        start = file.read(4)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4))
        end = file.read(4)
    if not size:
        raise _CorruptError(Phrase("NR342.zero"))
    if start == b"vers":
        raise _CorruptError(Phrase("NR342.pointer"))
    if start not in (b"PAR1", b"PARE") or end not in (b"PAR1", b"PARE"):
        raise _CorruptError(Phrase("NR342.not_whole"))


def _arrow_column(kind: Any) -> Column:
    from pyarrow import types

    if types.is_struct(kind):
        return Column("struct", "struct", frozenset(one.name for one in kind))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = _arrow_column(kind.value_type).kind
        return Column({"struct": "chat", "text": "text"}.get(inner, "other"), str(kind))  # type: ignore[arg-type]
    text = types.is_string(kind) or types.is_large_string(kind)
    return Column("text" if text else "other", str(kind))


def _json(path: Path) -> tuple[dict[str, Column], int | None, tuple[str, ...]]:
    with path.open("rb") as file:
        head = file.read(JSON_HEAD_BYTES)
        whole = len(head) < JSON_HEAD_BYTES
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text:
        raise _CorruptError(Phrase("NR342.blank"))
    first = _first_row(text, whole)
    columns = {} if first is None else {name: _json_column(value) for name, value in first.items()}
    return columns, _json_rows(path, text, whole), ()


def _first_row(text: str, whole: bool) -> dict[str, Any] | None:
    """None: an empty list, or a row that is longer than what was read."""
    start = 1 + len(text[1:]) - len(text[1:].lstrip()) if text.startswith("[") else 0
    if text[start : start + 1] == "]":
        return None
    try:
        row, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        if not whole:
            return None
        raise _CorruptError(Phrase("NR342.no_json", {"why": error})) from error
    if not isinstance(row, dict):
        raise _CorruptError(Phrase("NR342.no_object"))
    return row


def _json_column(value: object) -> Column:
    kind = type(value).__name__
    if isinstance(value, dict):
        return Column("struct", kind, frozenset(value))
    if isinstance(value, list) and value:
        return Column("chat" if isinstance(value[0], dict) else "text" if isinstance(value[0], str) else "other", kind)
    return Column("text" if isinstance(value, str) else "other", kind)


def _json_rows(path: Path, head: str, whole: bool) -> int | None:
    """Of a list only when all of it was read; of lines also in a larger file."""
    if head.startswith("["):
        try:
            rows = json.loads(head) if whole else None
        except (ValueError, RecursionError):
            return None
        return len(rows) if isinstance(rows, list) else None
    if whole:
        lines = [line for line in head.splitlines() if line.strip()]
        return (
            len(lines) if all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines) else None
        )
    if path.stat().st_size > JSON_COUNTED_BYTES:
        return None
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())
