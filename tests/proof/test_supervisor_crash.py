"""A supervisor that dies at each write to ledger or cluster, before or after it took effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.care_story import FULL, STOPPED, check, play

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("stop_at", "reasons", "state"), [(None, FULL, "succeeded"), ("run-a2", STOPPED, "stopped")])
def test_a_death_anywhere_loses_nothing_and_doubles_nothing(
    tmp_path: Path, after: bool, stop_at: str | None, reasons: list[str], state: str
) -> None:
    calls = play(tmp_path / "count", at=None, stop_at=stop_at).bomb.calls
    for at in range(1, calls + 1):
        story = play(tmp_path / str(at), at=at, after=after, stop_at=stop_at)
        assert story.deaths == 1, at
        check(story, reasons, state)
