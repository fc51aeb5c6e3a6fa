"""The fake behaves as a real Ray does: the same checks, see tests/real/test_jobs_api.py."""

from collections.abc import Callable

import pytest

from submitter.cluster.client import RayClient
from tests.support.fake_ray import FakeRay
from tests.support.jobs_contract import CONTRACT


@pytest.mark.parametrize("check", CONTRACT)
def test_contract(check: Callable[[RayClient], None]) -> None:
    with FakeRay() as ray:
        check(RayClient(ray.address))
