"""Versions: CANN and driver files as they lie on hosts of 8.x and 9.x, packages and checkouts, and what is judged."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.probes import versions
from submitter.gang.probes.odd import has_majority, odd_ones
from submitter.gang.probes.verdict import Node
from submitter.gang.probes.wish import Wish
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

VERSION_CFG = """\
# version: 1.0
runtime_running_version=[7.6.0.1.220:8.0.0]
compiler_running_version=[7.6.0.1.220:8.0.0]
toolkit_running_version=[7.6.0.1.220:8.0.0]
opp_kernel_installed_version=[7.6.0.1.220:8.0.0]
"""
RELEASE_CANDIDATE = "runtime_running_version=[7.3.0.1.231:8.0.RC2]\ntoolkit_running_version=[7.3.0.1.231:8.0.RC2]\n"
COMPILER_INFO = "Version=7.6.0.1.220\nversion_dir=8.2.RC1\ntimestamp=20250101_000000000\n"
INSTALL_INFO = """\
package_name=Ascend-cann-toolkit
version=9.0.0
innerversion=V100R001C25SPC001B240
arch=aarch64
os=linux
path=/usr/local/Ascend/cann-9.0.0
"""
DRIVER = """\
Version=24.1.rc3
ascendhal_version=7.35.23
aicpu_version=1.0
Innerversion=V100R001C19SPC001B124
compatible_version=[V100R001C13],[V100R001C15]
compatible_version_fw=[7.0.0,7.5.99]
package_version=24.1.rc3
"""
ARCH = f"{platform.machine()}-linux"


def write(root: Path, name: str, contents: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(contents)


@pytest.mark.parametrize(
    ("file", "contents", "wanted"),
    [
        ("ascend-toolkit/latest/version.cfg", VERSION_CFG, "8.0.0"),
        ("ascend-toolkit/latest/version.cfg", RELEASE_CANDIDATE, "8.0.RC2"),
        ("ascend-toolkit/latest/compiler/version.info", COMPILER_INFO, "8.2.RC1"),
        (f"ascend-toolkit/latest/{ARCH}/ascend_toolkit_install.info", "version=8.5.0\npath=/x\n", "8.5.0"),
        (f"cann/{ARCH}/ascend_toolkit_install.info", INSTALL_INFO, "9.0.0"),
        ("cann/version.cfg", "runtime_running_version=[9.0.1.1:CANN-9.0]\n", "9.0"),
        ("cann/version.cfg", "# nothing\n", None),
        ("elsewhere", "", None),
    ],
)
def test_canns_version(tmp_path: Path, file: str, contents: str, wanted: str | None) -> None:
    write(tmp_path, file, contents)
    assert versions.versions(Wish(), [str(tmp_path)], {})["cann"] == wanted


def test_the_toolkit_that_the_worker_uses_counts(tmp_path: Path) -> None:
    write(tmp_path, f"cann/{ARCH}/ascend_toolkit_install.info", INSTALL_INFO)
    write(tmp_path, f"cann-8.5.0/{ARCH}/ascend_toolkit_install.info", "version=8.5.0\n")
    environ = {"ASCEND_HOME_PATH": str(tmp_path / "cann-8.5.0")}
    assert versions.versions(Wish(), [str(tmp_path)], environ)["cann"] == "8.5.0"


@pytest.mark.parametrize(
    ("contents", "wanted"),
    [
        (DRIVER, "24.1.rc3"),
        ("Version=23.0.6\n", "23.0.6"),
        ("Version=7.8.0\npackage_version=25.5.2\n", "25.5.2"),
        ("", None),
    ],
)
def test_the_drivers_version(tmp_path: Path, contents: str, wanted: str | None) -> None:
    write(tmp_path, "driver/version.info", contents)
    assert versions.versions(Wish(), [str(tmp_path)], {})["driver"] == wanted


def test_packages_are_those_of_this_python(tmp_path: Path) -> None:
    found = versions.versions(Wish(), [str(tmp_path)], {})
    import ray

    assert (found["ray"], found["python"]) == (ray.__version__, platform.python_version())
    assert (found["torch_npu"], found["cann"]) == (None, None)


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"core/package_info.py": "MAJOR = 0\nMINOR = 16\nPATCH = 0\nPRE_RELEASE = ''\n"}, "0.16.0"),
        ({"core/package_info.py": "VERSION = 'odd'\n"}, "from source"),
        ({"other.py": ""}, None),
    ],
)
def test_a_checkout_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], wanted: str | None
) -> None:
    for name, contents in files.items():
        write(tmp_path / "megatron", name, contents)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "megatron", raising=False)
    assert versions.versions(Wish(), [str(tmp_path)], {})["megatron_core"] == wanted


@given(st.text() | st.from_regex(r"(Version|version|package_version)\s*=\s*\S*"))
def test_any_file_is_read_without_harm(tmp_path_factory: pytest.TempPathFactory, contents: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    write(folder, "driver/version.info", contents.encode(errors="replace").decode())
    told = versions.versions(Wish(), [str(folder)], {})["driver"]
    assert told is None or told[0].isdigit()


# Judges

SAME = {
    "torch": "2.9.0+cpu",
    "torch_npu": "2.9.0.post2",
    "vllm": "0.18.0",
    "vllm_ascend": "0.18.0",
    "verl": "0.8.0",
    "megatron_core": "0.16.1",
    "mindspeed": None,
    "transformers": "4.57.6",
    "ray": "2.51.0",
    "python": "3.11.9",
    "cann": "9.0.0",
    "driver": "25.5.2",
}


def nodes(*changes: dict[str, Any]) -> list[Node]:
    return [node(f"10.0.0.{n}", measured={"versions": {**SAME, **change}}) for n, change in enumerate(changes)]


@pytest.mark.parametrize(
    ("component", "value", "severity"),
    [
        ("torch", "2.8.0+cpu", "error"),
        ("torch", "2.9.0", "warning"),  # another build of the same release
        ("torch_npu", "2.9.0", "warning"),
        ("torch_npu", "2.9.1", "error"),
        ("vllm_ascend", "0.18.0rc1", "warning"),
        ("python", "3.11.4", "warning"),
        ("python", "3.12.1", "error"),
        ("megatron_core", "0.16.0", "warning"),
        ("megatron_core", "0.12.1", "error"),
        ("megatron_core", "from source", "warning"),
        ("cann", "8.5.0", "error"),
        ("driver", "24.1.rc3", "warning"),
        ("transformers", "5.10.4", "warning"),
        ("verl", None, "warning"),
        ("mindspeed", "0.12.1", "warning"),
    ],
)
def test_one_node_that_differs(component: str, value: str | None, severity: str) -> None:
    (verdict,) = judged(versions.JUDGES, nodes({}, {component: value}, {}))
    assert (verdict.id, verdict.node, verdict.severity) == ("NR511", "10.0.0.1", severity)
    assert (verdict.values["component"], verdict.value) == (component, value or "absent")


def test_of_two_halves_neither_is_left_out() -> None:
    found = judged(versions.JUDGES, nodes({}, {"torch": "2.8.0"}, {}, {"torch": "2.8.0"}))
    assert brief(found) == [("NR511", str(n), "warning") for n in range(4)]
    assert {(verdict.value, verdict.limit) for verdict in found} == {("2.9.0+cpu", "2.8.0"), ("2.8.0", "2.9.0+cpu")}


def test_a_stack_that_fits_and_one_that_does_not() -> None:
    fits = {
        "torch": "2.9.0",
        "torch_npu": "2.9.0.post2",
        "verl": "main of August 2026 (0.10.0.dev), on no index",
        "megatron_core": "core_r0.16.0",
        "transformers": "a pinned commit",
        "python": "3.11",
        "cann": "9.0.0",
        "hdk": "9.0.0",
    }
    assert not judged(versions.JUDGES, nodes({}, {}), Wish(stack=fits))
    wrong = {**fits, "torch": "2.10.0", "megatron_core": "core_v0.12.1", "python": "3.12", "hdk": "26.0.rc1"}
    found = judged(versions.JUDGES, nodes({}), Wish(stack=wrong))
    assert {(verdict.values["component"], verdict.value, verdict.limit) for verdict in found} == {
        ("torch", "2.9.0+cpu", "2.10.0"),
        ("megatron_core", "0.16.1", "core_v0.12.1"),
        ("python", "3.11.9", "3.12"),
        ("driver", "25.5.2", "26.0.rc1"),
    }
    assert {verdict.severity for verdict in found} == {"warning"}


def test_mindspeeds_branch_names_the_core_release() -> None:
    assert versions.same_version("mindspeed", "0.12.1", "2.3.0_core_r0.12.1")
    assert not versions.same_version("mindspeed", "0.8.0", "2.3.0_core_r0.12.1")


@pytest.mark.parametrize(
    ("seen", "wanted", "same"),
    [
        ("2.9.0.post2+git1", "2.9.0.post2", True),
        ("2.9.0", "2.9.0.post2", False),
        ("8.0.RC2", "8.0.rc2", True),
        ("0.18.0rc1", "0.18.0", False),
        ("2.90.0", "2.9", False),
    ],
)
def test_versions_that_are_the_same(seen: str, wanted: str, same: bool) -> None:
    assert versions.same_version("torch_npu", seen, wanted) is same


def test_what_the_job_imports_and_only_some_nodes_have() -> None:
    found = judged(versions.JUDGES, nodes({}, {"vllm": None}), Wish(needs=("vllm", "mindspeed")))
    assert ("NR513", "1", "error") in brief(found)
    assert ("NR514", "0", "warning") in brief(found)
    assert [verdict.id for verdict in found if verdict.value == "mindspeed"] == ["NR514"]  # on no node


def test_a_node_that_the_job_cannot_use_is_not_judged_against_it() -> None:
    head = node("10.0.0.9", npus=0, measured={"versions": {**SAME, "vllm": None}})
    found = judged(versions.JUDGES, [*nodes({}, {}), head], Wish(npus_per_node=16, needs=("vllm",)))
    assert not [one for one in found if one.id in ("NR513", "NR514")]


def test_what_was_not_measured_is_no_verdict() -> None:
    blind = node("10.0.0.9", why={"versions": "no result within 4 s"})
    assert not judged(versions.JUDGES, [*nodes({}, {}), blind], Wish(needs=("vllm",), stack={"torch": "2.9.0"}))


# The odd ones


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.none() | st.integers(0, 3), max_size=12))
def test_odd_ones(values: dict[str, int | None]) -> None:
    known = [value for value in values.values() if value is not None]
    found = odd_ones(values)
    assert {node for node, _, _ in found} <= {node for node, value in values.items() if value is not None}
    assert all(value == values[node] and value != usual and usual in known for node, value, usual in found)
    if len(set(known)) < 2:
        assert found == []
    elif has_majority(values):
        assert 0 < len(found) < len(known) / 2
    else:
        assert len(found) == len(known)
