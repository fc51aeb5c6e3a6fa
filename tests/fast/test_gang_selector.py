"""Label selectors are read as Ray reads them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.selector import SELECTOR, example, matches

MEANT = (
    ("a3", "a3", True),
    ("a3", "a2", False),
    ("a3", None, False),
    ("!a3", "a2", True),
    ("!a3", "a3", False),
    ("!a3", None, True),
    ("in(a2,a3)", "a3", True),
    ("in(a2, a3)", "a3", True),
    ("in(a2,a3)", "a4", False),
    ("in(a2,a3)", None, False),
    ("!in(a2,a3)", "a3", False),
    ("!in(a2,a3)", "a4", True),
    ("!in(a2,a3)", None, True),
    ("in", "in", True),
)


@pytest.mark.parametrize(("selector", "label", "meant"), MEANT)
def test_which_nodes_are_meant(selector: str, label: str | None, meant: bool) -> None:
    assert matches(selector, label) is meant


@pytest.mark.parametrize("selector", sorted({selector for selector, _, _ in MEANT}))
def test_the_example_is_meant(selector: str) -> None:
    assert matches(selector, example(selector))


@given(st.text(alphabet="ab1!(), in._-'; $", max_size=12) | st.from_regex(SELECTOR, fullmatch=True))
def test_what_is_accepted_is_what_ray_accepts(selector: str) -> None:
    from ray._private.label_utils import validate_label_selector_value

    ours = re.fullmatch(SELECTOR, selector, re.ASCII) is not None
    if not selector or re.fullmatch(r"!?\(.*\)", selector):
        return  # Ray takes these two for valid; what they mean is not documented
    assert ours is (validate_label_selector_value(selector) is None)
