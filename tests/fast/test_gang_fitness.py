"""All nodes at once, within a bound: who is silent is named, the others are judged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import pytest

from submitter.gang import fitness
from submitter.gang.ask import Bound, FailedError, LostError, ask_all, brief
from submitter.gang.fitness import Candidate, look
from submitter.gang.probes.measure import NotMeasuredError, Probe, as_json, from_json, measure_all
from submitter.gang.probes.verdict import Node
from submitter.gang.probes.wish import Wish
from tests.support import doctor


class FakeNodes:
    """Node workers of this process: each call takes `delay(index)` seconds; None: it never answers."""

    def __init__(self, count: int, delay: Callable[[int], float | None], skew: Callable[[int], float] = lambda _: 0.0):
        self._pool = ThreadPoolExecutor(2 * count + 1)
        self._delay, self._skew = delay, skew
        self.over = threading.Event()
        self.asked: list[tuple[int, str]] = []

    def ask(self, index: int, method: str, *arguments: Any) -> Any:
        return self._pool.submit(self._answer, index, method, *arguments)

    def ready(self, references: Sequence[Future[Any]], timeout_s: float) -> Sequence[Any]:
        return list(wait(references, timeout_s, FIRST_COMPLETED).done)

    def value(self, reference: Future[Any]) -> Any:
        if error := reference.exception():
            raise error if isinstance(error, FailedError) else LostError(str(error))
        return reference.result()

    def _answer(self, index: int, method: str, *arguments: Any) -> Any:
        delay = self._delay(index)
        self.over.wait(60 if delay is None else delay if method == "measure" else 0)
        self.asked.append((index, method))
        if method == "measure":
            return {"probes": {}, "ports": [1]}
        if method == "clock":
            return time.time() + self._skew(index)
        return {"reach": {}, "tokens": {}}


@pytest.fixture
def made() -> Any:
    nodes: list[FakeNodes] = []

    def make(*args: Any, **more: Any) -> FakeNodes:
        nodes.append(FakeNodes(*args, **more))
        return nodes[-1]

    yield make
    for one in nodes:
        one.over.set()
        one._pool.shutdown()


def candidates(count: int) -> list[Candidate]:
    return [Candidate(f"10.0.{n // 250}.{n % 250}", f"host{n}", 16, 64) for n in range(count)]


def test_two_hundred_nodes_take_as_long_as_the_slowest(made: Any) -> None:
    nodes = made(200, lambda index: 1.0 if index == 7 else 0.2)
    seen = look(candidates(200), nodes, Wish(), lambda: None)
    assert len(seen.nodes) == 200
    assert not [node for node in seen.nodes if node.silent]
    assert seen.took_s < 5  # the sum is 40 s; the fakes' own threads take most of what is above 1 s


@pytest.mark.parametrize("made_node", [doctor.a3_node, doctor.broken_node])
def test_two_hundred_nodes_are_judged_within_a_second(made_node: Callable[..., Node]) -> None:
    """CPU time, which other processes do not add to; with all that is measured on each, and all pairs of them."""
    nodes, wish = [made_node(number, 200) for number in range(1, 201)], Wish(npus_per_node=16)
    took = []
    for _ in range(3):
        began = time.process_time()
        fitness.judge(nodes, wish)
        took.append(time.process_time() - began)
    assert min(took) < JUDGED_S


JUDGED_S = 1.0


def test_a_silent_node_is_named_and_the_rest_judged(made: Any) -> None:
    nodes = made(4, lambda index: None if index == 2 else 0.0)
    seen = look(candidates(4), nodes, Wish(), lambda: None, Bound(total_s=30, grace_s=0.5))
    assert [node.ip for node in seen.nodes if node.silent] == ["10.0.0.2"]
    assert list(seen.unfit) == ["10.0.0.2"]
    assert seen.unfit["10.0.0.2"][0].id == "NR571"
    assert all(node.facts("clock") for node in seen.nodes if not node.silent)
    assert seen.took_s < 5


def test_a_clock_that_is_off_is_measured(made: Any) -> None:
    nodes = made(3, lambda _: 0.0, skew=lambda index: 30.0 if index == 1 else 0.0)
    seen = look(candidates(3), nodes, Wish(), lambda: None)
    offsets = [node.facts("clock")["offset_s"] for node in seen.nodes]
    assert [round(offset / 10) for offset in offsets] == [0, 3, 0]


def test_a_worker_that_dies_is_silent_with_its_reason() -> None:
    class Dying(FakeNodes):
        def _answer(self, index: int, method: str, *arguments: Any) -> Any:
            raise RuntimeError("the actor\ndied")

    seen = look(candidates(1), Dying(1, lambda _: 0.0), Wish(), lambda: None)
    assert seen.nodes[0].silent == "the actor\\ndied"


class Meeting(FakeNodes):
    """Index 1 does `odd` when it is asked for `method`, and nobody reaches it from `clock` on."""

    def __init__(self, count: int, method: str, odd: Callable[[FakeNodes], None]) -> None:
        super().__init__(count, lambda _: 0.0)
        self._method, self._odd = method, odd

    def _answer(self, index: int, method: str, *arguments: Any) -> Any:
        if index == 1 and method in self._method.split():
            self._odd(self)
        answer = super()._answer(index, method, *arguments)
        if method == "meet":
            refused, well = {"why": "Connection refused"}, {"rtt_ms": 0.1}
            return {"reach": {ip: refused if ip == "10.0.0.1" else well for ip in arguments[0]}, "tokens": {}}
        return answer


def dies(_: FakeNodes) -> None:
    raise RuntimeError("the actor died")


def freezes(nodes: FakeNodes) -> None:
    nodes.over.wait(60)


def fails(_: FakeNodes) -> None:
    raise FailedError("can't start new thread")


@pytest.mark.parametrize(
    ("method", "odd", "why"),
    [
        ("clock meet", dies, "the actor died"),
        ("meet", dies, "the actor died"),
        ("clock meet", freezes, "does not answer"),
    ],
)
@pytest.mark.parametrize("count", [2, 4])
def test_who_is_gone_after_measuring_is_silent_and_the_network_is_not_blamed(
    method: str, odd: Callable[[FakeNodes], None], why: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLOCK", "MEET"):
        monkeypatch.setattr(fitness, name, Bound(total_s=5, grace_s=0.3))
    nodes = Meeting(count, method, odd)
    seen = look(candidates(count), nodes, Wish(), lambda: None)
    nodes.over.set()
    assert [(one.id, one.node, one.value) for one in seen.verdicts] == [("NR571", "10.0.0.1", why)]
    assert "10.0.0.1" not in seen.nodes[0].facts("peers")["reach"]


def test_a_node_alone_that_dies_after_measuring_is_silent() -> None:
    class Dying(FakeNodes):
        def _answer(self, index: int, method: str, *arguments: Any) -> Any:
            return dies(self) if method == "clock" else super()._answer(index, method, *arguments)

    seen = look(candidates(1), Dying(1, lambda _: 0.0), Wish(), lambda: None)
    assert [one.id for one in seen.unfit["10.0.0.0"]] == ["NR571"]


def test_who_could_not_meet_and_lives_is_not_silent() -> None:
    seen = look(candidates(2), Meeting(2, "meet", fails), Wish(), lambda: None)
    assert [node.silent for node in seen.nodes] == [None, None]
    assert seen.nodes[1].measured["peers"].why == "can't start new thread"
    assert [one.id for one in seen.verdicts] == ["NR523"]  # it lives, and is not reached


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (
            "The actor died unexpectedly before finishing this task.\n\tclass_name: NodeWorker\n\tactor_id: 03\n"
            "The actor died because its node has died. Node Id: 9a\n\tthe actor's node was terminated",
            "The actor died unexpectedly before finishing this task. "
            "The actor died because its node has died. Node Id: 9a",
        ),
        ("ray::f() (pid=1)\n  File 'x', line 1\n    y()\nRuntimeError: no", "ray::f() (pid=1) RuntimeError: no"),
        ("\n\tnothing else", "\n\tnothing else"),
        ("", ""),
    ],
)
def test_rays_words_are_cut_to_what_they_say(said: str, wanted: str) -> None:
    assert brief(said) == wanted


def test_a_stop_ends_the_wait(made: Any) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask_all(made(2, lambda _: None), {0: ({}, "a"), 1: ({}, "b")}, "measure", Bound(60, 60), stop)


def test_a_stop_while_nodes_measure_lets_them_part(made: Any) -> None:
    """Tokens in shared folders would stay else: the workers are killed right after."""
    nodes = made(2, lambda _: 1.0)
    checks = iter(range(100))

    def stop() -> None:
        if (0, "ping") in nodes.asked and (1, "ping") in nodes.asked and next(checks) > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        look(candidates(2), nodes, Wish(), stop)
    assert {(0, "part"), (1, "part")} <= set(nodes.asked)


def test_probes_are_bounded_and_each_says_what_became_of_it() -> None:
    over = threading.Event()

    def hangs(_: Wish) -> dict[str, Any]:
        over.wait(60)
        return {}

    def absent(_: Wish) -> dict[str, Any]:
        raise NotMeasuredError("no npu-smi here")

    def breaks(_: Wish) -> dict[str, Any]:
        raise ValueError("odd host")

    probes = [
        Probe("good", lambda _: {"a": 1}),
        Probe("hangs", hangs, 0.2),
        Probe("absent", absent),
        Probe("breaks", breaks),
    ]
    measured = from_json(as_json(measure_all(probes, Wish())))
    over.set()
    assert measured["good"].facts == {"a": 1}
    assert {name: one.why for name, one in measured.items()} == {
        "good": None,
        "hangs": "no result within 0.2 s",
        "absent": "no npu-smi here",
        "breaks": "ValueError: odd host",
    }
