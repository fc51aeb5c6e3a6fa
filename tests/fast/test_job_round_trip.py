"""A job file rewritten by `yaml.safe_dump(yaml.safe_load(…))` gives the same arguments and flags.

Where the text of an argument does change, its value does not: numbers that Python spells otherwise (`0.10` → `0.1`,
`1_000` → `1000`, `1.` → `1.0`).
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.arguments.assemble import arguments, flags
from submitter.errors import Place
from submitter.job.document import plain_kind
from submitter.job.model import Argument, Job
from tests.support.job_files import HEAD, load_text
from tests.support.values import HOSTILE, dict_keys

_SAFE = set(string.ascii_letters + string.digits + string.punctuation + " ") - set('"\\')


def quoted(text: str) -> str:
    """A YAML double-quoted scalar."""
    return '"' + "".join(char if char in _SAFE else f"\\U{ord(char):08x}" for char in text) + '"'


def written(value: Any) -> str:
    """`value` in flow style, as a person might write it: strings plain where that is possible."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        return value if value.isalnum() and value.isascii() and plain_kind(value) == "str" else quoted(value)
    if isinstance(value, float):
        return yaml.safe_dump(value).split("\n")[0]
    return (
        {None: "~", True: "yes", False: "False"}.get(value, str(value))
        if not isinstance(value, int)
        else (("yes" if value else "False") if isinstance(value, bool) else str(value))
    )


texts = st.one_of(
    st.sampled_from([text for text in HOSTILE if "${" not in text]),
    st.text("ab1e0.-+_ \t\n'\"\\={}[],:;#~!@%&*?|<>`é数", max_size=8),
    st.from_regex(r"\A[-+]?[0-9]{1,3}(\.[0-9]{1,3})?[eE][-+]?[0-9]{1,2}\Z"),
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    texts,
    texts.map(lambda text: {"$text": text}),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(dict_keys.filter(lambda key: "${" not in key and key != "$text"), inner, max_size=3),
    ),
    max_leaves=5,
)


@settings(max_examples=120)
@given(
    data=st.lists(values, max_size=4),
    env=st.lists(st.one_of(st.integers(), texts), max_size=2),
    variables=st.lists(leaves, min_size=1, max_size=2),
)
def test_any_job(
    tmp_path_factory: pytest.TempPathFactory, data: list[Any], env: list[Any], variables: list[Any]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    lines = [HEAD + "variables:"]
    lines += [f"  V{index}: {written(value)}" for index, value in enumerate(variables)]
    lines += ["env:", *(f"  F{index}: {written(value)}" for index, value in enumerate(env))]
    lines += ["arguments:", "  extra:"]
    lines += [f"    k{index}: {written(value)}" for index, value in enumerate(data)]
    lines += ["    whole: ${V0}", "    inside: a/${V0}/b", "    deep: ['${V0}', {x: '${V0}${V0}'}]"]
    by_hand = "\n".join(lines) + "\n"
    dumped = yaml.safe_dump(yaml.safe_load(by_hand), sort_keys=False)
    first, second = load_text(by_hand, folder), load_text(dumped, folder)
    assert arguments(first) == arguments(second)
    assert flags(first) == flags(second)


@pytest.mark.parametrize(
    ("by_hand", "before", "after"),
    [
        ("0.10", "0.10", "0.1"),
        ("1_000", "1_000", "1000"),
        ("1.", "1.", "1.0"),
        ("+5", "+5", "5"),
        ("1.0e-6", "1.0e-6", "1.0e-06"),
    ],
)
def test_a_number_that_python_spells_otherwise(tmp_path: Path, by_hand: str, before: str, after: str) -> None:
    text = f"{HEAD}arguments: {{data: {{a: {by_hand}}}}}\n"
    assert arguments(load_text(text, tmp_path)) == [f"a={before}"]
    assert arguments(load_text(yaml.safe_dump(yaml.safe_load(text)), tmp_path)) == [f"a={after}"]
    assert float(before) == float(after)


def test_aliases_that_safe_dump_writes(tmp_path: Path) -> None:
    shared = [1, 2]
    data = yaml.safe_load(HEAD) | {"arguments": {"data": {"a": shared, "b": shared}}}
    text = yaml.safe_dump(data)
    assert "&id001" in text
    assert arguments(load_text(text, tmp_path)) == ["a=[1,2]", "b=[1,2]"]


def test_places_are_lines_of_the_file(tmp_path: Path) -> None:
    job: Job = load_text(HEAD + "env:\n  A: 1\narguments:\n  data:\n    a: 1\n    b:\n      [1,\n       2]\n", tmp_path)
    file = f"{tmp_path}/job.yaml"
    (group,) = job.groups
    assert [argument.place for argument in group.arguments] == [Place(file, 8, "a"), Place(file, 9, "b")]
    assert isinstance(group.arguments[0], Argument)
    assert job.flags[0].place == Place(file, 5, "env.A")
