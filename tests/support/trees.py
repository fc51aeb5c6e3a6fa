"""verl's config trees for tests: those of `make setup`, else fetched once into a folder of the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from submitter.arguments.fetch import fetch
from submitter.arguments.trees import DEFAULT_RELEASES, find_tree, trees_folder
from submitter.ledger import default_home

_CACHE = Path("~/.cache/npurun-tests/verl").expanduser()


@pytest.fixture(scope="session")
def trees() -> Path:
    """A folder with the tree of every default release; a test that needs it never passes without."""
    own = trees_folder(default_home(os.environ))
    folder = own if all(find_tree(own, release) for release in DEFAULT_RELEASES) else _CACHE
    fetch(DEFAULT_RELEASES, folder, lambda *_args, **_values: None)
    return folder
