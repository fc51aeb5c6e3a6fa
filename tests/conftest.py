"""Fixtures that several rooms share, and how property tests run."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.support.cluster import cluster5
from tests.support.fake_ray import ray
from tests.support.importer_verify import box
from tests.support.supervisor import book, end_below, home
from tests.support.trees import trees

__all__ = ["book", "box", "cluster5", "home", "ray", "trees"]

# A shell starts background commands with these two ignored, and every process of a test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# Without hypothesis's own deadline of 0.2 s an example: a busy machine is no failure. Hangs are pytest-timeout's.
settings.register_profile("npurun", deadline=None)
settings.load_profile("npurun")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A property test that hangs ends the whole run, with the stacks of all threads.

    pytest-timeout's alarm raises inside the example. Hypothesis takes that for a failing example and shrinks it, where
    the next hang meets no alarm any more: the run would never end.
    """
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            named = item.get_closest_marker("timeout")
            bound_s = named.args[0] if named else float(item.config.getini("timeout"))
            item.add_marker(pytest.mark.timeout(bound_s, method="thread"), append=False)


@pytest.fixture(scope="session", autouse=True)
def _no_supervisor_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A command that submits starts a supervisor, which outlives it: that is its purpose."""
    yield
    end_below(tmp_path_factory.getbasetemp())
