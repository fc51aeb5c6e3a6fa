"""Samples of a node: what is measured, what is not, what it costs, and how it is kept and published."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.probes.devices import look
from submitter.gang.probes.measure import NotMeasuredError
from submitter.gang.probes.npu_smi import parse
from submitter.gang.step_lines import Step
from submitter.gang.telemetry import host
from submitter.gang.telemetry.devices import EVERY_S, MISSING_EVERY_S, SHARE, Devices, interval_s
from submitter.gang.telemetry.file import TelemetryFile, path_beside
from submitter.gang.telemetry.gauges import GAUGES, RayGauges, of_sample, of_step
from submitter.gang.telemetry.publish import Publisher
from submitter.gang.telemetry.sample import LINE_MAX, parse_sample, sample_line
from submitter.gang.telemetry.sampler import Sampler
from submitter.gang.telemetry.tool import Ran, ToolMissingError, ToolSilentError, run
from tests.support.processes import wait_for

NPU_SMI = Path(__file__).parents[1] / "data/npu_smi"
A3 = (NPU_SMI / "a3_one_chip_alarm.txt").read_text()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of which programs are found; nothing else is."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def tool(path: Path, script: str) -> None:
    """A stand-in for npu-smi."""
    program = path / "npu-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("layout", "first", "second"),
    [
        ("a2_idle", (0, 90.1, 41.0), (0, 91.1, 42.0)),
        ("a3_idle", (0, 162.6, 34.0), (0, None, 34.0)),
    ],
)
def test_use_power_and_temperature_by_their_headings(
    layout: str, first: tuple[Any, ...], second: tuple[Any, ...]
) -> None:
    devices = parse((NPU_SMI / f"{layout}.txt").read_text()).devices
    assert [(one.use, one.power_w, one.temp_c) for one in devices[:2]] == [first, second]


def test_what_npu_smi_does_not_tell_is_not_measured() -> None:
    text = A3.replace("| 162.6       34  ", "| NA          -   ").replace(
        "| 0           0    / 0 ", "| -           0    / 0 "
    )
    device = parse(text).devices[0]
    assert (device.use, device.power_w, device.temp_c, device.hbm_used_mb) == (None, None, None, 3190)


def test_what_the_tool_printed_and_its_cpu_time(path: Path) -> None:
    tool(path, f"/bin/cat {NPU_SMI}/a3_idle.txt; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done")
    ran = look()
    assert len(parse(ran.text).devices) == 16
    assert ran.cpu_s is not None and 0.005 < ran.cpu_s < 5


def test_a_tool_that_hangs_is_ended(path: Path) -> None:
    tool(path, "exec /bin/sleep 60")
    began = time.monotonic()
    with pytest.raises(ToolSilentError):
        run(0.2)
    assert time.monotonic() - began < 5


def test_a_tool_that_is_not_there_or_fails_is_not_measured(path: Path) -> None:
    with pytest.raises(ToolMissingError):
        run(1.0)
    with pytest.raises(NotMeasuredError, match="no npu-smi"):
        look()
    tool(path, "echo 'dcmi module initialize failed. ret is -8005'; exit 3")
    with pytest.raises(NotMeasuredError, match=r"npu-smi failed \(3\): dcmi module initialize failed"):
        look()


@given(st.one_of(st.none(), st.floats(0, 60)))
def test_the_interval_keeps_the_tool_within_its_share_of_a_core(tool_s: float | None) -> None:
    interval = interval_s(tool_s)
    assert interval >= EVERY_S
    assert (tool_s or 0.0) / interval <= SHARE * 1.0001


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_devices_are_asked_for_as_seldom_as_they_cost() -> None:
    clock, asked = Clock(), []

    def look_at() -> Ran:
        asked.append(clock.now)
        return Ran(0, A3, 0.35)

    devices = Devices(look_at, clock)
    for clock.now in range(0, 80, 5):
        found = devices.read(1000.0 + clock.now)
        assert len(found["devices"]) == 16 and found["interval_s"] == pytest.approx(35.0)
    assert asked == [0, 35, 70]
    assert found["devices_at"] == 1070.0, "of the last look, not of the sample"
    assert found["devices"][3] == {
        "npu": 3,
        "use": 0,
        "hbm_used_mb": 2880,
        "hbm_total_mb": 65536,
        "power_w": None,
        "temp_c": 35.0,
        "health": "OK",
    }


def test_without_npus_the_reason_and_no_number() -> None:
    def missing() -> Ran:
        raise NotMeasuredError("no npu-smi on the PATH of this node's Ray")

    clock = Clock()
    devices = Devices(missing, clock)
    found = devices.read(1.0)
    assert (found["devices"], found["why"], found["tool_s"]) == (
        None,
        "no npu-smi on the PATH of this node's Ray",
        None,
    )
    assert devices._due == MISSING_EVERY_S
    unread = Devices(lambda: Ran(0, "hello", 0.1), clock).read(1.0)
    assert unread["devices"] is None and "no device table" in unread["why"]


def test_a_tool_that_never_ends_is_started_once_and_the_rest_is_sampled() -> None:
    release, started = threading.Event(), []

    def hang() -> Ran:
        started.append(1)
        assert release.wait(30)
        return Ran(0, A3, 0.1)

    clock = Clock()
    devices = Devices(hang, clock)
    for clock.now in (0, 100, 200):
        found = devices.read(1.0, wait_s=0.01)
        assert (found["devices"], found["why"]) == (None, "npu-smi does not end")
    assert started == [1]
    release.set()
    assert len(devices.read(2.0, wait_s=30)["devices"]) == 16


def test_a_sample_of_this_host_and_its_own_cost() -> None:
    sampler = Sampler(Devices(lambda: Ran(0, A3, 0.01)))
    sampler.sample()
    began = time.thread_time()
    for _ in range(20):
        sample = sampler.sample()
    assert (time.thread_time() - began) / 20 < EVERY_S * 0.005, "0.5 % of a core"
    assert 0 < sample["memory_used_mb"] < sample["memory_total_mb"]
    assert sample["load"] >= 0 and sample["host"]


def test_in_a_container_memory_is_the_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host.cgroup, "memory", lambda: (512 << 20, 100 << 20))
    found = host.read()
    assert (found["memory_used_mb"], found["memory_total_mb"]) == (100, 512)


def test_a_cpu_share_that_psutil_cannot_know_yet_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter((0.0, 12.5))
    monkeypatch.setattr("psutil.cpu_percent", lambda: next(said))
    assert [host.read()["cpu_percent"] for _ in range(2)] == [None, 12.5]


def test_the_samplers_thread_hands_each_sample_over_once() -> None:
    sampler = Sampler(Devices(lambda: Ran(0, A3, 0.01)))
    assert sampler.news() is None
    sampler.start()
    sampler.start()
    wait_for(lambda: sampler._newest is not None, bound_s=20, what="the first sample")
    found = sampler.news()
    assert found is not None and len(found["devices"]) == 16
    assert sampler.news() is None
    assert [thread.name for thread in threading.enumerate()].count("npurun-telemetry") == 1


def test_a_host_that_cannot_be_read_is_told() -> None:
    def broken() -> dict[str, Any]:
        raise PermissionError("no /proc/meminfo")

    sampler = Sampler(Devices(lambda: Ran(0, A3, 0.01)), read_host=broken)
    sampler.start()
    wait_for(lambda: sampler._newest is not None, bound_s=20, what="the first sample")
    assert sampler.news() == {
        "at": pytest.approx(time.time(), abs=60),
        "devices": None,
        "why": "PermissionError: no /proc/meminfo",
    }


SAMPLE = {
    "at": 1790000000.5,
    "node": "10.0.0.1",
    "host": "a3-01",
    "devices": [
        {"npu": 0, "use": 87, "hbm_used_mb": 5, "hbm_total_mb": 9, "power_w": None, "temp_c": 41.0, "health": "OK"}
    ],
    "devices_at": 1790000000.5,
    "why": None,
    "interval_s": 10.0,
    "tool_s": 0.08,
    "memory_used_mb": 5,
    "memory_total_mb": 10,
    "cpu_percent": 3.5,
    "load": 1.0,
}


def test_a_sample_is_read_back_as_it_was_written() -> None:
    assert parse_sample(sample_line(SAMPLE)) == SAMPLE


NO_SAMPLES = (
    *("", "{}", "[1]", "{" * 50_000, '{"at": 1}', '{"at": NaN, "node": "a"}', '{"at": true, "node": "a"}'),
    *('{"at": 1, "node": 7}', '{"at": 1' + "0" * 400 + ', "node": "a"}'),
    '{"at": 1, "node": "a", "host": "' + "x" * LINE_MAX + '"}',
)


@pytest.mark.parametrize("line", NO_SAMPLES)
def test_what_is_no_sample(line: str) -> None:
    assert parse_sample(line) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*SAMPLE, "npu", "use", "x"]), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from([*SAMPLE]), _JSON))
def test_of_anything_else_only_numbers_and_short_texts_are_left(found: dict[str, Any]) -> None:
    sample = parse_sample(json.dumps({"at": 1.0, "node": "10.0.0.1", **found}))
    if sample is not None:
        assert set(sample) == set(SAMPLE)
        json.dumps(sample, allow_nan=False).encode()
        assert all(set(device) == set(SAMPLE["devices"][0]) for device in sample["devices"] or ())  # type: ignore[index]


def test_the_file_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    warned: list[str] = []
    file = TelemetryFile(tmp_path / "t.log", warned.append, most_bytes=1000)
    for number in range(100):
        file.add([f"{number:>50}"])
    kept = [*(tmp_path / "t.log.1").read_text().split(), *(tmp_path / "t.log").read_text().split()]
    assert kept[-1] == "99" and [int(one) for one in kept] == list(range(100 - len(kept), 100))
    assert 10 < len(kept) < 40 and not warned
    assert {one.name for one in tmp_path.iterdir()} == {"t.log", "t.log.1"}


def test_a_file_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    warned: list[str] = []
    file = TelemetryFile(tmp_path / "gone/t.log", warned.append)
    file.add(["a"])
    file.add(["b"])
    assert len(warned) == 1 and "No such file or directory; training goes on" in warned[0]
    (tmp_path / "link").symlink_to(tmp_path / "else")
    TelemetryFile(tmp_path / "link", warned.append).add(["a"])
    assert len(warned) == 2 and not (tmp_path / "else").exists()


def test_it_lies_beside_the_drivers_log(tmp_path: Path) -> None:
    log = tmp_path / "job-driver-r-a1.log"
    log.touch()
    (tmp_path / "fd1").symlink_to(log)
    assert path_beside(tmp_path / "fd1", "r-a1") == tmp_path / "npurun-telemetry-r-a1.log"
    (tmp_path / "pipe").symlink_to("pipe:[123]")
    assert path_beside(tmp_path / "pipe", "r-a1") is None
    assert path_beside(tmp_path / "nothing", "r-a1") is None


class Gauges(RayGauges):
    """Those of Ray, with what was set."""

    def __init__(self, *, fails: bool = False) -> None:
        self.told: list[str] = []
        super().__init__("r", self.told.append)
        self.fails = fails
        self.values: dict[tuple[str, ...], float] = {}

    def _made(self) -> dict[str, Any]:
        return {one.name: type("Gauge", (), {"set": self._setter(one.name)})() for one in GAUGES}

    def _setter(self, name: str) -> Callable[..., None]:
        def put(_self: object, value: float, *, tags: dict[str, str]) -> None:
            if self.fails:
                raise ValueError("no exporter")
            self.values[(name, *(value for key, value in sorted(tags.items()) if key != "run"))] = value
            assert tags["run"] == "r"

        return put


def test_steps_and_samples_as_gauges() -> None:
    gauges = Gauges()
    metrics = {"critic/rewards/mean": 0.5, "timing_s/gen": 3.0, "timing_s/agent_loop/x": 9.0, "actor/lr": 1.0}
    gauges.set(of_step(Step(7, metrics), 20))
    gauges.set(of_sample(SAMPLE))
    assert gauges.values == {
        ("npurun_step",): 7,
        ("npurun_total_steps",): 20,
        ("npurun_reward",): 0.5,
        ("npurun_phase_seconds", "gen"): 3.0,
        ("npurun_node_memory_used_mb", "10.0.0.1"): 5,
        ("npurun_node_memory_total_mb", "10.0.0.1"): 10,
        ("npurun_npu_use_percent", "10.0.0.1", "0"): 87,
        ("npurun_npu_hbm_used_mb", "10.0.0.1", "0"): 5,
        ("npurun_npu_hbm_total_mb", "10.0.0.1", "0"): 9,
        ("npurun_npu_temperature_celsius", "10.0.0.1", "0"): 41.0,
        ("npurun_npu_healthy", "10.0.0.1", "0"): 1.0,
    }
    assert not list(of_sample({**SAMPLE, "devices": None, "memory_used_mb": None, "memory_total_mb": None}))
    assert {name for name, *_ in gauges.values} < {one.name for one in GAUGES}


def test_gauges_that_ray_does_not_take_are_told_once() -> None:
    gauges = Gauges(fails=True)
    gauges.set(of_sample(SAMPLE))
    gauges.set(of_sample(SAMPLE))
    assert gauges.told == ["metrics: not published through Ray: ValueError: no exporter"]


def test_the_publisher_writes_what_is_a_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "job-driver-r-a1.log"
    log.touch()
    (tmp_path / "fd1").symlink_to(log)
    publisher = Publisher("r", "r-a1", tmp_path / "fd1", Gauges())
    own = {name: value for name, value in SAMPLE.items() if name != "node"}
    publisher.samples([("10.0.0.1", own), ("10.0.0.2", {"at": "?"}), ("10.0.0.3", own)])
    lines = (tmp_path / "npurun-telemetry-r-a1.log").read_text().splitlines()
    assert [parse_sample(line) for line in lines] == [SAMPLE, {**SAMPLE, "node": "10.0.0.3"}]
    assert (tmp_path / "npurun-telemetry-r-a1.log").stat().st_mode & 0o777 == 0o644
    Publisher("r", "r-a1", tmp_path / "nothing", Gauges()).samples([("10.0.0.1", own)])
    assert "telemetry: not kept" in capsys.readouterr().out
