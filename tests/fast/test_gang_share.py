from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.share import GangActor, Group, NoRoomError, share

FOUR_NODES = [Group(f"10.0.0.{i}", 16) for i in range(1, 5)]


def actor(nodes: int, bundles: int) -> GangActor:
    ips = [f"10.0.0.{i}" for i in range(1, nodes + 1)]
    return GangActor({"nodes": [{"ip": ip, "node_id": ip} for ip in ips], "bundles_per_group": bundles})


@pytest.mark.parametrize("ranks", [1, 2, 16])
def test_one_several_or_all_bundles_per_node_start_at_the_first(ranks: int) -> None:
    assert share(FOUR_NODES, [ranks] * 4) == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_nodes_are_taken_as_verl_orders_ranks_by_ip_as_text() -> None:
    groups = [Group("10.0.0.9", 16), Group("10.0.0.10", 16)]
    assert share(groups, [16, 16]) == [(1, 0), (0, 0)]


def test_the_next_pool_gets_the_bundles_behind_the_first() -> None:
    gang = actor(2, 16)
    assert gang.take("trainer", [8, 8])["places"] == [(0, 0), (1, 0)]
    assert gang.take("reward", [8])["places"] == [(0, 8)]
    assert gang.take("teacher", [8])["places"] == [(1, 8)]
    assert gang.take("late", [1])["refused"] == "pool late wants [1], the gang holds 2 nodes x 16 with 0 free"


def test_a_pool_that_does_not_fit_is_refused_with_both_shapes_and_takes_nothing() -> None:
    gang = actor(4, 16)
    gang.take("trainer", [16, 16, 16, 8])
    answer = gang.take("reward_pool", [8, 8])
    assert answer["places"] == []
    assert answer["refused"] == (
        "pool reward_pool wants [8, 8], the gang holds 4 nodes x 16 with 8 free "
        "(10.0.0.1: 0, 10.0.0.2: 0, 10.0.0.3: 0, 10.0.0.4: 8)"
    )
    assert gang.take("smaller", [8]) == {"places": [(3, 8)], "refused": None}


def test_two_entries_of_a_pool_never_share_a_node() -> None:
    with pytest.raises(NoRoomError):
        share([Group("10.0.0.1", 16)], [8, 8])


def test_the_check_counts_all_pools_together_and_takes_nothing() -> None:
    gang = actor(2, 16)
    assert gang.refusal({"global_pool": [8, 8], "reward_pool": [8, 8]}) is None
    assert gang.refusal({"global_pool": [16, 16], "reward_pool": [8]}) == (
        "pool reward_pool wants [8], the gang holds 2 nodes x 16 with 0 free"
    )
    assert gang.take("global_pool", [16, 16])["refused"] is None


def test_the_actor_tells_the_facts_it_was_given() -> None:
    facts = {"nodes": [{"ip": "10.0.0.1", "node_id": "a"}], "bundles_per_group": 2, "groups": ["00"]}
    assert GangActor(facts).facts() == facts


groups_and_wants = st.tuples(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=5),
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
)


@given(groups_and_wants)
def test_a_share_is_distinct_and_free_and_refused_only_if_no_assignment_exists(
    case: tuple[list[tuple[int, int]], list[int]],
) -> None:
    groups = [Group(f"10.0.0.{i}", size, min(used, size)) for i, (size, used) in enumerate(case[0])]
    wanted = case[1]
    possible = any(
        all(groups[i].free >= want for i, want in zip(chosen, wanted, strict=True))
        for chosen in permutations(range(len(groups)), len(wanted))
    )
    try:
        places = share(groups, wanted)
    except NoRoomError:
        assert not possible
        return
    assert possible
    assert len({index for index, _ in places}) == len(wanted)
    for (index, first), want in zip(places, wanted, strict=True):
        assert groups[index].used == first
        assert first + want <= groups[index].bundles
