"""A short campaign of `make chaos`, always the same one."""

from __future__ import annotations

import pytest

from tests.chaos.campaign import run_campaign

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]

FAULTS, SEED = 3, 5


def test_a_campaign_loses_nothing_and_doubles_nothing() -> None:
    found = run_campaign(FAULTS, SEED)
    print("\n".join(found.lines()))
    assert found.faults == FAULTS
    assert not found.broken, found.lines()
