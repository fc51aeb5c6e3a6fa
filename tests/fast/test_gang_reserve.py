"""Reserve all or none: the loop around Ray's placement groups, with Ray's answers made for the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from submitter.gang import reserve as room
from submitter.gang.ended import Ended, Stop
from submitter.gang.placement import NodeFacts
from submitter.gang.plan import Plan

PLAN = Plan("ray", ("true",), 2, 16, {}, {}, place_wait_s=60)


@dataclass
class Cluster:
    """`comes(trial)` says whether the groups of the n-th try are created; a pause moves the clock."""

    nodes: list[NodeFacts]
    comes: Callable[[int], bool] = lambda trial: True
    now: float = 0.0
    asked: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    after_ask: Callable[[], None] = lambda: None

    def group(self, node: NodeFacts, plan: Plan, name: str) -> str:
        self.asked.append(name)
        self.held.append(name)
        self.after_ask()
        return name

    def late(self, groups: list[str], stop: Stop) -> list[str]:
        stop.check()
        return [] if self.comes(len(self.asked) // len(groups)) else groups[1:]

    def give_back(self, groups: list[str]) -> None:
        for group in groups:
            self.held.remove(group)

    def pause(self, seconds: float, stop: Stop) -> None:
        assert room.RETRY_AFTER_S[0] <= seconds <= room.RETRY_AFTER_S[1]
        self.now += seconds
        stop.check()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    nodes = [
        NodeFacts(f"id{number}", f"10.0.0.{number}", npus=16, npus_free=16, cpus=64, cpus_free=64) for number in (1, 2)
    ]
    cluster = Cluster(nodes)
    waiting = room._Waiting
    replaced: dict[str, Any] = {
        "read_nodes": lambda: cluster.nodes,
        "read_holders": lambda: {"id1": ["npurun-other-a1-t1-n0"]},
        "supports_bundle_labels": lambda: True,
        "_group": cluster.group,
        "_late_ones": cluster.late,
        "give_back": cluster.give_back,
        "_pause": cluster.pause,
        "_Waiting": lambda bound, need: waiting(bound, need, clock=lambda: cluster.now),
    }
    for name, value in replaced.items():
        monkeypatch.setattr(room, name, value)
    return cluster


def test_the_gang_has_one_group_per_node_in_the_order_of_its_members(cluster: Cluster) -> None:
    gang = room.reserve(PLAN, "run-a1", Stop(), count(1))
    assert [member.ip for member in gang.members] == ["10.0.0.1", "10.0.0.2"]
    assert gang.groups == ("npurun-run-a1-t1-n0", "npurun-run-a1-t1-n1")
    assert (gang.bundles_per_group, gang.supports_label_selector) == (16, True)


def test_nodes_on_which_others_hold_npus_are_known_as_shared(cluster: Cluster) -> None:
    free = cluster.nodes[1]
    cluster.nodes = [NodeFacts("id1", "10.0.0.1", npus=32, npus_free=16, cpus=64, cpus_free=64), free]
    gang = room.reserve(PLAN, "run-a1", Stop(), count(1))
    assert [member.shared for member in gang.members] == [True, False]


def test_what_does_not_come_is_given_back_and_tried_again_under_new_names(cluster: Cluster) -> None:
    cluster.comes = lambda trial: trial == 3
    gang = room.reserve(PLAN, "run-a1", Stop(), count(1))
    assert gang.groups == ("npurun-run-a1-t3-n0", "npurun-run-a1-t3-n1")
    assert len(set(cluster.asked)) == 6
    assert cluster.held == list(gang.groups)


def test_the_wait_is_bounded_and_ends_with_the_table(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.nodes = [NodeFacts("id1", "10.0.0.1", npus=16, npus_free=0, cpus=64, cpus_free=64), cluster.nodes[1]]
    with pytest.raises(Ended) as ended:
        room.reserve(PLAN, "run-a1", Stop(), count(1))
    assert PLAN.place_wait_s <= cluster.now <= PLAN.place_wait_s + room.RETRY_AFTER_S[1]
    row = "10.0.0.1: 0 of 16 NPU free, 16 wanted (held by npurun-other-a1-t1-n0)"
    assert (ended.value.reason, ended.value.evidence) == ("not_placed", ("1 fit, 2 wanted", row, "10.0.0.2: fits"))
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if "cannot fit now: 1 fit, 2 wanted" in line]
    assert len(heads) == 5  # at once, three in between, at the bound
    assert heads[0].endswith("waited 0 s of 60 s")
    assert heads[-1].endswith("waited 60 s of 60 s")
    assert lines.count(f"[npurun]   {row}") == 5
    assert cluster.asked == cluster.held == []


def test_a_request_that_can_never_fit_says_so_at_once(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Ended):
        room.reserve(Plan("ray", ("true",), 3, 16, {}, {}, place_wait_s=1), "run-a1", Stop(), count(1))
    assert "2 fit, 3 wanted" in (first := capsys.readouterr().out.splitlines()[0])
    assert "even when free only 2 would fit" in first


def test_losing_against_another_submitter_for_the_whole_wait_is_not_placed(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.comes = lambda trial: False
    with pytest.raises(Ended, match="not_placed"):
        room.reserve(PLAN, "run-a1", Stop(), count(1))
    assert cluster.held == []
    assert "2 fit, 2 wanted; no reservation on 10.0.0.2 within 5 s" in capsys.readouterr().out


def test_a_stop_or_a_failure_in_the_middle_gives_everything_back(cluster: Cluster) -> None:
    stop = Stop()
    cluster.after_ask = lambda: setattr(stop, "requested", True)
    with pytest.raises(Ended, match="stopped"):
        room.reserve(PLAN, "run-a1", stop, count(1))
    assert cluster.held == []

    def fails() -> None:
        if len(cluster.asked) % 2 == 0:
            raise RuntimeError("the GCS has gone")

    cluster.after_ask = fails
    with pytest.raises(RuntimeError):
        room.reserve(PLAN, "run-a1", Stop(), count(1))
    assert cluster.held == [cluster.asked[-1]]  # the one that Ray refused


def test_bundles_have_the_launchers_shape() -> None:
    assert room.bundles(PLAN) == [{"NPU": 1, "CPU": 3}] * 16
    assert room.bundles(Plan("torchrun", ("-m", "x"), 2, 16, {}, {})) == [{"NPU": 16, "CPU": 16}]
