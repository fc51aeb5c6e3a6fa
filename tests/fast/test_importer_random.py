"""Random scripts of the supported grammar: the import says what real bash does, here and in another environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st

from submitter.errors import UsageError
from tests.support.bash_scripts import Grammar, scripts
from tests.support.importer_reading import HOME, differences, held, scene

NAMES = ("IN1", "IN2", "IN3", "a", "b", "num")
TEXTS = (
    "", "x", "5", "a b", "*", "f*", "env", "~", "-3", "a:b c", "\\", "'q'", '"', "$a", "x=1", " lead", "08", "010",
    "-n", "1+1", "file 1", "[ab]c", "é", "a,b", "{x,y}", "#", "9999999999", "num", "l\nine", "tab\t", "${a}", "`a`",
)  # fmt: skip
BEYOND = {"importer.hangs_on_machine", "importer.unset_here", "importer.unsupported"}
"""Refused although bash starts the training: with its line, never something else."""

environments = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), max_size=4).map(
    lambda one: {**HOME, **one}
)
arguments = st.lists(st.sampled_from(TEXTS), max_size=2)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With file names for patterns to find."""
    folder = tmp_path_factory.mktemp("random")
    for name in ("file 1", "x", "fab", ".hidden"):
        (folder / "work").mkdir(exist_ok=True)
        (folder / "work" / name).touch()
    return folder


@settings(max_examples=150, derandomize=True)
@given(script=scripts(), here=environments, there=environments, words=arguments)
def test_as_bash(
    ground: Path, script: str, here: Mapping[str, str], there: Mapping[str, str], words: list[str]
) -> None:
    note(script)
    where = scene(script, ground, *words)
    bash = where.bash(here)
    try:
        text = where.imported(here).text
    except UsageError as error:
        event(f"refused: {error.text_id}")
        assert not bash or (error.text_id in BEYOND and error.place and error.place.line)
        return
    if not bash and _is_strict(script):
        return
    assert bash
    assert differences(bash[0], where.loaded(text, here), here) == []
    try:
        job = where.loaded(text, there)
    except UsageError as error:
        event(f"refused elsewhere: {error.text_id}")
        return
    event("runs elsewhere")
    meant = {**there, **held(text, there)}
    bash = where.bash(meant)
    if not bash and _is_strict(script):
        return
    assert bash
    assert differences(bash[0], job, meant, handed={*meant, *here}) == []


def _is_strict(script: str) -> bool:
    """Known limit: bash stops at a name in arithmetic that `set -u` does not let be unset, the import may go on."""
    return "set -u" in script or "set -euo" in script


def test_most_scripts_are_imported(ground: Path) -> None:
    """Else the comparison above would say little."""
    started = imported = 0
    for seed in range(40):
        where = scene(Grammar(Random(seed)).script(), ground)
        started += bool(where.bash(HOME))
        try:
            where.imported(HOME)
        except UsageError:
            continue
        imported += 1
    assert started > 20
    assert imported >= started * 0.95
