"""Values that are read without Hydra are read as Hydra reads them."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.checks import hydra_value
from submitter.checks.hydra_value import _hydra, read

PIECES = (
    "[",
    "]",
    ",",
    " ",
    '"',
    "'",
    "a",
    "console",
    "1",
    "1e-6",
    "true",
    "null",
    "a b",
    "/x/y.z",
    "-",
    "+",
    "_",
    ".",
    "5_0",
)


@pytest.mark.parametrize(
    "text",
    ['["console"]', "['model', 'optimizer']", "[model,extra]", "[1, 2.5, -3]", "[true, null, x]",
     "[ a , b ]", "['']", "[/data/a.parquet,/data/b.parquet]", '["1"]', "[inf]", '["a b", "[c]", "d,e"]'],
)  # fmt: skip
def test_flat_lists_need_no_hydra(text: str) -> None:
    with patch.object(hydra_value, "_hydra", side_effect=AssertionError):
        found = read(text)
    assert found == _hydra(text)
    assert [type(item) for item in found] == [type(item) for item in _hydra(text)]  # type: ignore[attr-defined]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_what_stands_in_brackets_is_what_hydra_reads(text: str) -> None:
    assert repr(read(f"[{text}]")) == repr(_hydra(f"[{text}]"))
