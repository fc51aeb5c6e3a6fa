"""The working_dir: measured by Ray's own ignore rules before anything is packed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from submitter.checks import working_dir, working_dir_measure
from submitter.checks.finding import Finding
from submitter.checks.working_dir_measure import MIB, measure
from tests.support.builders import job
from tests.support.checks import findings_of


def sparse(path: Path, mib: float) -> None:
    """A file of that size that takes no room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(int(mib * MIB))


def found(folder: Path, *excludes: str) -> list[Finding]:
    return findings_of(job(working_dir=str(folder), excludes=excludes))


def test_a_small_folder_is_fine(tmp_path: Path) -> None:
    sparse(tmp_path / "train.py", 1)
    assert found(tmp_path) == []


def test_exactly_the_limit_is_fine_and_a_byte_more_is_not(tmp_path: Path) -> None:
    """F091: a folder that is too large is told before Ray refuses it."""
    sparse(tmp_path / "data", 100)
    assert found(tmp_path) == []
    (tmp_path / "more").write_bytes(b"x")
    (finding,) = found(tmp_path)
    assert (finding.id, finding.severity, finding.limit) == ("NR442", "error", "100.0 MiB")


@pytest.mark.parametrize("mib", [pytest.param(600, id="F091")])
def test_what_ray_itself_would_refuse_late_is_refused_with_its_reason(tmp_path: Path, mib: int) -> None:
    sparse(tmp_path / "checkpoint.pt", mib)
    (finding,) = found(tmp_path)
    assert (finding.id, finding.severity) == ("NR442", "error")
    assert "600.0 MiB" in finding.message() and "checkpoint.pt" in finding.message()


def test_the_ten_largest_are_named_with_their_sizes(tmp_path: Path) -> None:
    for size in range(1, 16):
        sparse(tmp_path / "data" / f"part {size}.bin", size)
    (finding,) = found(tmp_path)
    message = finding.message()
    assert finding.value == "120.0 MiB"
    assert [f"data/part {size}.bin ({size}.0 MiB)" in message for size in range(1, 16)] == [False] * 5 + [True] * 10
    assert message.index("part 15.bin") < message.index("part 6.bin")


def test_many_small_files_are_named_by_their_folder(tmp_path: Path) -> None:
    for number in range(300):
        sparse(tmp_path / "logs" / f"{number}.txt", 0.5)
    (finding,) = found(tmp_path)
    assert "logs/* (150.0 MiB)" in finding.message()


@pytest.mark.parametrize("ignored", [".gitignore", ".rayignore", "excludes", "sub/.gitignore"])
def test_what_ray_would_not_pack_is_not_counted(tmp_path: Path, ignored: str) -> None:
    sparse(tmp_path / "sub" / "big.bin", 200)
    sparse(tmp_path / "small.py", 1)
    if ignored == "excludes":
        assert found(tmp_path, "*.bin") == []
        return
    (tmp_path / ignored).write_text("*.bin\n")
    assert found(tmp_path) == []


@pytest.mark.parametrize("folder", [".git", ".venv", "venv", "__pycache__"])
def test_ray_s_default_excludes_are_not_counted(tmp_path: Path, folder: str) -> None:
    sparse(tmp_path / folder / "big", 200)
    assert found(tmp_path) == []


def test_gitignore_may_be_switched_off_as_in_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sparse(tmp_path / "big.bin", 200)
    (tmp_path / ".gitignore").write_text("*.bin\n")
    monkeypatch.setenv("RAY_RUNTIME_ENV_IGNORE_GITIGNORE", "1")
    assert [finding.id for finding in found(tmp_path)] == ["NR442"]


def test_the_measure_is_what_ray_packs(tmp_path: Path) -> None:
    from ray._private.runtime_env.packaging import create_package

    names = ["a.py", "sub/b.py", "sub/c.bin", "out/log", "deep/er/x.txt", "empty/.keep"]
    for name in names:
        sparse(tmp_path / "src" / name, 0.01)
    (tmp_path / "src" / "sub" / ".gitignore").write_text("*.bin\n")
    zipped = tmp_path / "p.zip"
    create_package(str(tmp_path / "src"), zipped, include_gitignore=True, excludes=["out"])
    import zipfile

    with zipfile.ZipFile(zipped) as archive:
        packed = [entry for entry in archive.infolist() if not entry.is_dir()]
    measured = measure(tmp_path / "src", ["out"])
    assert measured.files == len(packed)
    assert measured.total == sum(entry.file_size for entry in packed)


def test_a_hopeless_folder_is_not_walked_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_dir_measure, "FILES_MEASURED", 3)
    for number in range(9):
        sparse(tmp_path / f"{number}.bin", 60)
    measured = measure(tmp_path, [])
    assert (measured.files, measured.complete) == (3, False)
    (finding,) = found(tmp_path)
    assert finding.value == "> 180.0 MiB"


def test_nothing_is_read_before_the_refusal(tmp_path: Path) -> None:
    sparse(tmp_path / "big.bin", 200)
    (tmp_path / "big.bin").chmod(0)  # reading it would fail for anybody but root; its size is known all the same
    assert [finding.id for finding in found(tmp_path)] == ["NR442"]


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_only_a_folder_can_be_a_working_dir(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "it's $(x);\n here"
    if kind == "file":
        folder.write_text("")
    (finding,) = found(folder)
    assert (finding.id, finding.severity, finding.place.key) == ("NR441", "error", "runtime_env.working_dir")
    assert "\n" not in finding.message()


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/x/secret")

    monkeypatch.setattr(working_dir_measure, "measure", denied)
    (finding,) = found(tmp_path)
    assert finding.id == "NR443"
    assert "/x/secret: Permission denied" in finding.message()


def test_a_pipe_is_refused_before_anybody_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    os.mkfifo(tmp_path / "pipe")
    (finding,) = found(tmp_path)
    assert finding.id == "NR443" and str(tmp_path / "pipe") in finding.message()
    assert found(tmp_path, "pipe") == []


def test_a_device_is_refused_and_a_dangling_link_is_not(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    assert found(tmp_path) == []
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert [finding.id for finding in found(tmp_path)] == ["NR443"]


@pytest.mark.parametrize("ignored", [b"\xff*.bin\n", b"!\n"])
def test_an_ignore_file_that_ray_cannot_read_is_told(tmp_path: Path, ignored: bytes) -> None:
    (tmp_path / ".gitignore").write_bytes(ignored)
    (finding,) = found(tmp_path)
    assert (finding.id, finding.severity) == ("NR444", "error")
    assert ".gitignore" in finding.fix() and "\n" not in finding.message()


def test_excludes_that_ray_cannot_read_are_told(tmp_path: Path) -> None:
    assert [finding.id for finding in found(tmp_path, "!")] == ["NR444"]


def test_many_tiny_files_are_refused_before_all_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (working_dir, working_dir_measure):
        monkeypatch.setattr(module, "MAX_FILES", 3)
    for name in ("a/b/c", "a/d/e", "f/g/h"):
        sparse(tmp_path / name, 0)
    (finding,) = found(tmp_path)
    assert (finding.id, finding.value, finding.limit) == ("NR442", "> 3 files", "3 files")


@pytest.mark.parametrize("target", ["..", ".", "/", "../.."])
def test_a_link_to_a_folder_that_holds_it_is_refused_at_once(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "project"
    sparse(folder / "sub" / "train.py", 0)
    (folder / "sub" / "up").symlink_to(target)
    (finding,) = found(folder)
    assert finding.id == "NR443" and str(folder / "sub" / "up") in finding.message()
    assert found(folder, "up") == []


def test_a_link_to_another_folder_is_followed_as_ray_does(tmp_path: Path) -> None:
    sparse(tmp_path / "data" / "big", 200)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "data").symlink_to("../data")
    assert [finding.id for finding in found(tmp_path / "project")] == ["NR442"]


@pytest.mark.parametrize("name", ["json.py", "logging/__init__.py", "psutil.py", "yaml.py", "ray/__init__.py"])
def test_a_module_that_hides_one_that_ray_needs_is_named(tmp_path: Path, name: str) -> None:
    sparse(tmp_path / name, 0)
    (finding,) = found(tmp_path)
    assert (finding.id, finding.severity, finding.value) == ("NR445", "warning", name)
    assert name in finding.message() and name in finding.message("zh")
    assert found(tmp_path, f"/{name}") == []


@pytest.mark.parametrize(
    "name",
    ["train.py", "verl/__init__.py", "test.py", "sub/json.py", "code/run.py", "json.txt", "json", "sys.py", "utils.py"],
)
def test_a_module_that_hides_nothing_is_fine(tmp_path: Path, name: str) -> None:
    sparse(tmp_path / name, 0)
    assert found(tmp_path) == []
