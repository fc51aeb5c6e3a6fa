"""NPUs: recorded `npu-smi info` tables of A2 and A3 hosts (no test machine has one), and what is judged from them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.probes import devices
from submitter.gang.probes.measure import NotMeasuredError
from submitter.gang.probes.npu_smi import Table, UnreadableError, parse
from submitter.gang.probes.verdict import Verdict
from submitter.gang.probes.wish import Wish
from submitter.supervise.node_findings import finding_of
from submitter.texts import Phrase, text
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

RECORDED = Path(__file__).parents[1] / "data" / "npu_smi"

OLDER = """\
+--------------------------------------------------------------------------------------------+
| npu-smi 22.0.4                   Version: 22.0.4                                           |
+----------------------+---------------+-----------------------------------------------------+
| NPU     Name         | Health        | Power(W)     Temp(C)           Hugepages-Usage(page)|
| Chip    Device       | Bus-Id        | AICore(%)    Memory-Usage(MB)                       |
+======================+===============+=====================================================+
| 8       310P3        | Warning       | NA           50                0     / 0            |
| 0       0            | 0000:C1:00.0  | 0            1757 / 21527                           |
+======================+===============+=====================================================+
"""

NEWER = """\
+------------------------------------------------------------------------------------------------------------------+
| npu-smi 26.0.rc2                            Version: 26.0.rc2                                                    |
+---------------------------+---------------+----------------------------------------------------------------------+
| NPU   Name                | Health        | Power(W)             Temp(C)                 Hugepages-Usage(page)   |
| Chip  Phy-ID              | Bus-Id        | AICore(%)            Memory-Usage(MB)        HBM-Usage(MB)           |
+===========================+===============+======================================================================+
| 5     Ascend910           | OK            | 204.0                43                      0    / 0                |
| 0     10                  | 0000:9D:00.0  | 100                  0    / 0                59807/ 65536            |
+------------------------------------------------------------------------------------------------------------------+
| 5     Ascend910           | NA            | -                    40                      0    / 0                |
| 1     NA                  | NA            | NA                   NA   / NA               NA   / NA               |
+===========================+===============+======================================================================+
+---------------------------+---------------+----------------------------------------------------------------------+
| NPU     Chip              | Process id    | Process name       | Process memory(MB)    | Process id in container |
+===========================+===============+======================================================================+
| 5       0                 | 6513          |                    | 617                   | 33                      |
+===========================+===============+======================================================================+
"""
"""A container may not see the names of processes."""


def recorded(name: str) -> str:
    return (RECORDED / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "count", "version"),
    [("a2_idle.txt", 8, "24.1.rc3"), ("a3_idle.txt", 16, "25.3.rc1"), ("a3_leftover_processes.txt", 16, "25.3.rc1")],
)
def test_every_device_of_a_recorded_table(name: str, count: int, version: str) -> None:
    table = parse(recorded(name))
    assert (len(table.devices), table.version) == (count, version)
    assert {device.hbm_total_mb for device in table.devices} == {65536}
    assert {device.health for device in table.devices} == {"OK"}


def test_cards_chips_and_physical_ids_of_an_a3() -> None:
    last = parse(recorded("a3_idle.txt")).devices[-1]
    assert (last.card, last.chip, last.physical, last.name) == (7, 1, 15, "Ascend910")
    assert parse(recorded("a2_idle.txt")).devices[3].physical is None


def test_leftover_processes_of_an_a3() -> None:
    found = parse(recorded("a3_leftover_processes.txt")).processes
    assert [(one.card, one.chip, one.pid, one.name, one.memory_mb) for one in found] == [
        (0, 0, 632268, "python3.11", 54210),
        (0, 1, 632269, "VLLM::Worker_TP1", 54260),
        (3, 0, 701122, "ray::WorkerDict", 37900),
    ]


def test_an_older_layout_without_hbm() -> None:
    (device,) = parse(OLDER).devices
    assert (device.card, device.health, device.hbm_used_mb) == (8, "Warning", None)


def test_a_usage_that_the_driver_does_not_tell() -> None:
    table = re.sub(r"\d+ *(/ *65536)", r"-1    \1", recorded("a3_idle.txt"))
    assert {(one.hbm_used_mb, one.hbm_total_mb) for one in parse(table).devices} == {(None, 65536)}


def test_a_newer_layout_with_one_column_more() -> None:
    table = parse(NEWER)
    assert [(one.card, one.chip, one.physical, one.health, one.hbm_used_mb) for one in table.devices] == [
        (5, 0, 10, "OK", 59807),
        (5, 1, None, "NA", None),
    ]
    assert [(one.pid, one.name, one.memory_mb) for one in table.processes] == [(6513, "", 617)]


def test_a_process_without_a_name_is_told_without_one() -> None:
    measured = devices.npus(Wish(), lambda: NEWER, Path("/nonexistent"))
    (verdict,) = devices.in_use([node(npus=2, measured={"npus": measured})], Wish())
    assert "process 6513 (?, user ?)" in text(verdict.id, "en", **_values(verdict))


def test_a_device_whose_second_line_is_missing_is_no_device_less() -> None:
    lines = recorded("a3_idle.txt").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("| 4     Ascend910"))
    for cut in ([*lines[: at + 1], *lines[at + 2 :]], lines[: at + 1]):
        with pytest.raises(UnreadableError):
            parse("\n".join(cut))


@given(st.text() | st.text(alphabet="|+-= 0123456789OKNPUChip\n/"))
def test_any_other_text_is_unreadable_and_nothing_worse(text: str) -> None:
    with suppress(UnreadableError):
        assert isinstance(parse(text), Table)


@given(st.data())
def test_a_table_that_is_cut_anywhere_does_no_harm(data: st.DataObject) -> None:
    whole = recorded("a3_leftover_processes.txt")
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole)))))
    with suppress(UnreadableError):
        parse(whole[start:end])


def facts(name: str, proc: Path = Path("/nonexistent")) -> Any:
    return devices.npus(Wish(), lambda: recorded(name), proc)


CASES = [
    ("a3_idle.txt", 16, {}),
    ("a2_idle.txt", 8, {"NR501": ["8"]}),
    ("a3_idle.txt", 8, {"NR502": ["8"]}),
    ("a3_idle.txt", 0, {"NR502": ["0"]}),
    ("a3_one_chip_alarm.txt", 16, {"NR503": ["Alarm"]}),
    ("a3_leftover_processes.txt", 16, {"NR504": ["632268", "632269", "701122"]}),
]


@pytest.mark.parametrize(("name", "npus", "wanted"), CASES)
def test_what_is_judged(name: str, npus: int, wanted: dict[str, list[str]]) -> None:
    bad, wish = node("10.0.0.7", npus=npus, measured={"npus": facts(name)}), Wish(npus_per_node=16)
    found: dict[str, list[str | None]] = {}
    for rule in devices.JUDGES:
        for verdict in rule.judge([bad], wish):
            assert (verdict.id, verdict.node) == (rule.id, "10.0.0.7")
            assert "10.0.0.7" in text(verdict.id, "en", **_values(verdict))
            assert text(f"{verdict.id}.fix", "zh", **_values(verdict))
            found.setdefault(verdict.id, []).append(verdict.value)
    assert found == wanted


def test_memory_that_nobody_holds() -> None:
    measured = facts("a3_leftover_processes.txt")
    (verdict,) = devices.memory_taken(
        [node(measured={"npus": {**measured, "processes": measured["processes"][1:]}})], Wish()
    )
    assert (verdict.value, verdict.values["npu"]) == ("57784 MB", "0.0")


def test_device_files_are_judged() -> None:
    files = {"numbers": [0, 1], "managers": {"davinci_manager": True, "hisi_hdc": False}, "unreadable": [1]}
    (verdict,) = devices.files_missing([node(npus=2, measured={"device_files": files})], Wish())
    assert (verdict.values["absent"], verdict.values["unreadable"]) == ("/dev/hisi_hdc", 1)


def test_what_was_not_measured_is_no_verdict() -> None:
    blind = node(why={"npus": "no npu-smi", "device_files": "none"})
    assert not [verdict for rule in devices.JUDGES for verdict in rule.judge([blind], Wish(npus_per_node=16))]


def _values(verdict: Verdict) -> dict[str, object]:
    return {"node": verdict.node, "value": verdict.value, "limit": verdict.limit, **verdict.values}


def host_pids(proc: Path, name: str = devices.HOST_PIDS) -> None:
    (proc / "self/ns").mkdir(parents=True)
    (proc / "self/ns/pid").symlink_to(name)


def test_in_a_container_a_pid_of_the_host_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "632268").mkdir()
    (tmp_path / "632268" / "cmdline").write_bytes(b"another process")
    host_pids(tmp_path, "pid:[4026532000]")
    verdict, *_ = devices.in_use([node(measured={"npus": facts("a3_leftover_processes.txt", tmp_path)})], Wish())
    assert (verdict.values["command"], verdict.values["owner"]) == ("python3.11", "?")
    assert verdict.values["how"] == "probe.end_on_host"


def test_a_split_host_and_one_of_another_kind() -> None:
    split = node(npus=8, measured={"npus": facts("a3_idle.txt")})
    assert [one.severity for one in devices.not_registered([split], Wish(npus_per_node=8))] == ["warning"]
    smaller = node(npus=8, measured={"npus": facts("a2_idle.txt")})
    assert [one.severity for one in devices.too_few([smaller], Wish(npus_per_node=16))] == ["hint"]


@pytest.mark.parametrize(("health", "wanted"), [("Warning", ["warning"]), ("NA", []), ("-", []), ("Alarm", ["error"])])
def test_health_that_is_not_ok(health: str, wanted: list[str]) -> None:
    one = {"card": 0, "chip": 0, "name": "x", "health": health}
    found = devices.not_well([node(measured={"npus": {"devices": [one]}})], Wish())
    assert [verdict.severity for verdict in found] == wanted


def test_what_does_not_belong_is_named_with_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "632268"
    folder.mkdir()
    host_pids(tmp_path)
    (folder / "cmdline").write_bytes(b"python3\0train.py\0")
    (folder / "environ").write_bytes(b"A=b\0")
    measured = facts("a3_leftover_processes.txt", tmp_path)
    first, second, _ = measured["processes"]
    assert (first["command"], first["own"]) == ("python3 train.py", False)
    assert second["command"] is None  # another container's: only npu-smi's own name is known


def test_the_attempts_own_processes_are_no_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPURUN_ATTEMPT", "run-a1")
    folder = tmp_path / "632268"
    folder.mkdir()
    host_pids(tmp_path)
    (folder / "cmdline").write_bytes(b"x")
    (folder / "environ").write_bytes(b"NPURUN_ATTEMPT=run-a1\0")
    assert [one["own"] for one in facts("a3_leftover_processes.txt", tmp_path)["processes"]] == [True, False, False]


DCMI = "dcmi module initialize failed. ret is -8005"
HANGS = "npu-smi did not answer within 7.5 s"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts an npu-smi of these shell lines on the PATH."""

    def put(lines: str) -> None:
        (tmp_path / "npu-smi").write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / "npu-smi").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return put


@pytest.mark.parametrize("lines", [f"echo '{DCMI}'; exit 237", f"echo '{DCMI}' >&2; exit 237", f"echo '{DCMI}'"])
def test_an_error_of_the_driver_is_told_whatever_the_exit_code(tool: Any, lines: str) -> None:
    tool(lines)
    with pytest.raises(NotMeasuredError, match=r"^npu-smi failed \((237|0)\): dcmi module .* -8005$"):
        devices.npus(Wish())


def test_a_tool_that_hangs_is_given_up(tool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "NPU_SMI_S", 0.8)
    tool("exec sleep 60")
    with pytest.raises(NotMeasuredError, match=r"^npu-smi did not answer within 7.5 s$"):
        devices.npus(Wish())


@pytest.mark.parametrize(
    "why", [HANGS, "no result within 8 s", f"npu-smi failed (237): {DCMI}", "npu-smi failed (-6): -"]
)
def test_a_node_whose_tool_does_not_work_is_unfit_where_it_works_on_another(why: str) -> None:
    sick, well = node("10.0.0.2", why={"npus": why}), node("10.0.0.1", measured={"npus": facts("a3_idle.txt")})
    assert brief(judged(devices.JUDGES, [well, sick])) == [("NR510", "2", "error")]
    assert brief(judged(devices.JUDGES, [sick])) == [("NR510", "2", "warning")]  # nobody shows that it works
    head = node("10.0.0.3", npus=0, why={"npus": why})
    assert brief(judged(devices.JUDGES, [well, head])) == [("NR510", "3", "warning")]
    split = node("10.0.0.4", npus=8, why={"npus": why})
    assert brief(judged(devices.JUDGES, [well, split], Wish(npus_per_node=16))) == [("NR510", "4", "warning")]
    (said,) = [finding_of(one.as_json()) for one in judged(devices.JUDGES, [sick])]
    assert "NPUs of node 10.0.0.2: " in said.message() and isinstance(said.shown()["value"], Phrase)


@pytest.mark.parametrize(
    "why",
    ["no npu-smi on the PATH of this node's Ray", "npu-smi printed no device table that is understood", "OSError: x"],
)
def test_a_node_without_the_tool_or_with_another_one_is_no_worse_for_it(why: str) -> None:
    well = node("10.0.0.1", measured={"npus": facts("a3_idle.txt")})
    assert not judged(devices.JUDGES, [well, node("10.0.0.2", why={"npus": why})])


def test_no_tool_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(NotMeasuredError, match="no npu-smi"):
        devices.npus(Wish())


def test_device_files_of_a_container(tmp_path: Path) -> None:
    with pytest.raises(NotMeasuredError):
        devices.device_files(Wish(), tmp_path)
    for name in ("davinci0", "davinci1", "davinci_manager", "devmm_svm"):
        (tmp_path / name).touch()
    found = devices.device_files(Wish(), tmp_path)
    assert (found["numbers"], found["managers"]["hisi_hdc"]) == ([0, 1], False)
