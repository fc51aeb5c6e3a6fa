"""The page of `npurun doctor`: nodes as rows, the odd one out marked, 80 columns, both languages, JSON."""

from __future__ import annotations

import dataclasses
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from submitter.cli.findings import Paper
from submitter.cli.language import choose, choose_from
from submitter.cli.node_table import print_nodes
from submitter.cli.wrap import columns
from submitter.errors import Place
from submitter.gang.fitness import judge
from submitter.gang.probes.verdict import Node
from submitter.gang.probes.wish import Wish
from submitter.supervise.node_findings import finding_of, folded, node_names
from tests.support import doctor
from tests.support.cli import Result, english, npurun
from tests.support.fake_ray import FakeRay, says

WIDTH = 80
HEALTHY = [doctor.a3_node(number) for number in range(1, 5)]
ODD = [*HEALTHY[:2], doctor.odd_node(3), HEALTHY[3]]
ANSI = re.compile(r"\x1b\[\d*m")
TINY = """\
name: tiny
cluster: {nodes: 1, npus_per_node: 2}
variables: {WHERE: here}
trainer: {module: my.trainer}
arguments: {}
"""


@pytest.fixture(params=["en", "zh"])
def lang(request: pytest.FixtureRequest) -> Iterator[str]:
    choose(request.param)
    yield request.param
    choose_from([])


@contextmanager
def answering(ray: FakeRay, nodes: Sequence[Node], wish: Wish | None = None) -> Iterator[None]:
    """Ends the doctor's job with the records of `nodes` as soon as it is there."""

    def answer() -> None:
        while not ray.jobs and not ray.closing.wait(0.01):
            pass
        for job in list(ray.jobs.values()):
            job.write(doctor.log(job.submission_id, nodes, wish))
            job.end("SUCCEEDED", code=0)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield
    ray.closing.set()
    thread.join(10)


def examined(ray: FakeRay, home: Path, nodes: Sequence[Node], *words: str) -> Result:
    with answering(ray, nodes):
        return npurun("doctor", *words, "--address", ray.address, home=home)


def page(nodes: Sequence[Node], *, width: int | None = WIDTH, coloured: bool = False) -> list[str]:
    """The table alone."""
    lines: list[str] = []
    findings = [finding_of(verdict.as_json()) for verdict in judge(nodes, Wish())]
    print_nodes(nodes, findings, Paper(lines.append, width, coloured, "→ "))
    return lines


def rows(lines: Sequence[str]) -> dict[str, list[str]]:
    """First word of each line -> its other words."""
    return {words[0]: words[1:] for words in map(str.split, lines) if words}


def test_what_is_equal_is_said_once_and_the_odd_one_is_marked(ray: FakeRay, tmp_path: Path) -> None:
    result = examined(ray, tmp_path, ODD)
    assert result.code == 3
    lines = result.out.splitlines()
    assert lines[0].split() == ["node", "health", "torch_npu", "free", "RAM", "GiB"]
    shown = rows(lines[:5])
    assert shown["10.0.0.1"] == ["OK", "2.9.0.post2", "1851"]
    assert shown["10.0.0.3"][:3] == ["1", "Critical*", "2.8.0*"]
    equal = next(line for line in lines if line.startswith("equal on all nodes: "))
    assert "NPU 16, " in equal and "CANN 9.0.0, " in equal and "interface eth0" in equal and "torch_npu" not in equal
    assert "installed on no node: MindSpeed" in lines
    assert [line for line in lines if line.startswith("node 10.0.0.3: error NR503: ")]
    (unchecked,) = [line for line in lines if line.startswith("not checked: hccn: ")]
    assert "/etc/hccn.conf" in unchecked and "(4 of 4 nodes)" in unchecked
    assert re.fullmatch(r"4 nodes looked at in \d+ s: .*error.*; 1 not checked", lines[-1])


def test_warnings_alone_are_no_failure(ray: FakeRay, tmp_path: Path) -> None:
    nodes = [doctor.a3_node(1, limits={"files": 1024}), *HEALTHY[1:]]
    assert examined(ray, tmp_path, nodes).code == 0


def test_the_page_is_chinese_in_chinese(ray: FakeRay, tmp_path: Path) -> None:
    result = examined(ray, tmp_path, [*ODD[:3], doctor.silent_node(4)], "--lang", "zh")
    assert result.code == 3 and not english(result.out + result.err)
    assert "没有应答" in result.out and "does not answer" not in result.out
    assert "节点 10.0.0.3：错误" in result.out or "节点 10.0.0.3: 错误 NR503" in result.out


def test_json_has_every_fact(ray: FakeRay, tmp_path: Path) -> None:
    result = examined(ray, tmp_path, ODD, "--json")
    found = result.document
    assert result.code == 3 and set(found) == {"job", "stack", "findings", "not_checked", "nodes"}
    assert (found["job"], found["stack"]) == (None, None)
    first = found["findings"][0]
    assert {key: first[key] for key in ("id", "severity", "value", "limit")} == {
        "id": "NR503",
        "severity": "error",
        "value": "Critical",
        "limit": "OK",
    }
    assert first["where"] == {"file": None, "line": None, "key": None, "node": "10.0.0.3"}
    assert "10.0.0.3" in first["message"] and first["fix"]
    (unchecked,) = found["not_checked"]
    assert unchecked == {"id": "hccn", "why": doctor.NO_HCCN, "nodes": [doctor.ip(number) for number in range(1, 5)]}
    assert found["nodes"] == [json.loads(json.dumps(doctor.record(node))) for node in ODD]


@pytest.mark.parametrize("count", [1, 4, 16, 64])
def test_the_table_fits_80_columns(count: int, lang: str) -> None:
    nodes = [doctor.a3_node(number, count) for number in range(1, count + 1)]
    nodes[count // 2] = doctor.odd_node(count // 2 + 1, count)
    lines = page(nodes)
    assert [line for line in lines if columns(line) > WIDTH] == []
    assert len(lines) < 40


def test_every_column_fits_when_everything_differs(lang: str) -> None:
    nodes = [everything_else(number) for number in range(1, 5)]
    lines = page(nodes)
    assert [line for line in lines if columns(line) > WIDTH] == []
    assert sum(line.startswith("10.0.0.2") for line in lines) > 1  # stacked, none dropped
    (heading,) = [line for line in page(nodes, width=None) if line.startswith(("node ", "节点 "))]
    narrow = " ".join(line for line in lines if line.startswith(("node ", "节点 ")))
    assert set(heading.split()) == set(narrow.split())


def everything_else(number: int) -> Node:
    versions = dict.fromkeys(doctor.VERSIONS, f"1.{number}")
    folders = {kind: doctor.folder(kind, 100 * number) for kind in ("shm", "tmp", "ray")}
    changes = {
        "npus": {"devices": [doctor.device(n, name=f"910_{number}") for n in range(number)]},
        "versions": versions,
        "folders": folders,
        "limits": {"files": 65536 * number},
        "cpus": {"usable": number},
        "interfaces": {"interface": f"eth{number}", "mtu": {f"eth{number}": 1500 * number}},
        "clock": {"offset_s": 10.0 * number},
        "peers": {"reach": {"10.0.0.9": {"rtt_ms": float(number)}}},
        "model": {"missing": [], "bytes": 1, "fingerprint": f"{number}abcdef0123", "small": {}, "tokenizer": True},
        "data": {"files": {"/a": {"why": None, "columns": None, "bytes": 1}}},
        "modules": {"modules": {f"/m{n}.py": None for n in range(number)}, "late": []},
        "writable": {"folders": {"/out": {"free": number * doctor.GIB, "why": None}}},
    }
    return doctor.a3_node(number, **changes)


def test_many_equal_nodes_share_a_row_and_the_odd_ones_come_first() -> None:
    nodes = [doctor.a3_node(number, 64) for number in range(1, 65)]
    nodes[2] = doctor.odd_node(3, 64)
    lines = page(nodes)
    assert lines[1].startswith("10.0.0.3 ") and "1 Critical*" in lines[1]
    assert lines[2].startswith("10.0.0.1-2, 10.0.0.4-64 (63)") or lines[2].startswith("10.0.0.1 +62")
    assert "1851..1914" in lines[2]
    assert not lines[3]


def test_a_node_that_is_not_measured_shows_a_dash_and_never_a_zero() -> None:
    nodes = [*HEALTHY[:3], doctor.a3_node(4, npus="no npu-smi on the PATH of this node's Ray")]
    shown = rows(page(nodes))
    assert shown["node"][0] == "NPU" and shown["10.0.0.4"][0] == "-" and "0" not in shown["10.0.0.4"]
    assert shown["10.0.0.1"][0] == "16"


def test_a_silent_node_takes_nothing_from_what_the_others_have_in_common() -> None:
    lines = page([*HEALTHY[:3], doctor.silent_node(4)])
    assert any(line.startswith("equal on all nodes that answer: NPU 16") for line in lines)
    assert rows(lines)["10.0.0.4*"] == ["-"]


def test_a_fault_that_no_column_shows_marks_the_node() -> None:
    other = {"others": {"clusters": ["10.0.0.1:6379", "10.9.9.9:6379"]}}
    assert "10.0.0.2*" in rows(page([HEALTHY[0], doctor.a3_node(2, **other), *HEALTHY[2:]]))


def test_a_fault_of_all_nodes_marks_none_of_them() -> None:
    other = {"others": {"clusters": ["10.0.0.1:6379", "10.9.9.9:6379"]}}
    lines = page([doctor.a3_node(number, **other) for number in range(1, 5)])
    assert not any("*" in line for line in lines)


def test_what_is_said_once_of_all_nodes_marks_none_of_them() -> None:
    files = {"device_files": {"numbers": list(range(16)), "managers": {}, "unreadable": []}}
    nodes = [doctor.a3_node(number, **files) for number in range(1, 5)]
    findings = [finding_of(one.as_json()) for one in judge(nodes, Wish(npus_per_node=16, needs=("mindspeed",)))]
    assert [one.id for one in findings] == ["NR514"]
    lines: list[str] = []
    print_nodes(nodes, findings, Paper(lines.append, WIDTH, False, "→ "))
    assert not any("*" in line for line in lines)


def test_nodes_that_could_not_measure_are_named_unless_they_are_all(ray: FakeRay, tmp_path: Path) -> None:
    slow = [doctor.a3_node(number, npus="npu-smi did not answer within 7.5 s") for number in (2, 3)]
    result = examined(ray, tmp_path, [HEALTHY[0], *slow, HEALTHY[3]])
    (told,) = [line for line in result.out.splitlines() if line.startswith("not checked: npus: ")]
    assert told.endswith("(2 of 4 nodes: 10.0.0.2-3)")


def test_colour_is_for_the_marked_cell_alone() -> None:
    lines = page(ODD, coloured=True)
    assert "\x1b[31m1 Critical*\x1b[0m" in lines[3]
    assert [line for line in lines if ANSI.search(line)] == [lines[3]]
    plain = page(ODD)
    assert [ANSI.sub("", line) for line in lines] == plain


def test_what_all_have_in_common_marks_nobody() -> None:
    lines = page([doctor.a3_node(number, limits={"files": 1024}) for number in range(1, 5)])
    assert any("open files 1024*" in line for line in lines)
    assert not any("*" in line for line in lines if line.startswith("10."))


def test_hostile_values_cannot_break_the_page(lang: str) -> None:
    nasty = "a\nb\x1b[2J 'q\" ; $x \\ " + "界" * 60
    nodes = [*HEALTHY[:3], doctor.a3_node(4, versions={"verl": nasty}, interfaces={"interface": nasty, "mtu": {}})]
    lines = page(nodes)
    assert all("\n" not in line and "\x1b" not in line for line in lines)
    assert [line for line in lines if columns(line) > WIDTH] == []


def test_equal_findings_of_several_nodes_are_told_once() -> None:
    found = [finding_of({"id": "NR501", "node": doctor.ip(n), "value": "15", "limit": "16"}) for n in (1, 2, 3, 9)]
    found.append(finding_of({"id": "NR501", "node": doctor.ip(4), "value": "14", "limit": "16"}))
    together, alone = folded(found)
    assert together.place == Place(node="10.0.0.1-3, 10.0.0.9") and "10.0.0.1-3" in together.message()
    assert alone.place == Place(node="10.0.0.4")


@pytest.mark.parametrize(
    ("ips", "names"),
    [
        (["10.0.0.1"], "10.0.0.1"),
        (["10.0.0.254", "10.0.0.255", "10.0.1.0"], "10.0.0.254-255, 10.0.1.0"),
        (["10.0.0.1", "10.0.0.3"], "10.0.0.1, 10.0.0.3"),
        (["fe80::1", "fe80::2"], "fe80::1, fe80::2"),
        (["host a", "b;c"], "host a, b;c"),
    ],
)
def test_names_of_nodes(ips: list[str], names: str) -> None:
    assert node_names(ips) == names


def test_a_node_that_nobody_reaches_does_not_flood_the_page(ray: FakeRay, tmp_path: Path) -> None:
    cut = {"why": "timed out"}
    nodes = []
    for number in range(1, 21):
        reach = {doctor.ip(peer): cut if 7 in (peer, number) else {"rtt_ms": 0.2} for peer in range(1, 21)}
        nodes.append(doctor.a3_node(number, 20, peers={"reach": reach}))
    result = examined(ray, tmp_path, nodes)
    assert result.code == 3
    assert result.out.count(" NR523: ") == 3 and "… and 36 more; --json has all of them" in result.out


def test_two_hundred_broken_nodes_are_a_page_or_two(ray: FakeRay, tmp_path: Path, lang: str) -> None:
    """Each in its own way: values differ, and half of the pairs do not reach each other."""
    nodes = [doctor.broken_node(number, 200) for number in range(1, 201)]
    lines = examined(ray, tmp_path, nodes, "--lang", lang).out.splitlines()
    assert len(lines) < 120
    assert sum("NR536" in line for line in lines) == 1
    (reach,) = [line for line in lines if " NR523" in line]
    assert "10.0.0.1, 10.0.0.3, 10.0.0.5" in reach and re.search(r", \+76", reach)
    assert ("more of this kind" if lang == "en" else "条同类") in reach


def test_kinds_beyond_the_bound_are_counted(ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("submitter.cli.doctor.SHOWN_AT_ALL", 1)
    result = examined(ray, tmp_path, [doctor.broken_node(1, 2), doctor.a3_node(2, 2, npus="a", versions="b")])
    found = [line for line in result.out.splitlines() if re.search(r": (error|warning|hint) NR", line)]
    assert len(found) == 1 and " error " in found[0]
    assert result.out.count("not checked: ") == 1
    assert re.search(r"^… and \d+ more; --json has all of them$", result.out, re.MULTILINE)


def test_what_to_do_about_several_is_what_to_do_about_the_first() -> None:
    values = [{"value": kind, "limit": "A3", "values": {"chip": "x"}} for kind in ("A2", "_310P", "A5", "A2x")]
    found = [finding_of({"id": "NR509", "node": doctor.ip(n), **one}) for n, one in enumerate(values, 1)]
    (one,) = folded(found, 3)
    assert one.message() == f"{found[0].message()} (and 3 more of this kind)" and one.fix() == found[0].fix()
    assert len(folded(found, 4)) == len(folded(found)) == 4


@pytest.mark.parametrize(("more", "told"), [([], ""), ([doctor.silent_node(2)], ", 1 silent,")])
def test_one_node_is_no_plural(more: list[Node], told: str, ray: FakeRay, tmp_path: Path) -> None:
    out = examined(ray, tmp_path, [doctor.a3_node(1, 1), *more]).out
    assert f"\n1 node looked at{told} in " in out and "1 nodes" not in out and "1 of 1" not in out


def busy_node(number: int, of: int) -> Node:
    """All its devices are held through Ray by workers of another run."""
    devices = [doctor.device(n, hbm_used_mb=50_000) for n in range(16)]
    held = [
        {
            **{"card": n // 2, "chip": n % 2, "pid": 1000 * number + n, "name": "ray::WorkerDict", "memory_mb": 40_000},
            **{"command": "ray::WorkerDict", "owner": "bob", "own": False},
        }
        for n in range(16)
    ]
    return dataclasses.replace(doctor.a3_node(number, of, npus={"devices": devices, "processes": held}), busy=True)


def test_a_busy_cluster_is_one_page_and_nobody_is_told_to_kill(ray: FakeRay, tmp_path: Path) -> None:
    result = examined(ray, tmp_path, [busy_node(number, 64) for number in range(1, 65)])
    lines = result.out.splitlines()
    assert result.code == 0 and len(lines) <= 60 and "kill" not in result.out
    (held,) = [line for line in lines if "NR504" in line]
    assert "value 1000" not in held
    assert "1024 NPUs held by ray::WorkerDict (bob) on 10.0.0.1-64" in held and "Nothing to do" in held


def test_a_busy_node_is_no_reason_to_kill_in_json_either(ray: FakeRay, tmp_path: Path) -> None:
    found = examined(ray, tmp_path, [busy_node(1, 2), doctor.a3_node(2, 2)], "--json").document["findings"]
    held = [one for one in found if one["id"] == "NR504"]
    assert len(held) == 16 and not [one for one in held if "kill" in one["fix"]]


def test_hints_of_a_kind_are_told_once() -> None:
    hints = [
        finding_of({"id": "NR530", "node": doctor.ip(n), "severity": "hint", "value": f"10.1.0.{n}", "limit": "x"})
        for n in (1, 2, 3)
    ]
    (one,) = folded(hints)
    assert one.place == Place(node="10.0.0.1-3") and "2 more" in one.message() and one.fix("zh")


def test_where_all_is_equal_the_nodes_are_one_line(lang: str) -> None:
    nodes = [doctor.a3_node(number, memory={"available": 1850 * doctor.GIB}) for number in range(1, 5)]
    assert page(nodes)[0] == ("4 nodes: 10.0.0.1-4" if lang == "en" else "4 个节点：10.0.0.1-4")
    assert page(nodes[:1])[0] == ("node 10.0.0.1" if lang == "en" else "节点 10.0.0.1")


def test_components_have_the_names_of_the_table() -> None:
    values = {"value": "8.5.0", "limit": "9.0.0", "values": {"component": "cann"}}
    other = finding_of({"id": "NR512", "node": "10.0.0.1", **values})
    assert other.message().startswith("CANN on node") and ",cann=8.5.0" in other.fix()
    absent = finding_of({"id": "NR513", "node": "10.0.0.1", "value": "megatron_core"})
    assert absent.message().startswith("megatron-core is not installed")


def test_a_component_that_is_absent_marks_its_column_alone() -> None:
    nodes = [*HEALTHY[:3], doctor.a3_node(4, versions={"vllm": None})]
    lines: list[str] = []
    absent = finding_of({"id": "NR513", "node": "10.0.0.4", "value": "vllm"})
    print_nodes(nodes, [absent], Paper(lines.append, WIDTH, False, "→ "))
    assert "absent*" in rows(lines)["10.0.0.4"] and "".join(lines).count("*") == 1


def test_a_model_without_a_fingerprint_is_not_measured() -> None:
    nodes = []
    for number, fingerprint in enumerate(("abc", "abc", ""), start=1):
        model = {"missing": [], "bytes": 1, "fingerprint": fingerprint, "small": {}, "tokenizer": True}
        nodes.append(doctor.a3_node(number, model=model))
    shown = rows(page(nodes))
    assert "abc" in shown["10.0.0.1"] and "-" in shown["10.0.0.3"]


def test_a_silent_node_is_told_in_the_users_language() -> None:
    silent = finding_of({"id": "NR571", "node": "10.0.0.4", "value": "does not answer"})
    assert "does not answer" in silent.message() and not english(silent.message("zh"))


class TestUsage:
    def test_a_job_is_named_in_the_document(self, ray: FakeRay, tmp_path: Path) -> None:
        (tmp_path / "tiny.yaml").write_text(TINY)
        words = [str(tmp_path / "tiny.yaml"), "--set", "WHERE=there", "--stack", "cann-9.0.0", "--json"]
        found = examined(ray, tmp_path, HEALTHY, *words).document
        assert (found["job"], found["stack"]) == ("tiny", "cann-9.0.0")

    def test_an_empty_name_is_shown_as_one(self, ray: FakeRay, tmp_path: Path) -> None:
        result = npurun("doctor", "", "--address", ray.address, home=tmp_path)
        assert result.code == 2 and 'no file "";' in result.err

    @pytest.mark.parametrize("words", [["--set", "A=b"], ["--stack", "nosuch"], ["nosuch.yaml"], ["--zzz"]])
    def test_wrong_usage_posts_nothing(self, words: list[str], ray: FakeRay, tmp_path: Path) -> None:
        result = npurun("doctor", *words, "--address", ray.address, "--lang", "zh", home=tmp_path)
        assert (result.code, result.out) == (2, "") and not english(result.err) and ray.posts() == []

    def test_a_folder_that_cannot_travel_is_refused_as_check_does(self, ray: FakeRay, tmp_path: Path) -> None:
        (tmp_path / "tiny.yaml").write_text(f"{TINY}runtime_env: {{working_dir: {tmp_path / 'wd'}}}\n")
        checked = npurun("check", str(tmp_path / "tiny.yaml"), "--no-compose", "--json", home=tmp_path).document
        errors = [one["message"] for one in checked["findings"] if one["severity"] == "error"]
        result = npurun("doctor", str(tmp_path / "tiny.yaml"), "--address", ray.address, home=tmp_path)
        assert result.code == 2 and errors and errors[0] in result.err and ray.posts() == []

    def test_nobody_there(self, tmp_path: Path) -> None:
        result = npurun("doctor", "--address", "http://127.0.0.1:1", home=tmp_path)
        assert (result.code, result.out, result.err.count("\n")) == (4, "", 1)

    def test_a_ray_that_refuses_the_job_is_one_line(
        self, ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ray.fail_next("POST", "/api/jobs/", says(500, "Traceback\nValueError: no agent on the head"))
        monkeypatch.setattr("submitter.supervise.doctor.DOUBT_S", 0.1)
        result = npurun("doctor", "--address", ray.address, "--json", home=tmp_path)
        assert result.code == 4 and "no agent on the head" in result.error["message"]

    def test_help_in_both_languages(self, tmp_path: Path) -> None:
        for words in (["doctor"], ["nodes"], ["nodes", "release"]):
            assert npurun(*words, "--help", home=tmp_path).code == 0
            assert not english(npurun(*words, "--help", "--lang", "zh", home=tmp_path).out)


def test_a_record_of_a_node_goes_back_and_forth() -> None:
    from submitter.cli.node_columns import node_of

    for node in (*ODD, doctor.silent_node(7)):
        again = node_of(json.loads(json.dumps(doctor.record(node))))
        assert dataclasses.asdict(again) == dataclasses.asdict(node)
