"""`npu-smi info` as data. The tool has no machine-readable output: its table is read by its headings.

Two lines a device. A2 (one chip per card): `NPU Name | Health | …` over `Chip | Bus-Id | … HBM-Usage(MB)`. A3 (two
chips per card) has `Chip Phy-ID` there. Older releases say `Device` for `Chip`, and 310-class cards have no HBM
column: columns are found by name, never by position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_USAGE = re.compile(r"(-?\d+)\s*/\s*(\d+)")
_NO_PROCESS = re.compile(r"No running processes", re.IGNORECASE)


class UnreadableError(ValueError):
    """The output has no device table that is understood as a whole."""

    def __init__(self) -> None:
        super().__init__("npu-smi printed no device table that is understood")


@dataclass(frozen=True)
class Device:
    card: int
    chip: int
    physical: int | None
    """`Phy-ID`: the number of /dev/davinci<N>; None where the table does not tell it."""
    name: str
    health: str
    """`OK`, `Warning`, `Alarm`, `Critical`, `UNKNOWN` …, as printed."""
    hbm_used_mb: int | None
    hbm_total_mb: int | None
    use: int | None = None
    """Of its AI cores, percent."""
    power_w: float | None = None
    """Of the whole card: on A3 the first chip alone tells it."""
    temp_c: float | None = None


@dataclass(frozen=True)
class Process:
    card: int
    chip: int | None
    pid: int
    name: str
    memory_mb: int | None


@dataclass(frozen=True)
class Table:
    version: str | None
    devices: tuple[Device, ...]
    processes: tuple[Process, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def parse(text: str) -> Table:
    """UnreadableError: no device in it that is understood, or one without its second line."""
    rows = [_cells(line) for line in map(str.strip, text.splitlines()) if line.startswith(("|", "+"))]
    split = next((at for at, row in enumerate(rows) if _is_process_heading(row)), len(rows))
    devices = tuple(_devices(rows[:split]))
    if not devices:
        raise UnreadableError
    version = re.search(r"Version:\s*([^\s|]+)", text)
    return Table(version[1] if version else None, devices, tuple(_processes(rows[split + 1 :])))


def _cells(line: str) -> list[str]:
    """None of a line that is drawn between rows."""
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []


def _is_process_heading(row: Sequence[str]) -> bool:
    return any(cell.lower().startswith("process id") for cell in row)


def _devices(rows: Sequence[Sequence[str]]) -> Iterator[Device]:
    over: Sequence[str] = ()
    names: Sequence[str] = ()
    first: Sequence[str] | None = None
    for row in rows:
        if not row and first is not None:
            raise UnreadableError  # cut off: who counts the rest finds devices missing that are there
        if len(row) >= 2 and row[0].split()[:1] in (["Chip"], ["Device"]):
            names = row
        elif len(row) >= 2 and row[0].split()[:1] == ["NPU"]:
            over = row
        elif not names or len(row) < 3 or not row[0].partition(" ")[0].isdecimal():
            continue
        elif first is None:
            first = row
        else:
            yield _device(first, row, over, names)
            first = None
    if first is not None:
        raise UnreadableError


def _device(first: Sequence[str], second: Sequence[str], over: Sequence[str], names: Sequence[str]) -> Device:
    card, _, name = first[0].partition(" ")
    numbers = second[0].split()
    has_physical = "Phy-ID" in names[0]
    used, total = _hbm(second, names)
    numbers_of = {**_numbers(first, over), **_numbers(second, names)}
    use = numbers_of.get("AICore(%)")
    return Device(
        card=int(card),
        chip=int(numbers[0]),
        physical=int(numbers[1]) if has_physical and len(numbers) > 1 and numbers[1].isdigit() else None,
        name=name.strip(),
        health=first[1],
        hbm_used_mb=used,
        hbm_total_mb=total,
        use=None if use is None else round(use),
        power_w=numbers_of.get("Power(W)"),
        temp_c=numbers_of.get("Temp(C)"),
    )


def _hbm(row: Sequence[str], names: Sequence[str]) -> tuple[int | None, int | None]:
    """The usages of a cell come in the order of its heading: `AICore(%) Memory-Usage(MB) HBM-Usage(MB)`."""
    for cell, heading in zip(row, names, strict=False):
        kinds = [word for word in heading.split() if "-Usage(MB)" in word]
        usages = _USAGE.findall(cell)
        if "HBM-Usage(MB)" in kinds and len(usages) == len(kinds):
            used, total = usages[kinds.index("HBM-Usage(MB)")]
            return None if used.startswith("-") else int(used), int(total)  # -1: the driver does not tell
    return None, None


def _numbers(row: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Of cells with several columns each, by the columns' names; a usage (`0 / 0`) is one column and no number."""
    found: dict[str, float] = {}
    for cell, heading in zip(row[2:], names[2:], strict=False):
        columns, values = heading.split(), _USAGE.sub("/", cell).split()
        if len(columns) == len(values):
            found.update(
                {column: float(value) for column, value in zip(columns, values, strict=True) if _is_number(value)}
            )
    return found


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _processes(rows: Sequence[Sequence[str]]) -> Iterator[Process]:
    for row in rows:
        if len(row) < 3 or _NO_PROCESS.search(row[0]) or not row[1].isdigit():
            continue
        numbers = row[0].split()
        if not numbers or not numbers[0].isdigit():
            continue
        chip = int(numbers[1]) if len(numbers) > 1 and numbers[1].isdigit() else None
        memory = row[3] if len(row) > 3 else ""
        yield Process(int(numbers[0]), chip, int(row[1]), row[2], int(memory) if memory.isdigit() else None)
