"""The user's folder, packed and named as Ray itself does it."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.packages import working_dir_package
from submitter.errors import UsageError
from submitter.job.model import RuntimeEnvSpec


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "it's $(x); here"
    for name, text in {
        "train.py": "print(1)",
        "jobs/__init__.py": "",
        "submitter/__init__.py": "",
        "logs/x.log": "long",
        "cache/y.bin": "y",
        "secret.txt": "s",
        ".git/HEAD": "ref",
        ".gitignore": "cache/\n",
        ".rayignore": "secret.txt\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_no_working_dir_no_package() -> None:
    assert working_dir_package(RuntimeEnvSpec()) is None


def test_it_holds_what_ray_would_send(folder: Path) -> None:
    package = working_dir_package(RuntimeEnvSpec(str(folder), excludes=("logs",)))
    assert package is not None
    with zipfile.ZipFile(BytesIO(package.data)) as archive:
        held = {entry.filename for entry in archive.infolist() if not entry.is_dir()}
    assert held == {"train.py", "jobs/__init__.py", "submitter/__init__.py", ".gitignore", ".rayignore"}


def test_its_uri_is_the_one_that_ray_s_own_client_posts(folder: Path) -> None:
    from ray._private.runtime_env.working_dir import upload_working_dir_if_needed

    runtime_env: dict[str, Any] = {"working_dir": str(folder), "excludes": ["logs"]}
    upload_working_dir_if_needed(runtime_env, include_gitignore=True, upload_fn=lambda *_, **__: None)
    package = working_dir_package(RuntimeEnvSpec(str(folder), excludes=("logs",)))
    assert package is not None
    assert package.uri == runtime_env["working_dir"]


def test_its_name_follows_its_content(folder: Path) -> None:
    before = working_dir_package(RuntimeEnvSpec(str(folder)))
    assert before is not None
    again = working_dir_package(RuntimeEnvSpec(str(folder)))
    (folder / "train.py").write_text("print(2)")
    after = working_dir_package(RuntimeEnvSpec(str(folder)))
    assert again is not None and after is not None
    assert before.name == again.name != after.name


def test_a_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        working_dir_package(RuntimeEnvSpec(str(tmp_path / "gone")))
    assert "\n" not in str(refused.value)
