"""What the rooms outside the cluster are tested with: a fake Ray, and a ledger of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.ledger import Ledger
from tests.support.fake_ray import FakeRay


@pytest.fixture
def ray() -> Iterator[FakeRay]:
    with FakeRay() as server:
        yield server


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()
