"""What a process that holds NPUs finds: stand-ins for torch and torch_npu (no device is at hand), and the judges."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from submitter.gang.ask import Bound
from submitter.gang.fitness import Candidate, look
from submitter.gang.probes import inside
from submitter.gang.probes.measure import NotMeasuredError
from submitter.gang.probes.verdict import Node
from submitter.gang.probes.wish import Wish
from submitter.supervise.node_findings import why_of
from submitter.texts import Phrase
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

TORCH = "class npu:\n    @staticmethod\n    def device_count(): return 16\n"
TORCH_NPU = "class npu:\n    @staticmethod\n    def get_soc_version(): return 250\nprint('noise on import')\n"
ACL = "def get_soc_name(): return 'Ascend910_9392'\n"
BUILT = "# Auto-generated file\n__device_type__ = 'A3'\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write modules that a new Python finds first."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name in (inside.VISIBLE_DEVICES, inside.NOSET):
        monkeypatch.delenv(name, raising=False)

    def write(**files: str) -> None:
        for name, contents in files.items():
            (tmp_path / f"{name}.py").write_text(contents)

    (tmp_path / "vllm_ascend").mkdir()
    (tmp_path / "vllm_ascend" / "__init__.py").write_text("raise ImportError('must not be imported')")
    (tmp_path / "vllm_ascend" / "_build_info.py").write_text(BUILT)
    write(torch=TORCH, torch_npu=TORCH_NPU, acl=ACL)
    return write


def test_a_host_in_order(installed: Any) -> None:
    assert inside.inside(20) == {
        "error": None,
        "count": 16,
        "soc": 250,
        "acl": "Ascend910_9392",
        "built_for": "A3",
        "visible": None,
        "noset": False,
    }


def test_what_does_not_load_is_told(installed: Any) -> None:
    installed(torch_npu="raise ImportError('libhccl.so: cannot open shared object file')", acl="raise ImportError('x')")
    facts = inside.inside(20)
    assert facts["error"] == "ImportError: libhccl.so: cannot open shared object file"
    assert (facts["count"], facts["acl"]) == (None, "ImportError: x")
    found = judged(inside.JUDGES, [node("10.0.0.1", measured={"inside": facts})], Wish(npus_per_node=16))
    assert brief(found) == [("NR507", "1", "error")]


def test_noise_in_any_encoding_does_not_hide_what_was_found(installed: Any) -> None:
    noise = "import os\nfor number in (1, 2): os.write(number, bytes([0xC4, 0xE3, 10]))\n"  # GBK
    installed(torch_npu=f"{noise}{TORCH_NPU}")
    assert inside.inside(20)["count"] == 16


def test_exit_handlers_that_hang_are_not_waited_for(installed: Any) -> None:
    installed(torch_npu=f"import atexit, time\natexit.register(time.sleep, 60)\n{TORCH_NPU}")
    began = time.monotonic()
    assert inside.inside(30)["count"] == 16
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("import time\ntime.sleep(60)\n", "signal 14 within 1 s"),
        ("import os\nos._exit(3)\n", "ended with 3"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "signal 11"),
        (
            "import signal, time\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(60)\n",
            "did not load within 1 s",
        ),
    ],
)
def test_a_sick_driver_is_not_measured(installed: Any, module: str, why: str) -> None:
    installed(torch_npu=module)
    with pytest.raises(NotMeasuredError, match=why):
        inside.inside(1)


def one(number: int, **changed: Any) -> Node:
    usual = {"error": None, "count": 16, "soc": 250, "acl": "Ascend910_9392", "built_for": "A3", "visible": None}
    usual |= {"noset": True, "given": ["0"]}
    return node(f"10.0.0.{number}", measured={"inside": {**usual, **changed}})


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({}, []),
        ({"count": 15}, [("NR508", "1", "error")]),
        ({"count": 1, "visible": "3"}, []),
        ({"count": 0, "visible": "3"}, [("NR508", "1", "error")]),
        ({"soc": 223}, [("NR509", "1", "error")]),
        ({"soc": 999}, []),
        ({"built_for": None}, []),
        ({"built_for": "NEW"}, []),
        ({"error": "ImportError: x", "count": None, "soc": None}, [("NR507", "1", "error")]),
    ],
)
def test_what_is_judged(changed: dict[str, Any], wanted: list[tuple[str, str, str]]) -> None:
    assert brief(judged(inside.JUDGES, [one(1, **changed)], Wish(npus_per_node=16, needs=("vllm_ascend",)))) == wanted


SECOND_HALF = "8,9,10,11,12,13,14,15"


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ({"visible": SECOND_HALF, "given": ["11"], "count": 8}, 8),
        ({"visible": "4,5,6,7,8,9,10,11", "given": ["4"], "count": 8}, 8),  # that one works, rank 4 does not
        ({"visible": "8", "given": ["8"], "count": 1}, 8),
        ({"visible": "0,1,2,3,4,5,6,7", "given": ["7"], "count": 8}, None),
        ({"visible": "11", "given": ["11"], "count": 1, "noset": False}, None),  # Ray keeps each to its own
        ({"visible": SECOND_HALF, "given": ["3"], "count": 8}, None),  # Ray's ids are not those
        ({"visible": SECOND_HALF, "given": SECOND_HALF.split(","), "count": 8}, None),  # torchrun: local ranks
        ({"visible": SECOND_HALF, "given": ["8"], "count": None, "error": "ImportError: x"}, None),
        ({"visible": None, "given": ["15"]}, None),
        ({"visible": "", "given": [], "count": 0}, None),
        ({"visible": "NoDevFiles", "given": [], "count": 0}, None),
    ],
)
def test_ids_that_ray_gives_beyond_what_torch_counts(changed: dict[str, Any], first: int | None) -> None:
    rule = [one for one in inside.JUDGES if one.id == "NR564"]
    found = judged(rule, [one(1, **changed)], Wish(npus_per_node=8, needs=("verl",)))
    assert [(verdict.severity, verdict.values["first"]) for verdict in found] == ([("error", first)] if first else [])
    assert not judged(rule, [one(1, **changed)], Wish(npus_per_node=8))


def test_another_kind_is_a_warning_where_nothing_refuses_it() -> None:
    nodes = [one(1), one(2, soc=223, acl="Ascend910B2", built_for="A2"), one(3)]
    (verdict,) = judged(inside.JUDGES, nodes, Wish(npus_per_node=16, needs=("vllm_ascend",)))
    assert (verdict.id, verdict.node, verdict.severity, verdict.value, verdict.limit) == (
        "NR509",
        "10.0.0.2",
        "warning",
        "A2",
        "A3",
    )
    assert brief(judged(inside.JUDGES, [one(1, soc=223)], Wish(npus_per_node=16))) == [("NR509", "1", "warning")]


def test_what_was_not_measured_is_no_verdict() -> None:
    blind = node(why={"inside": "torch_npu is not installed here"})
    assert not judged(inside.JUDGES, [blind, node("10.0.0.2")], Wish(npus_per_node=16, needs=("vllm_ascend",)))


class AtOnce:
    """Nodes that answer at once; `answers`: method -> index -> value."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.asked: list[tuple[str, int]] = []

    def ask(self, index: int, method: str, *_arguments: Any) -> Any:
        self.asked.append((method, index))
        return method, index

    def ready(self, references: Any, _timeout_s: float) -> Any:
        return list(references)

    def value(self, reference: tuple[str, int]) -> Any:
        method, index = reference
        return self._answers[method](index)


def test_only_nodes_that_have_torch_npu_are_asked() -> None:
    def measure(index: int) -> Any:
        facts = {"torch_npu": "2.9.0" if index else None}
        return {"probes": {"versions": {"facts": facts, "why": None, "took_s": 0.1}}, "ports": [1]}

    workers = AtOnce(ping=lambda _: None, measure=measure, clock=lambda _: 0.0, meet=lambda _: {}, part=lambda _: None)
    answers = [{"why": "unused"}, {"facts": {**one(1).facts("inside"), "count": 3}}, {"why": "did not load"}]
    holders = AtOnce(inside=lambda index: answers[index])
    candidates = [Candidate(f"10.0.0.{number}", "h", 16, 64) for number in range(3)]
    seen = look(candidates, workers, Wish(npus_per_node=16), lambda: None, Bound(5, 5), holders)
    assert holders.asked == [("inside", 1), ("inside", 2)]
    assert [one.measured["inside"].why for one in seen.nodes] == [
        "torch_npu is not installed here",
        None,
        "did not load",
    ]
    assert [verdict.id for verdict in seen.unfit["10.0.0.1"]] == ["NR508"]
    unheld = look(candidates, workers, Wish(), lambda: None, Bound(5, 5))
    first, second = (node.measured.get("inside") for node in unheld.nodes[:2])
    assert first is None and second is not None and isinstance(why_of(str(second.why)), Phrase)
