"""A supervisor that dies at a write to ledger or cluster: every fifth one here, each one in tests/proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.care_story import FULL, STOPPED, check, play

EVERY = 5


def test_the_story_without_a_death(tmp_path: Path) -> None:
    story = play(tmp_path / "home", at=None)
    check(story, FULL, "succeeded")
    assert story.bomb.calls > 50


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_death_loses_nothing_and_doubles_nothing(tmp_path: Path, after: bool) -> None:
    calls = play(tmp_path / "count", at=None).bomb.calls
    for at in range(1 + 2 * after, calls + 1, EVERY):
        story = play(tmp_path / str(at), at=at, after=after)
        assert story.deaths == 1, at
        check(story, FULL, "succeeded")


def test_a_death_while_its_user_wants_the_run_to_stop(tmp_path: Path) -> None:
    calls = play(tmp_path / "count", at=None, stop_at="run-a2").bomb.calls
    for at in range(1, calls + 1, EVERY):
        check(play(tmp_path / str(at), at=at, stop_at="run-a2"), STOPPED, "stopped")
