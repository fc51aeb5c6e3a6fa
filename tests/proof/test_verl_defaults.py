"""runtime_env/verl/<release>.json is what verl's own tree of that release composes, config by config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime_env import verl_defaults
from submitter.arguments.trees import DEFAULT_RELEASES
from tests.make_verl_defaults import snapshot

pytestmark = pytest.mark.proof


@pytest.mark.timeout(180)
@pytest.mark.parametrize("release", DEFAULT_RELEASES)
def test_the_shipped_defaults_are_those_of_the_release(trees: Path, release: str) -> None:
    shipped = Path(verl_defaults.__file__).parent / "verl" / f"{release}.json"
    assert json.loads(shipped.read_text(encoding="utf-8")) == json.loads(json.dumps(snapshot(trees / release / "verl")))
