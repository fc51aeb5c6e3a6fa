"""What the quick reading of an argument makes of it is what Hydra's parser makes of it, field by field."""

from __future__ import annotations

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.arguments.simple_override import simple_override

_PARSER = OverridesParser.create()
_VALUES = (
    "1 -1 +5 0 1_000 1e-6 .5 5. 1.5e3 True FALSE null Null a a-b a/b.c a+b inf nan -inf 007 1a _x -a +a a_ 1.2.3 b."
)


@pytest.mark.parametrize("value", _VALUES.split())
@pytest.mark.parametrize("key", ["a", "+a.b_c", "++a.b.c2"])
def test_is_as_the_parser_reads_it(key: str, value: str) -> None:
    same(f"{key}={value}")


@settings(max_examples=150, deadline=None)
@given(st.text("abN.1_+-/eE0=lufnit", min_size=1, max_size=8))
def test_is_as_the_parser_reads_any_value(value: str) -> None:
    same(f"x.y={value}")


@pytest.mark.parametrize(
    "word", ["a=[1]", "a='b'", "a=${b}", "~a", "~a=1", "a/b=c", "a@b=c", "a=1,2", "a=", "a", "a=b c"]
)
def test_leaves_the_rest_to_the_parser(word: str) -> None:
    assert simple_override(word) is None


def test_reads_what_jobs_hold_most() -> None:
    assert all(
        simple_override(word) for word in ("trainer.nnodes=4", "+a.b=True", "++x.y=1e-6", "data.truncation=error")
    )


def same(word: str) -> None:
    quick = simple_override(word)
    if quick is None:
        return
    full = _PARSER.parse_override(word)
    assert repr(vars(quick)) == repr(vars(full))
    assert type(quick.value()) is type(full.value())
