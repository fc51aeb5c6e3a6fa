"""Which nodes are chosen, and what is said of the others."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.nodes import holders, node_facts
from submitter.gang.placement import (
    ACCELERATOR_LABEL,
    TRAINER_CPUS,
    Need,
    NodeFacts,
    choose,
    could_fit,
    need_of,
    rows,
    summary,
)
from submitter.gang.plan import Plan

NEED = Need(nodes=2, npus=16, cpus=48)


def node(number: int, **changes: object) -> NodeFacts:
    facts = NodeFacts(
        node_id=f"id{number}", ip=f"10.0.0.{number}", npus=16, npus_free=16, cpus=64, cpus_free=64, labels={"pool": "a"}
    )
    return dataclasses.replace(facts, **changes)  # type: ignore[arg-type]


def chosen(nodes: list[NodeFacts], need: Need = NEED) -> list[str]:
    return [facts.ip for facts in choose(nodes, need).chosen]


def test_the_first_nodes_by_ip_as_numbers_whatever_their_order() -> None:
    nodes = [node(10), node(9), node(2), node(100)]
    random.Random(1).shuffle(nodes)
    assert chosen(nodes) == ["10.0.0.2", "10.0.0.9"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"npus_free": 15.0}, "15 of 16 NPU free, 16 wanted"),
        ({"npus": 8, "npus_free": 8}, "has only 8 NPU, 16 wanted"),
        ({"cpus_free": 47.5}, "47.5 of 64 CPU free, 48 wanted"),
        ({"cpus": 4, "cpus_free": 4}, "has only 4 CPU, 48 wanted"),
        ({"alive": False, "death": "missed too many\nheartbeats"}, "dead: missed too many\\nheartbeats"),
        ({"draining": True}, "is being drained"),
        ({"labels": {}}, "label pool is absent, 'a' wanted"),
        ({"labels": {"pool": "b'\n"}}, "label pool is \"b'\\n\", 'a' wanted"),
        ({"npus_free": 0, "cpus_free": 0}, "0 of 16 NPU free, 16 wanted; 0 of 64 CPU free, 48 wanted"),
    ],
)
def test_a_node_that_does_not_fit_is_not_taken_and_says_all_that_it_lacks(
    changes: dict[str, object], said: str
) -> None:
    need = dataclasses.replace(NEED, labels={"pool": "a"})
    choice = choose([node(1, **changes), node(2), node(3)], need)
    assert [facts.ip for facts in choice.chosen] == ["10.0.0.2", "10.0.0.3"]
    assert rows(choice, {}) == [f"10.0.0.1: {said}", "10.0.0.2: fits", "10.0.0.3: fits"]


def test_a_quarantined_ip_is_left_out() -> None:
    need = dataclasses.replace(NEED, quarantine=frozenset({"10.0.0.1"}))
    assert chosen([node(1), node(2), node(3)], need) == ["10.0.0.2", "10.0.0.3"]


def test_too_few_nodes_give_no_choice_and_a_count() -> None:
    choice = choose([node(1), node(2, npus_free=0)], dataclasses.replace(NEED, nodes=3))
    assert choice.chosen == ()
    assert summary(choice, dataclasses.replace(NEED, nodes=3)) == "1 fit, 3 wanted"
    assert could_fit([node(1), node(2, npus_free=0)], NEED) == 2


def test_nodes_of_two_accelerator_types_are_never_mixed() -> None:
    types = {1: "910B", 2: "910C", 3: "910B", 4: "910C", 5: "910C"}
    nodes = [node(number, labels={ACCELERATOR_LABEL: kind}) for number, kind in types.items()]
    assert chosen(nodes, dataclasses.replace(NEED, nodes=3)) == ["10.0.0.2", "10.0.0.4", "10.0.0.5"]
    choice = choose(nodes, dataclasses.replace(NEED, nodes=4))
    assert (choice.chosen, choice.fitting) == ((), 3)
    assert rows(choice, {})[0] == "10.0.0.1: fits, but only with nodes of its own accelerator type (910B)"


def test_room_for_the_trainers_own_actors_is_kept_and_its_lack_is_said() -> None:
    need = dataclasses.replace(NEED, spare_cpus=10)
    full = {"cpus": 48, "cpus_free": 48}
    assert chosen([node(1, **full), node(2, **full), node(3)], need) == ["10.0.0.1", "10.0.0.3"]
    choice = choose([node(1, **full), node(2, **full)], need)
    assert choice.chosen == ()
    assert summary(choice, need) == (
        "2 fit, 2 wanted; 0 CPU free beside the bundles, 10 wanted for the trainer's own actors"
    )


def test_a_dead_node_whose_ip_is_alive_again_is_not_told_and_two_dead_ones_once() -> None:
    dead = [node(1, node_id="old", alive=False), node(1), node(2, node_id="x", alive=False), node(2, alive=False)]
    assert rows(choose(dead, NEED), {}) == ["10.0.0.1: fits", "10.0.0.2: dead"]


def test_a_node_known_by_host_name_is_sorted_last() -> None:
    assert chosen([node(1, ip="npu-host"), node(3), node(2)]) == ["10.0.0.2", "10.0.0.3"]


def test_who_holds_the_npus_is_told_beside_what_is_missing() -> None:
    choice = choose([node(1, npus_free=0), node(2)], NEED)
    told = rows(choice, {"id1": ["npurun-other-a1-t1-n0"], "id2": ["nobody"]})
    assert told == [
        "10.0.0.1: 0 of 16 NPU free, 16 wanted (held by npurun-other-a1-t1-n0)",
        "10.0.0.2: fits",
    ]


def test_what_a_plan_needs_of_each_node() -> None:
    plan = Plan("ray", ("true",), 4, 16, {"pool": "a"}, {}, quarantine=("10.0.0.1",))
    need = need_of(plan)
    assert (need.nodes, need.npus, need.cpus, need.spare_cpus) == (4, 16, 48, TRAINER_CPUS)
    assert (need.labels, need.quarantine) == ({"pool": "a"}, {"10.0.0.1"})
    torchrun = need_of(dataclasses.replace(plan, launcher="torchrun"))
    assert (torchrun.cpus, torchrun.spare_cpus) == (16, 0)


FACTS = st.builds(
    node,
    st.integers(1, 250),
    npus_free=st.sampled_from([0, 8, 16]),
    cpus_free=st.sampled_from([0, 48, 64]),
    alive=st.booleans(),
    labels=st.sampled_from([{}, {ACCELERATOR_LABEL: "910B"}, {ACCELERATOR_LABEL: "910C"}]),
)


@given(
    nodes=st.lists(FACTS, max_size=8, unique_by=lambda facts: facts.ip),
    wanted=st.integers(1, 5),
    spare=st.sampled_from([0, 10, 40]),
    seed=st.integers(0, 9),
)
def test_a_choice_is_complete_fits_is_of_one_type_and_does_not_hang_on_the_order(
    nodes: list[NodeFacts], wanted: int, spare: int, seed: int
) -> None:
    need = Need(wanted, 16, 48, spare)
    shuffled = random.Random(seed).sample(nodes, len(nodes))
    choice = choose(nodes, need)
    assert choose(shuffled, need).chosen == choice.chosen
    assert len(choice.problems) == len(nodes)
    if not choice.chosen:
        assert choice.fitting < wanted or choice.lacking
        return
    assert len(choice.chosen) == wanted
    assert len({facts.labels.get(ACCELERATOR_LABEL) for facts in choice.chosen}) == 1
    assert all(facts.alive and facts.npus_free >= 16 and facts.cpus_free >= 48 for facts in choice.chosen)
    assert sum(facts.cpus_free - 48 for facts in choice.chosen) >= spare


def test_facts_of_a_node_as_ray_lists_it() -> None:
    listed = {
        "NodeID": "ab",
        "Alive": True,
        "NodeManagerAddress": "10.0.0.1",
        "NodeManagerHostname": "host",
        "Resources": {"NPU": 16.0, "CPU": 64.0, "node:10.0.0.1": 1.0},
        "Labels": {"pool": "a"},
        "DeathReasonMessage": None,
    }
    facts = node_facts(listed, {"CPU": 10.0})
    assert (facts.npus, facts.npus_free, facts.cpus_free) == (16, 0, 10)
    assert (facts.hostname, facts.death, facts.labels) == ("host", "", {"pool": "a"})
    old = {key: listed[key] for key in ("NodeID", "Alive", "NodeManagerAddress")}
    assert node_facts(old, {}).npus == 0


def test_holders_are_the_jobs_of_groups_and_of_actors_without_a_group() -> None:
    held, not_held = {"NPU": 1.0, "CPU": 3.0}, {"CPU": 1.0}
    groups = [
        {
            "creator_job_id": "01",
            "bundles": [{"node_id": "n1", "unit_resources": held}, {"node_id": "n2", "unit_resources": not_held}],
        },
        {"creator_job_id": "02", "bundles": [{"node_id": "n1", "unit_resources": held}] * 2},
        {"creator_job_id": "02", "bundles": None},
    ]
    actors = [
        {"job_id": "03", "node_id": "n2", "required_resources": held},
        {"job_id": "04", "node_id": "n2", "required_resources": held, "placement_group_id": "x"},
        {"job_id": "05", "node_id": "n2", "required_resources": not_held},
    ]
    assert holders(groups, actors, {"01": "grpo-x-a1"}) == {"n1": ["grpo-x-a1", "Ray job 02"], "n2": ["Ray job 03"]}


def test_many_holders_of_a_node_are_counted() -> None:
    actors = [{"job_id": f"{number}", "node_id": "n", "required_resources": {"NPU": 1.0}} for number in range(16)]
    assert holders([], actors, {})["n"][2:] == ["Ray job 2", "13 more"]
