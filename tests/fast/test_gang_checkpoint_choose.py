"""Which checkpoint is resumed: the newest that is complete for every node, and what is said of the newer ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.checkpoint.choose import MOST_TRIED, Choice, Look, candidates, choose, judge, ranks_of
from submitter.gang.checkpoint.seen import Listing, Problem, Seen
from submitter.gang.record import Resume, Skipped

WHOLE = Seen(data=True)
SHORT = Seen((Problem("incomplete", "actor/x"),), data=True)
A, B = "10.0.0.1", "10.0.0.2"


def chosen(found: Mapping[int, Sequence[Seen | None]], late: Callable[[], bool] = lambda: False) -> Choice:
    def look(step: int) -> list[Look]:
        return [Look(ip, one, "" if one else "does not answer") for ip, one in zip((A, B), found[step], strict=True)]

    return choose(sorted(found, reverse=True), look, lambda step: f"/c/global_step_{step}", late)


def test_the_newest_that_both_nodes_can_load() -> None:
    assert chosen({2: [WHOLE, WHOLE], 4: [WHOLE, WHOLE]}) == Choice(Resume(4, "/c/global_step_4", "newest"))


def test_a_half_written_one_is_left_out_with_its_node_and_file() -> None:
    found = chosen({2: [WHOLE, WHOLE], 4: [WHOLE, SHORT]})
    assert found == Choice(Resume(2, "/c/global_step_2", "older", (Skipped(4, "incomplete", B, "actor/x"),)))


def test_none_is_complete() -> None:
    resume = chosen({2: [WHOLE, Seen((Problem("no_folder", "/c"),))], 4: [SHORT, SHORT]}).resume
    assert (resume.step, resume.path, resume.why) == (None, None, "none")
    assert [(one.step, one.why, one.node) for one in resume.skipped] == [(4, "incomplete", A), (2, "incomplete", B)]
    assert chosen({}).resume == Resume(None, None, "none")


def test_data_state_has_to_be_on_one_node_at_least() -> None:
    without = Seen()
    assert chosen({2: [without, WHOLE]}).resume.step == 2
    assert chosen({2: [without, without]}).resume.skipped == (Skipped(2, "incomplete", None, "data.pt"),)


def test_what_every_node_opens_has_to_be_the_same_on_all() -> None:
    looks = [Look(A, Seen(same="9 files", data=True)), Look(B, Seen(same="3 files", data=True))]
    found = judge(4, looks)
    assert found is not None
    assert (found.why, found.node) == ("incomplete", B)


def test_a_silent_node_is_not_measured_and_not_taken_on_trust() -> None:
    found = chosen({4: [WHOLE, None]}).resume
    assert found == Resume(None, None, "none", (Skipped(4, "not_measured", B, "does not answer"),))


def test_names_without_headers_are_second_best() -> None:
    unread = Seen(unchecked=6, data=True)
    found = chosen({2: [unread, unread], 4: [unread, WHOLE], 6: [SHORT, WHOLE]})
    assert found.resume.step == 4
    assert found.unchecked == 6
    assert [one.step for one in found.resume.skipped] == [6]
    assert chosen({2: [WHOLE, WHOLE], 4: [unread, WHOLE]}).resume.step == 2


def test_older_ones_are_not_tried_for_ever() -> None:
    looks = 0

    def late() -> bool:
        nonlocal looks
        looks += 1
        return looks > 2

    found = chosen({step: [SHORT, SHORT] for step in range(10)}, late).resume
    assert [(one.step, one.why) for one in found.skipped] == [(9, "incomplete"), (8, "incomplete"), (7, "not_tried")]
    many = chosen({step: [SHORT, SHORT] for step in range(100)}).resume
    assert len(many.skipped) == MOST_TRIED


def test_steps_of_all_nodes_count() -> None:
    assert candidates({A: Listing(True, (4, 2)), B: Listing(True, (6,)), "c": None, "d": Listing(False)}) == [6, 4, 2]


def test_ranks_follow_the_order_of_the_nodes() -> None:
    assert ranks_of([A, B], 4, 2) == {A: range(2), B: range(2, 4)}
    assert ranks_of([A, B], 2, 2) == {A: range(2), B: range(2)}


seens = st.builds(
    Seen,
    st.lists(
        st.builds(
            Problem, st.sampled_from(["incomplete", "unreadable", "world_size", "layout", "no_folder"]), st.text()
        )
    ).map(tuple),
    st.integers(0, 1),
    st.sampled_from(["", "x"]),
    st.booleans(),
)


@given(st.dictionaries(st.integers(0, 30), st.tuples(st.none() | seens, st.none() | seens), max_size=12))
def test_what_is_chosen_has_no_problem_and_all_newer_ones_have_a_reason(
    found: dict[int, tuple[Seen | None, Seen | None]],
) -> None:
    resume = chosen(found).resume
    newer = [step for step in found if resume.step is None or step > resume.step]
    assert sorted(one.step for one in resume.skipped) == sorted(newer)
    if resume.step is not None:
        assert all(one is not None and not one.problems for one in found[resume.step])
        assert resume.path == f"/c/global_step_{resume.step}"
        assert resume.why == ("older" if newer else "newest")
