"""Exclusion within the attempt: who is left out, who takes the place, when it ends, and who is proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from submitter.gang import fit_gang as room
from submitter.gang.ended import Ended, Stop
from submitter.gang.fit_gang import Findings, fit_gang, look_around
from submitter.gang.fitness import Candidate, Fitness, judge
from submitter.gang.members import Gang, Member
from submitter.gang.node_worker import START
from submitter.gang.placement import NodeFacts, choose, need_of
from submitter.gang.plan import Plan
from submitter.gang.probes.verdict import Node, Verdict
from submitter.gang.probes.wish import Wish

NPUS, CPUS = 16, 64


def plan(nodes: int, **more: Any) -> Plan:
    return Plan("ray", ("true",), nodes, NPUS, {}, {}, **{"place_wait_s": 60, **more})


@dataclass
class Cluster:
    """Nodes by their last number; `ids` tells what is found on a node, each time that it is looked at."""

    count: int
    ids: Callable[[int], Sequence[str]] = lambda _: ()
    busy: set[int] = field(default_factory=set)
    """Held by another job: they could fit, but do not now."""
    waits: float = 0.0
    """How long a reservation takes."""
    now: float = 0.0
    waited: list[int] = field(default_factory=list)
    looked: list[list[int]] = field(default_factory=list)
    living: set[str] = field(default_factory=set)
    """Node workers and groups that have not been ended."""
    at_look: Callable[[], None] = lambda: None
    shared: set[int] = field(default_factory=set)
    """Others hold NPUs of it beside the gang."""
    busy_seen: list[str] = field(default_factory=list)
    """IPs that were looked at as busy."""

    def nodes(self) -> list[NodeFacts]:
        return [
            NodeFacts(
                f"id{n}", f"10.0.0.{n}", npus=NPUS, npus_free=0 if n in self.busy else NPUS, cpus=CPUS, cpus_free=CPUS
            )
            for n in range(1, self.count + 1)
        ]

    def reserve(self, plan: Plan, attempt: str, stop: Stop, trials: Iterator[int]) -> Gang:
        stop.check()
        self.waited.append(plan.place_wait_s)
        chosen = choose(self.nodes(), need_of(plan)).chosen
        if not chosen:
            self.now += plan.place_wait_s
            raise Ended("not_placed", evidence=("not enough",))
        self.now += self.waits
        trial = next(trials)
        groups = tuple(f"group t{trial} {node.ip}" for node in chosen)
        assert not self.living & set(groups)
        self.living |= set(groups)
        members = tuple(
            Member(
                node.node_id, node.ip, node.hostname, node.npus, node.cpus, shared=int(node.node_id[2:]) in self.shared
            )
            for node in chosen
        )
        return Gang(attempt, members, groups, NPUS, True)

    def start(self, member: Member, attempt: str) -> str:
        self.living.add(f"worker {member.ip}")
        return f"worker {member.ip}"

    def look(
        self, candidates: Sequence[Candidate], _nodes: object, wish: Wish, check: Callable[[], None], *_more: object
    ) -> Fitness:
        self.at_look()
        check()
        numbers = [int(one.ip.rpartition(".")[2]) for one in candidates]
        self.looked.append(numbers)
        self.busy_seen += [one.ip for one in candidates if one.busy]
        found = {f"10.0.0.{number}": self.ids(number) for number in numbers}
        return fitness(found)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def release(self, gang: Gang) -> None:
        self.living -= {*gang.workers, *gang.groups}


def fitness(found: Mapping[str, Sequence[str]]) -> Fitness:
    nodes = tuple(Node(ip, f"host-{ip}", NPUS, CPUS, {}) for ip in found)
    verdicts = tuple(
        Verdict(one, ip, "warning" if one.startswith("w") else "error", "bad\nvalue")
        for ip in found
        for one in found[ip]
    )
    return Fitness(nodes, verdicts, 0.1)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster(5)
    replaced: dict[str, Any] = {
        "read_nodes": made.nodes,
        "reserve": made.reserve,
        "start_node_worker": made.start,
        "start_bound": lambda: START,
        "look": made.look,
        "sleep": made.sleep,
        "_release": made.release,
        "RayNodes": lambda workers: workers,
    }
    for name, value in replaced.items():
        monkeypatch.setattr(room, name, value)
    return made


@dataclass
class Attempt:
    """As the driver holds it."""

    plan: Plan
    clock: Callable[[], float] = lambda: 0.0
    findings: Findings = field(default_factory=Findings)
    held: list[Gang | None] = field(default_factory=list)
    stop: Stop = field(default_factory=Stop)

    def run(self) -> list[str]:
        gang = fit_gang(self.plan, "run-a1", self.stop, self.held.append, self.findings, self.clock)
        assert gang is self.held[-1]
        return [member.ip for member in gang.members]

    def fails(self) -> Ended:
        with pytest.raises(Ended) as ended:
            self.run()
        return ended.value

    def proposed(self) -> list[tuple[str, str]]:
        return [(one.node, one.id) for one in self.findings.proposals()]


def ips(*numbers: int) -> list[str]:
    return [f"10.0.0.{number}" for number in numbers]


def on(where: Mapping[int, Sequence[str]]) -> Callable[[int], Sequence[str]]:
    return lambda number: where.get(number, ())


def test_fit_nodes_are_taken_at_once_whatever_is_odd_about_them(cluster: Cluster) -> None:
    cluster.ids = on({1: ["w1"], 2: ["w2"]})
    attempt = Attempt(plan(4))
    assert attempt.run() == ips(1, 2, 3, 4)
    assert (attempt.proposed(), len(attempt.held)) == ([], 1)


def test_a_spare_takes_the_place_of_an_unfit_node(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.ids = on({2: ["NR551", "NR503"]})
    attempt = Attempt(plan(4))
    assert attempt.run() == ips(1, 3, 4, 5)
    assert attempt.proposed() == [("10.0.0.2", "NR551"), ("10.0.0.2", "NR503")]
    assert cluster.looked == [[1, 2, 3, 4], [1, 3, 4, 5]]
    # What was released is told as given back before anything else is held, and nothing of it is left.
    assert [gang is None for gang in attempt.held] == [False, True, False]
    assert cluster.living == {
        *(f"worker {ip}" for ip in ips(1, 3, 4, 5)),
        *(f"group t2 {ip}" for ip in ips(1, 3, 4, 5)),
    }
    assert "left out as unfit: 10.0.0.2; the gang is reserved anew" in capsys.readouterr().out


def test_the_job_may_want_to_end_instead(cluster: Cluster) -> None:
    cluster.ids = on({2: ["NR551"]})
    attempt = Attempt(plan(4, on_unfit="fail"))
    ended = attempt.fails()
    assert (ended.reason, ended.node) == ("node_unfit", "10.0.0.2")
    assert ended.evidence == ("10.0.0.2: NR551 bad\\nvalue",)
    assert attempt.proposed() == [("10.0.0.2", "NR551")]
    assert attempt.held[-1] is not None  # the driver gives it back


def test_without_a_spare_it_ends_at_once(cluster: Cluster) -> None:
    cluster.ids = on({2: ["NR551"]})
    attempt = Attempt(plan(5))
    ended = attempt.fails()
    assert (ended.reason, ended.node, cluster.now) == ("node_unfit", "10.0.0.2", 0)
    assert ended.evidence[-1] == "without them 4 nodes could fit, 5 wanted"
    assert attempt.proposed() == [("10.0.0.2", "NR551")]


def test_a_spare_that_another_job_holds_is_waited_for_and_all_rounds_share_the_wait(cluster: Cluster) -> None:
    cluster.busy, cluster.waits = {5}, 20
    cluster.ids = on({2: ["NR551"]})
    attempt = Attempt(plan(4, place_wait_s=60), lambda: cluster.now)
    ended = attempt.fails()
    assert (ended.reason, ended.node) == ("node_unfit", "10.0.0.2")
    assert ended.evidence == ("10.0.0.2: NR551 bad\\nvalue", "not enough")
    assert cluster.waited == [60, 40]
    assert cluster.now == 60


def test_a_placement_that_never_was_stays_one(cluster: Cluster) -> None:
    cluster.busy = {1, 2}
    assert Attempt(plan(4)).fails().reason == "not_placed"


def test_what_all_nodes_have_is_no_nodes_fault(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.count = 20
    cluster.ids = lambda number: ["NR554", "NR503"] if number == 3 else ["NR554"]
    attempt = Attempt(plan(4))
    ended = attempt.fails()
    assert (ended.reason, ended.node) == ("node_unfit", "10.0.0.1")
    assert len(ended.evidence) == 5
    assert cluster.looked == [[1, 2, 3, 4]]
    assert attempt.proposed() == [("10.0.0.3", "NR503")]
    assert "every node that was looked at has NR554: no node is to blame" in capsys.readouterr().out


@pytest.mark.parametrize("one", ["NR503", "NR504", "NR531", "NR524", "NR571"])
def test_what_no_job_can_cause_is_each_nodes_own_and_spares_are_tried(cluster: Cluster, one: str) -> None:
    cluster.ids = on({1: [one], 2: [one]})
    attempt = Attempt(plan(2))
    assert attempt.run() == ips(3, 4)
    assert attempt.proposed() == [("10.0.0.1", one), ("10.0.0.2", one)]


@pytest.mark.parametrize("one", ["NR521", "NR551", "NR557"])
def test_what_the_job_names_ends_it_when_every_node_has_it(cluster: Cluster, one: str) -> None:
    cluster.ids = on({1: [one], 2: [one, "NR503"]})
    attempt = Attempt(plan(2))
    assert attempt.fails().reason == "node_unfit"
    assert (cluster.looked, attempt.proposed()) == ([[1, 2]], [("10.0.0.2", "NR503")])


def test_without_spares_faults_of_all_nodes_are_told_as_theirs(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.count = 2
    cluster.ids = lambda _: ["NR503"]
    ended = Attempt(plan(2)).fails()
    assert (ended.reason, ended.evidence[-1]) == ("node_unfit", "without them 0 nodes could fit, 2 wanted")
    assert "no node is to blame" not in capsys.readouterr().out


def test_memory_that_drains_is_waited_for(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.ids = lambda number: ["NR505"] if number == 2 and cluster.now < 5 else []
    attempt = Attempt(plan(4), lambda: cluster.now)
    assert attempt.run() == ips(1, 2, 3, 4)
    assert (cluster.now, len(cluster.looked), attempt.proposed()) == (6, 4, [])
    assert "waiting for device memory on 10.0.0.2" in capsys.readouterr().out


def test_memory_that_stays_makes_the_node_unfit_at_the_bound(cluster: Cluster) -> None:
    cluster.ids = on({2: ["NR505"]})
    attempt = Attempt(plan(4), lambda: cluster.now)
    assert attempt.run() == ips(1, 3, 4, 5)
    assert cluster.now == room.DRAIN_S
    assert attempt.proposed() == [("10.0.0.2", "NR505")]


def test_memory_is_not_waited_for_beside_another_fault(cluster: Cluster) -> None:
    cluster.ids = on({2: ["NR505"], 3: ["NR503"]})
    attempt = Attempt(plan(3), lambda: cluster.now)
    assert attempt.run() == ips(1, 4, 5)
    assert cluster.now == 0


def test_nodes_that_others_use_too_are_looked_at_as_busy(cluster: Cluster) -> None:
    cluster.shared = {2, 3}
    assert Attempt(plan(4)).run() == ips(1, 2, 3, 4)
    assert cluster.busy_seen == ips(2, 3)


def test_all_nodes_unfit_for_reasons_of_their_own_are_all_replaced(cluster: Cluster) -> None:
    cluster.ids = on({1: ["NR503"], 2: ["NR551"]})
    attempt = Attempt(plan(2))
    assert attempt.run() == ips(3, 4)
    assert attempt.proposed() == [("10.0.0.1", "NR503"), ("10.0.0.2", "NR551")]


def test_a_job_on_one_node_whose_fault_it_is_does_not_use_up_the_cluster(cluster: Cluster) -> None:
    cluster.ids = lambda _: ["NR551"]
    attempt = Attempt(plan(1))
    ended = attempt.fails()
    assert (ended.reason, ended.node) == ("node_unfit", "10.0.0.2")
    assert cluster.looked == [[1], [2]]
    assert attempt.proposed() == []


def test_one_node_alone_has_no_witness(cluster: Cluster) -> None:
    cluster.count = 1
    cluster.ids = lambda _: ["NR551"]
    attempt = Attempt(plan(1))
    assert attempt.fails().reason == "node_unfit"
    assert attempt.proposed() == []


def test_a_spare_one_that_is_fit_is_its_witness(cluster: Cluster) -> None:
    cluster.ids = on({1: ["NR551"]})
    attempt = Attempt(plan(1))
    assert attempt.run() == ips(2)
    assert attempt.proposed() == [("10.0.0.1", "NR551")]


def test_rounds_are_bounded(cluster: Cluster) -> None:
    cluster.count = 50
    cluster.ids = lambda number: [f"NR5{number}"] if number > 1 else []
    attempt = Attempt(plan(2))
    ended = attempt.fails()
    assert ended.reason == "node_unfit"
    assert len(cluster.looked) == room.ROUNDS
    assert [node for node, _ in attempt.proposed()] == ips(*range(2, 2 + room.ROUNDS))
    assert (attempt.held[-1], cluster.living) == (None, set())


def test_quarantined_nodes_are_never_looked_at(cluster: Cluster) -> None:
    cluster.ids = on({3: ["NR503"]})
    attempt = Attempt(plan(3, quarantine=("10.0.0.1",)))
    assert attempt.run() == ips(2, 4, 5)
    assert all(1 not in numbers for numbers in cluster.looked)


def test_a_stop_while_nodes_are_looked_at_leaves_the_gang_to_be_given_back(cluster: Cluster) -> None:
    attempt = Attempt(plan(4))
    cluster.at_look = lambda: setattr(attempt.stop, "requested", True)
    assert attempt.fails().reason == "stopped"
    assert attempt.held[-1] is not None
    assert attempt.held[-1].workers == [f"worker {ip}" for ip in ips(1, 2, 3, 4)]


def test_a_silent_node_is_unfit_and_the_others_are_not(cluster: Cluster) -> None:
    """Its worker could not start, say."""
    why = "Failed to set up runtime environment"
    nodes = [Node(ip, "h", NPUS, CPUS, {}, silent=why if ip == "10.0.0.2" else None) for ip in ips(1, 2, 3)]
    seen = Fitness(tuple(nodes), tuple(judge(nodes, Wish())), 0.1)
    assert {ip: [(one.id, one.value) for one in found] for ip, found in seen.unfit.items()} == {
        "10.0.0.2": [("NR571", why)]
    }


def test_the_doctor_looks_at_every_living_node_and_tells_what_is_to_be_ended(cluster: Cluster) -> None:
    cluster.busy = {2}
    cluster.ids = on({3: ["NR503"]})
    started: list[str] = []
    look_around(plan(4), "doctor-a1", Stop(), started.extend)
    assert cluster.looked == [[1, 2, 3, 4, 5]]
    assert started == [f"worker {ip}" for ip in ips(1, 2, 3, 4, 5)]
    assert cluster.waited == []
