"""The decision after an attempt: what it must never do, whatever happens, and the way of each kind of reason."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.job.model import OnReason
from submitter.recovery.decide import (
    BACKOFF_S,
    CLUSTER_WAITS,
    ENDS,
    FIXED_FAMILIES,
    MAX_JITTER,
    MAX_NEVER_STARTED,
    Decision,
    Past,
    decide,
    resumed,
)
from submitter.recovery.policy import Policy
from submitter.recovery.reasons import FAMILIES, REASONS
from submitter.texts import LANGUAGES, text
from submitter.texts.decide import TEXTS

NODES = ("10.0.0.1", "10.0.0.2")


def past(reason: str, attempt: int = 1, **changes: Any) -> Past:
    known = REASONS[reason]
    began_s = 100.0 * attempt
    made = Past(attempt, reason, known.retry, known.family, started_s=began_s, ended_s=began_s + 50)
    return dataclasses.replace(made, **changes)


def history(*ends: tuple[str, int | None]) -> list[Past]:
    return [past(reason, number, last_step=step) for number, (reason, step) in enumerate(ends, 1)]


def decided(pasts: Sequence[Past], policy: Policy | None = None, **given: Any) -> Decision:
    return decide(pasts, policy or Policy(), **{"now_s": pasts[-1].ended_s, "jitter": 0.0, **given})


reasons = st.sampled_from(sorted(REASONS))
rules = st.builds(
    OnReason,
    st.sampled_from([None, "now", "backoff", "exclude_node", "after_change", "never"]),
    st.none() | st.integers(0, 3),
    st.lists(st.sampled_from(["a=1", "+b=2", "a=3"]), max_size=2).map(tuple),
)
policies = st.builds(
    Policy,
    max_attempts=st.integers(1, 12),
    max_hours=st.none() | st.floats(0.01, 5),
    resume=st.booleans(),
    from_start=st.booleans(),
    on_reason=st.dictionaries(st.sampled_from([*sorted(REASONS), *FAMILIES]), rules, max_size=5),
)
ends = st.lists(
    st.tuples(
        reasons,
        st.sampled_from([None, *NODES]),
        st.none() | st.integers(0, 30),
        st.booleans(),
        st.sampled_from(["itself", "supervisor", "user"]),
        st.floats(0, 5000),
    ),
    min_size=1,
    max_size=40,
)


def lived(said: list[tuple[Any, ...]], policy: Policy, jitter: float = 0.0) -> tuple[list[Past], list[Decision]]:
    """A run whose attempts end as `said`, as far as it is allowed to go."""
    pasts: list[Past] = []
    decisions: list[Decision] = []
    now_s = 1000.0
    changes: tuple[str, ...] = ()
    for number, (reason, node, step, began, by, seconds) in enumerate(said, 1):
        started_s = now_s if began else None
        now_s += seconds
        seen = {"node": node, "last_step": step, "ended_by": by, "changes": changes}
        pasts.append(past(reason, number, started_s=started_s, ended_s=now_s, **seen))
        decisions.append(decide(pasts, policy, now_s=now_s, jitter=jitter))
        if decisions[-1].action != "retry":
            break
        now_s, changes = now_s + decisions[-1].wait_s, decisions[-1].changes
    return pasts, decisions


def made_step(pasts: Sequence[Past], index: int) -> bool:
    return (pasts[index].last_step or 0) > max((one.last_step or 0 for one in pasts[:index]), default=0)


def without_wait(decision: Decision) -> Decision:
    return dataclasses.replace(decision, wait_s=0.0, values={**decision.values, "wait_s": 0})


@given(reasons, policies)
@settings(max_examples=50, deadline=None)
def test_it_ends_even_if_every_attempt_ends_for_the_same_reason_after_a_new_step(reason: str, policy: Policy) -> None:
    policy = dataclasses.replace(policy, max_hours=None)
    said = [(reason, NODES[0], step, True, "itself", 1.0) for step in range(1, 20)]
    assert lived(said, policy)[1][-1].action != "retry"


def test_it_ends_even_if_the_cluster_loses_every_attempt_before_it_begins() -> None:
    said = [("cluster_lost", None, None, False, "itself", 1.0)] * 1000
    decisions = lived(said, Policy())[1]
    assert len(decisions) == MAX_NEVER_STARTED
    assert decisions[-1].why == "never_started"


@given(ends, policies)
@settings(max_examples=100, deadline=None)
def test_attempts_are_bounded_in_number_and_in_time(said: list[tuple[Any, ...]], policy: Policy) -> None:
    pasts, decisions = lived(said, policy)
    began = [one for one in pasts if one.started_s is not None or one.reason not in ("cluster_lost", "gcs_lost")]
    assert len(began) <= policy.max_attempts
    if policy.max_hours is not None and len(decisions) > 1:
        first = pasts[0].started_s if pasts[0].started_s is not None else pasts[0].ended_s
        assert pasts[-2].ended_s - first < policy.max_hours * 3600


@given(ends, policies)
@settings(max_examples=100, deadline=None)
def test_what_cannot_succeed_is_never_tried_again(said: list[tuple[Any, ...]], policy: Policy) -> None:
    pasts, decisions = lived(said, policy)
    for one, decision in zip(pasts, decisions, strict=True):
        if decision.action != "retry":
            continue
        assert one.retry != "never" and one.ended_by != "user"
        if one.family in FIXED_FAMILIES:
            assert set(decision.changes) - set(one.changes)


@given(ends, policies)
@settings(max_examples=100, deadline=None)
def test_a_run_never_retries_twice_in_a_row_for_one_reason_without_a_new_step(
    said: list[tuple[Any, ...]], policy: Policy
) -> None:
    pasts, decisions = lived(said, policy)
    for index in range(1, len(pasts)):
        same = pasts[index].reason == pasts[index - 1].reason and pasts[index].reason not in CLUSTER_WAITS
        if same and not made_step(pasts, index) and not made_step(pasts, index - 1):
            assert decisions[index].action == "stop"


@given(ends, policies, st.floats(-3, 3, allow_nan=False))
@settings(max_examples=100, deadline=None)
def test_waits_keep_to_the_ladder_and_jitter_moves_nothing_else(
    said: list[tuple[Any, ...]], policy: Policy, jitter: float
) -> None:
    pasts, decisions = lived(said, policy)
    for count in range(1, len(pasts) + 1):
        plain = decisions[count - 1]
        moved = decide(pasts[:count], policy, now_s=pasts[count - 1].ended_s, jitter=jitter)
        assert plain.wait_s in (0.0, *BACKOFF_S)
        assert abs(moved.wait_s - plain.wait_s) <= MAX_JITTER * plain.wait_s + 1e-9
        assert without_wait(plain) == without_wait(moved)


@given(ends, policies)
@settings(max_examples=60, deadline=None)
def test_nodes_left_out_and_changes_are_kept_and_the_answer_is_a_function(
    said: list[tuple[Any, ...]], policy: Policy
) -> None:
    pasts, decisions = lived(said, policy)
    for before, after in pairwise(decisions):
        assert before.exclude == after.exclude[: len(before.exclude)]
        keys = [{change.partition("=")[0].lstrip("+") for change in one.changes} for one in (before, after)]
        assert keys[0] <= keys[1]
        assert len(keys[1]) == len(after.changes)
    assert lived(said, Policy.from_json(json.loads(json.dumps(policy.to_json())))) == (pasts, decisions)
    for decision in decisions:
        assert Decision.from_json(json.loads(json.dumps(decision.to_json()))) == decision


@given(ends, policies)
@settings(max_examples=60, deadline=None)
def test_each_answer_can_be_told_in_both_languages(said: list[tuple[Any, ...]], policy: Policy) -> None:
    for decision in lived(said, policy)[1]:
        for language in LANGUAGES:
            assert "None" not in text(decision.text_id, language, **decision.values)


@pytest.mark.parametrize(
    ("reason", "why", "wait_s"),
    [
        ("peer_lost", "now", 0.0),
        ("hung", "now", 0.0),
        ("download_failed", "backoff", 15.0),
        ("not_placed", "not_placed", 15.0),
        ("cluster_lost", "cluster_lost", 15.0),
        ("gcs_lost", "cluster_lost", 15.0),
        ("unknown", "unknown", 15.0),
        ("trainer_failed", "unknown", 15.0),
        ("node_lost", "node_unknown", 15.0),
    ],
)
def test_the_way_of_each_kind(reason: str, why: str, wait_s: float) -> None:
    decision = decided(history((reason, 3)))
    assert (decision.action, decision.why, decision.wait_s, decision.exclude) == ("retry", why, wait_s, ())


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("succeeded", "succeeded"),
        ("stopped", "user_stop"),
        ("config_unknown_key", "after_change"),
        ("batch_not_divisible", "after_change"),
        ("import_failed", "after_change"),
        ("reward_error", "after_change"),
        ("npu_out_of_memory", "after_change"),
        ("no_checkpoint", "no_checkpoint"),
    ],
)
def test_what_ends_a_run(reason: str, why: str) -> None:
    decision = decided(history((reason, 3)))
    assert decision.why == why
    assert decision.action == ("succeeded" if reason == "succeeded" else "stop")


def test_a_stop_by_a_person_counts_whatever_the_log_says() -> None:
    assert decided([past("peer_lost", ended_by="user")]).why == "user_stop"
    assert decided([past("succeeded", ended_by="user")]).action == "succeeded"


def test_the_node_at_fault_is_left_out_at_once_and_for_good() -> None:
    pasts = [past("node_lost", 1, node=NODES[0], last_step=3), past("peer_lost", 2, last_step=5)]
    first, second = decided(pasts[:1]), decided(pasts)
    assert (first.why, first.wait_s, first.exclude) == ("exclude_node", 0.0, (NODES[0],))
    assert (second.why, second.exclude) == ("now", (NODES[0],))


def test_waits_grow_with_every_attempt_without_a_new_step_and_begin_anew_after_one() -> None:
    said: list[tuple[str, int | None]] = [("not_placed", None)] * 7
    waits = [decided(history(*said[:count]), Policy(max_attempts=99)).wait_s for count in range(1, 8)]
    assert waits == [15, 30, 60, 120, 300, 600, 600]
    after = decided(history(*said, ("download_failed", 4)), Policy(max_attempts=99))
    assert after.wait_s == 15
    again = decided(history(*said, ("download_failed", 4), ("checkpoint_save_failed", 4)), Policy(max_attempts=99))
    assert again.wait_s == 30


def test_two_attempts_without_a_new_step_end_the_run_and_are_named() -> None:
    twice = decided(history(("peer_lost", 7), ("peer_lost", 7), ("peer_lost", 6)))
    assert (twice.action, twice.why) == ("stop", "same_reason")
    said = text(twice.text_id, **twice.values)
    assert "attempts 2 and 3" in said and "peer_lost" in said and "step 7" in said
    assert decided(history(("peer_lost", 7), ("peer_lost", 7))).action == "retry"  # the first one came to step 7
    assert decided(history(("peer_lost", None), ("peer_lost", None))).why == "same_reason"
    assert decided(history(("peer_lost", None), ("hung", None))).action == "retry"
    assert decided(history(("peer_lost", 7), ("peer_lost", 8), ("peer_lost", 9))).action == "retry"


def test_what_nobody_knows_is_tried_once_more() -> None:
    assert decided(history(("unknown", 7))).why == "unknown"
    assert decided(history(("unknown", 7), ("unknown", 7))).why == "same_reason"
    assert decided(history(("unknown", 7), ("unknown", 8))).action == "retry"


def test_that_the_cluster_is_away_again_proves_nothing() -> None:
    said: list[tuple[str, int | None]] = [("cluster_lost", None)] * 4
    assert decided(history(*said)).action == "retry"
    assert decided(history(*said, ("cluster_lost", None))).why == "max_attempts"
    never_began = [dataclasses.replace(one, started_s=None) for one in history(*said, *said)]
    assert decided(never_began).action == "retry"


def test_an_allowed_change_is_made_once_and_kept() -> None:
    change = ("actor_rollout_ref.rollout.gpu_memory_utilization=0.6",)
    policy = Policy(on_reason={"npu_out_of_memory": OnReason(change=change)})
    oom = past("npu_out_of_memory", 1, last_step=2)
    first = decided([oom], policy)
    assert (first.action, first.why, first.changes) == ("retry", "with_change", change)
    lost = past("peer_lost", 2, last_step=4, changes=change)
    assert decided([oom, lost], policy).changes == change
    again = past("npu_out_of_memory", 3, last_step=6, changes=change)
    spent = decided([oom, lost, again], policy)
    assert (spent.action, spent.why, spent.changes) == ("stop", "change_spent", change)
    assert change[0] in text(spent.text_id, **spent.values)


def test_a_change_may_belong_to_a_family_and_a_later_value_replaces_an_earlier_one() -> None:
    policy = Policy(
        on_reason={
            "device_memory": OnReason(change=("+a=1", "b=1")),
            "kv_cache_too_small": OnReason(retry="after_change", change=("a=2",)),
        }
    )
    first = decided([past("npu_out_of_memory", 1, last_step=2)], policy)
    assert first.changes == ("+a=1", "b=1")
    second = [past("npu_out_of_memory", 1, last_step=2), past("kv_cache_too_small", 2, changes=first.changes)]
    assert decided(second, policy).changes == ("a=2", "b=1")


def test_the_policy_makes_no_retry_of_what_fails_again_but_of_anything_else() -> None:
    fixed = {name: OnReason("now") for name in ("config", "user_code", "batch_not_divisible", "succeeded")}
    for reason in ("config_value", "reward_error", "batch_not_divisible"):
        assert decided([past(reason)], Policy(on_reason=fixed)).action == "stop"
    assert decided([past("npu_out_of_memory")], Policy(on_reason={"device_memory": OnReason("backoff")})).wait_s == 15
    assert decided([past("peer_lost")], Policy(on_reason={"network": OnReason("never")})).why == "never"
    own = {"network": OnReason("never"), "peer_lost": OnReason("backoff")}
    assert decided([past("peer_lost")], Policy(on_reason=own)).why == "backoff"


def test_a_reason_may_have_a_limit_of_its_own_or_share_its_family_s() -> None:
    pasts = history(("peer_lost", 1), ("peer_lost", 2), ("hung", 3), ("peer_lost", 4))
    limited = Policy(on_reason={"peer_lost": OnReason(limit=2)})
    assert decided(pasts[:2], limited).action == "retry"
    assert decided(pasts, limited).why == "reason_limit"
    assert decided([past("peer_lost")], Policy(on_reason={"peer_lost": OnReason(limit=0)})).why == "reason_limit"
    family = Policy(on_reason={"network": OnReason(limit=1)})
    assert decided(history(("peer_lost", 1), ("hccl_timeout", 2)), family).why == "reason_limit"


def test_attempts_and_hours_are_what_the_policy_grants() -> None:
    pasts = history(("peer_lost", 1), ("peer_lost", 2), ("peer_lost", 3))
    assert decided(pasts, Policy(max_attempts=3)).why == "max_attempts"
    assert decided(pasts, Policy(max_attempts=4)).action == "retry"
    hour = Policy(max_hours=1.0)
    assert decided(pasts, hour, now_s=100 + 3599).action == "retry"
    late = decided(pasts, hour, now_s=100 + 3600)
    assert late.why == "max_hours" and "1.0 h" in text(late.text_id, **late.values)
    waits = history(("download_failed", 1))
    assert decided(waits, hour, now_s=100 + 3590).why == "max_hours"  # 15 s later it would be too late


def test_a_person_s_resume_grants_everything_anew_but_keeps_steps_and_changes() -> None:
    pasts = [past("node_lost", 1, node=NODES[0], last_step=9, changes=("a=1",)), *history(*[("peer_lost", 9)] * 5)[1:]]
    assert decided(pasts, Policy(max_attempts=3)).action == "stop"
    anew = decided(pasts, Policy(max_attempts=3, max_hours=0.1), counts_from=5)
    assert (anew.action, anew.exclude, anew.changes, anew.inputs["best_step"]) == ("retry", (), ("a=1",), 9)
    at_once = resumed(pasts)
    assert (at_once.action, at_once.wait_s, at_once.changes, at_once.why) == ("retry", 0.0, ("a=1",), "resumed")
    assert decided(pasts, Policy(max_attempts=1), counts_from=5).why == "max_attempts"


def test_training_again_from_step_0_needs_to_be_allowed() -> None:
    lost = history(("peer_lost", 5), ("no_checkpoint", None))
    assert decided(lost).why == "no_checkpoint"
    over = decided(lost, Policy(from_start=True))
    assert (over.action, over.why) == ("retry", "starts_over")
    assert decided(lost[:1], Policy(resume=False)).why == "from_start"
    assert decided(lost[:1], Policy(resume=False, from_start=True)).action == "retry"
    assert decided(history(("peer_lost", None)), Policy(resume=False)).action == "retry"  # nothing is lost


def test_the_inputs_say_what_it_rests_on() -> None:
    inputs = decided(history(("peer_lost", 7), ("download_failed", 6)), Policy(max_hours=2.0)).inputs
    assert inputs["reason"] == "download_failed" and inputs["best_step"] == 7 and inputs["new_step"] is False
    assert inputs["attempts_since_new_step"] == 2 and inputs["backoff_s"] == 30 and inputs["max_hours"] == 2.0


def test_there_is_a_text_for_each_end_and_each_way_and_no_other() -> None:
    ways = {"now", "backoff", "unknown", "exclude_node", "node_unknown", "with_change", "with_change_later"}
    ways |= {"starts_over", "cluster_lost", "not_placed"}
    told = {text_id.removeprefix("decide.") for text_id in TEXTS}
    assert told == ways | set(ENDS)


def test_a_policy_of_an_older_ledger_has_the_defaults() -> None:
    assert Policy.from_json({}) == Policy()
