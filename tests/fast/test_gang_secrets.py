from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from submitter.gang import secrets

VALUE = "k3y with ' \" $HOME ; \\ inside"


def test_a_file_on_the_node_gives_its_text_without_the_last_line_break(tmp_path: Path) -> None:
    path = tmp_path / "a key; $x"
    path.write_text(VALUE + "\n")
    assert secrets.resolve({"WANDB_API_KEY": {"file": str(path)}}, {}) == {"WANDB_API_KEY": VALUE}


def test_a_variable_of_the_nodes_environment_gives_its_value() -> None:
    assert secrets.resolve({"HF_TOKEN": {"env": "NODE_TOKEN"}}, {"NODE_TOKEN": VALUE}) == {"HF_TOKEN": VALUE}


def test_a_key_file_behind_a_symbolic_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "data").write_text(VALUE)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert secrets.resolve({"A": {"file": str(tmp_path / "link")}}, {}) == {"A": VALUE}


def test_every_missing_reference_is_named_with_its_source_and_the_node(tmp_path: Path) -> None:
    references = {"A": {"file": str(tmp_path / "none")}, "B": {"env": "UNSET"}, "C": {"env": "SET"}}
    with pytest.raises(secrets.SecretMissingError) as caught:
        secrets.resolve(references, {"SET": VALUE})
    message = str(caught.value)
    assert f"A (file {tmp_path / 'none'}: does not exist)" in message
    assert "B (variable UNSET: is not set)" in message
    assert platform.node() in message
    assert "C (" not in message
    assert VALUE not in message


def _directory(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_text("\n"), "is empty"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "is not UTF-8 text"),
        (lambda path: path.write_bytes(b"a\0b"), "holds a NUL byte"),
        (lambda path: path.write_bytes(b"a" * (secrets.MAX_SECRET_BYTES + 1)), "at most 65536"),
        (_directory, "is not a regular file"),
        (_pipe, "is not a regular file"),
    ],
)
def test_a_file_that_cannot_be_a_key_is_missing_and_says_why(tmp_path: Path, make: object, why: str) -> None:
    path = tmp_path / "key"
    make(path)  # type: ignore[operator]
    (line,) = secrets.missing({"A": {"file": str(path)}}, {})
    assert line.startswith(f"A (file {path}: ")
    assert why in line


@pytest.mark.parametrize("reference", [{}, {"value": "x"}, {"file": "/a", "env": "B"}])
def test_a_reference_that_is_neither_file_nor_env_is_missing(reference: dict[str, str]) -> None:
    assert secrets.missing({"A": reference}, {"B": "x"}) == ["A (the reference has to be one of file or env)"]


def test_an_empty_variable_counts_as_missing() -> None:
    assert secrets.missing({"A": {"env": "B"}}, {"B": ""}) == ["A (variable B: is empty)"]
