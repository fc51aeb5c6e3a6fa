"""verl's config trees: from an installed verl, from pip, from a carried folder; every failure is one line."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from submitter.arguments import fetch as room
from submitter.arguments.fetch import carry_from, fetch
from submitter.arguments.tree_sources import Config
from submitter.arguments.trees import FolderPackage, check_writable, find_tree, install, releases
from submitter.errors import NpurunError, UsageError
from tests.support.cli import npurun

MAIN = '@hydra.main(config_path="config", config_name="ppo_trainer", version_base=None)\ndef main(config): ...\n'
SOURCES = {
    "verl/trainer/main_ppo.py": MAIN,
    "verl/trainer/config/ppo_trainer.yaml": "trainer:\n  nnodes: 1\n",
    "verl/trainer/config/_generated_ppo_trainer.yaml": "trainer: {}\n",
    "verl/trainer/config/actor/actor.yaml": "n: 1\n",
    "verl/experimental/x/config/other.yaml": "n: 2\n",
    "verl/workers/config/actor.py": (
        "@dataclass\nclass Base(Unknown):\n    a: int = 1\n"
        "@dataclass\nclass Plain(collections.abc.Mapping):\n    a: int = 1\n    c: ClassVar[int] = 1\n"
        "@dataclass\nclass Actor(Plain):\n    b: Optional[str] = None\n    _mutable = {1}\n"
    ),
}
Said = list[tuple[str, dict[str, object]]]


def folder(tmp_path: Path, sources: dict[str, str] = SOURCES) -> FolderPackage:
    root = tmp_path / "package"
    for name, text in sources.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return FolderPackage(root)


def quiet(*_args: object, **_values: object) -> None:
    pass


def wheel(path: Path, sources: dict[str, str] = SOURCES) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in sources.items():
            archive.writestr(name, text)
    return path


def pip(monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[list[str]]:
    """pip, answered by `answer(destination)` -> (code, stderr); returns the commands."""
    commands: list[list[str]] = []

    def run(command: list[str], **settings: Any) -> subprocess.CompletedProcess[bytes]:
        assert settings["timeout"] > 0
        commands.append(command)
        code, words = answer(Path(command[command.index("--dest") + 1]))
        return subprocess.CompletedProcess(command, code, b"", words.encode())

    monkeypatch.setattr(room.subprocess, "run", run)
    return commands


def test_a_tree_holds_configs_modules_and_classes(tmp_path: Path) -> None:
    tree = install(folder(tmp_path), "1.2.3", "here", tmp_path / "trees")
    assert tree.modules == {"verl.trainer.main_ppo": Config("verl/trainer/config", "ppo_trainer")}
    assert tree.classes == {"Plain": {"a": "int"}, "Actor": {"a": "int", "b": "Optional[str]"}}
    names = {path.relative_to(tree.folder).as_posix() for path in tree.folder.rglob("*.yaml")}
    assert names == {name for name in SOURCES if name.endswith(".yaml") and "_generated_" not in name}
    assert find_tree(tmp_path / "trees", "1.2.3") == tree


def test_installing_again_replaces_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    trees = tmp_path / "trees"
    first = install(folder(tmp_path), "1.2.3", "here", trees)
    (first.folder / "verl/trainer/config/old.yaml").write_text("old")
    install(folder(tmp_path), "1.2.3", "here", trees)
    assert not (first.folder / "verl/trainer/config/old.yaml").exists()
    assert [path.name for path in trees.iterdir()] == ["1.2.3"]


def test_a_failed_write_leaves_the_tree_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = tmp_path / "trees"
    install(folder(tmp_path), "1.2.3", "here", trees)

    def full(*_args: object, **_settings: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageError, match="No space left on device"):
        install(folder(tmp_path), "1.2.3", "there", trees)
    tree = find_tree(trees, "1.2.3")
    assert tree is not None
    assert tree.origin == "here"
    assert [path.name for path in trees.iterdir()] == ["1.2.3"]


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"format": 99}', "\0", '{"format": 1, "release": "1.2.3"}'])
def test_a_damaged_tree_counts_as_none(tmp_path: Path, damage: str) -> None:
    tree = install(folder(tmp_path), "1.2.3", "here", tmp_path / "trees")
    (tree.folder / "tree.json").write_text(damage)
    assert find_tree(tmp_path / "trees", "1.2.3") is None
    assert releases(tmp_path / "trees") == []
    with pytest.raises(UsageError, match="incomplete"):
        carry_from(tmp_path / "trees", ["1.2.3"], tmp_path / "home", quiet)


def test_a_tree_whose_config_was_deleted_counts_as_none(tmp_path: Path) -> None:
    tree = install(folder(tmp_path), "1.2.3", "here", tmp_path / "trees")
    (tree.folder / "verl/trainer/config/ppo_trainer.yaml").unlink()
    assert find_tree(tmp_path / "trees", "1.2.3") is None


@pytest.mark.parametrize("release", ["..", "../x", "", "main", "0.9.1/..", "0.9.1 ", "-r", "1" * 9000, "verl"])
def test_what_is_no_version_touches_nothing(tmp_path: Path, release: str) -> None:
    with pytest.raises(UsageError):
        fetch([release], tmp_path / "trees", quiet)
    assert find_tree(tmp_path, release) is None
    assert not (tmp_path / "trees").exists()


def test_from_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = {**SOURCES, "../../evil.yaml": "x", "verl/trainer/config/../../../../evil.yaml": "x", "/evil.yaml": "x"}
    commands = pip(monkeypatch, lambda to: (0 if wheel(to / "verl-1.2.3-py3-none-any.whl", hostile) else 1, ""))
    trees = tmp_path / "a" / "trees"
    fetch(["1.2.3"], trees, quiet)
    fetch(["1.2.3"], trees, quiet)
    assert len(commands) == 1  # the second time it is there
    assert {"--no-deps", "verl==1.2.3"} < set(commands[0])
    assert list(tmp_path.rglob("evil*")) == []
    assert releases(trees) == ["1.2.3"]


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        ("ERROR: No matching version (from versions: 0.7.1, 0.8.0)", "it has 0.7.1, 0.8.0", 2),
        (
            "WARNING: Retrying, broken: https://me:secret@mirror/simple\nERROR: x (from versions: none)",
            "Retrying, broken: https://mirror/simple",
            1,
        ),
        ("/usr/bin/python: No module named pip", "No module named pip", 1),
        ("", "gives no answer", 1),
    ],
)
def test_what_pip_cannot_do_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str, code: int
) -> None:
    commands = pip(monkeypatch, lambda _to: (1, words))
    with pytest.raises(NpurunError) as failed:
        fetch(["1.2.3", "1.2.4"], tmp_path / "trees", quiet)
    assert said in str(failed.value)
    assert "secret" not in str(failed.value)
    assert failed.value.exit_code == code
    assert len(commands) == (2 if code == 2 else 1)  # an index that does not answer is not asked again


def test_an_index_that_is_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_to: Path) -> Any:
        raise subprocess.TimeoutExpired("pip", 1)

    pip(monkeypatch, slow)
    with pytest.raises(NpurunError, match="longer than"):
        fetch(["1.2.3"], tmp_path / "trees", quiet)


def test_a_wheel_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip(monkeypatch, lambda to: ((to / "verl-1.2.3.whl").write_text("no zip") and 0, ""))
    with pytest.raises(UsageError, match="cannot be read"):
        fetch(["1.2.3"], tmp_path / "trees", quiet)


def test_a_wheel_without_verl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip(monkeypatch, lambda to: (0 if wheel(to / "verl-1.2.3.whl", {"other/x.py": ""}) else 1, ""))
    with pytest.raises(UsageError, match="no verl"):
        fetch(["1.2.3"], tmp_path / "trees", quiet)
    assert releases(tmp_path / "trees") == []


def test_an_installed_verl_is_read_and_not_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from submitter.arguments.fetch import fetch; "
        f"fetch(['0.9.1'], Path({str(tmp_path / 'trees')!r}), lambda *a, **k: None); "
        "print([m for m in ('verl', 'torch', 'ray') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout.strip() == "[]"
    tree = find_tree(tmp_path / "trees", "0.9.1")
    assert tree is not None
    assert tree.origin == room.INSTALLED
    assert tree.modules["verl.experimental.fully_async_policy.fully_async_main"].name == "fully_async_ppo_trainer"
    assert "limit_images" in tree.classes["RolloutConfig"]


def test_carried_in_a_folder(tmp_path: Path) -> None:
    install(folder(tmp_path), "1.2.3", "here", tmp_path / "home" / "npurun" / "verl")
    carried = str(tmp_path / "carried")
    install(folder(tmp_path), "1.2.4", "here", tmp_path / "carried")
    result = npurun("stacks", "fetch", "--from", carried, "--json", home=tmp_path / "home")
    assert result.code == 0
    assert [one["version"] for one in result.document] == ["1.2.4"]
    assert releases(tmp_path / "home" / "npurun" / "verl") == ["1.2.3", "1.2.4"]


def carried(tmp_path: Path, *releases: str) -> Path:
    for release in releases:
        install(folder(tmp_path), release, "here", tmp_path / "usb")
    return tmp_path / "usb"


def test_every_damaged_tree_is_named_and_the_sound_ones_are_taken(tmp_path: Path) -> None:
    usb = carried(tmp_path, "1.2.3", "1.2.4", "1.2.5", "1.2.6", "1.2.7")
    (usb / "1.2.3" / "tree.json").write_text("")
    (usb / "1.2.4" / "verl/trainer/config/actor/actor.yaml").write_text("a: [")
    (usb / "1.2.5" / "verl/trainer/config/actor/actor.yaml").unlink()
    (usb / "1.2.6" / "verl/trainer/config/evil.yaml").symlink_to("/etc/hostname")
    result = npurun("stacks", "fetch", "--from", str(usb), "--json", home=tmp_path / "home")
    assert result.code == 2
    assert "1.2.3, 1.2.4, 1.2.5" in result.error["message"]
    assert "1.2.6 holds symbolic links" in result.error["message"]
    assert releases(tmp_path / "home" / "npurun" / "verl") == ["1.2.7"]


@pytest.mark.parametrize("linked", ["", "tree.json", "verl", "verl/trainer/config/actor"])
def test_a_link_in_a_carried_folder_is_not_followed(tmp_path: Path, linked: str) -> None:
    usb = carried(tmp_path, "1.2.3")
    path = usb / "1.2.3" / linked
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic links"):
        carry_from(usb, [], tmp_path / "home", quiet)
    assert not (tmp_path / "home").exists()


def test_a_folder_that_cannot_be_written_is_told_before_the_index_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = pip(monkeypatch, lambda _to: (1, "no network"))
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "file" / "usb", Path("/proc/usb")):
        result = npurun("stacks", "fetch", "1.2.3", "--to", str(target), home=tmp_path / "home")
        assert result.code == 2
        assert "cannot be written" in result.err
    assert commands == []


def test_asking_whether_a_folder_can_be_written_leaves_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_trees_at_hand_are_carried_without_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = pip(monkeypatch, lambda _to: (1, "no network"))
    install(folder(tmp_path), "1.2.3", "here", tmp_path / "home" / "npurun" / "verl")
    result = npurun("stacks", "fetch", "1.2.3", "--to", str(tmp_path / "usb"), home=tmp_path / "home")
    assert (result.code, commands) == (0, [])
    assert releases(tmp_path / "usb") == ["1.2.3"]


@pytest.mark.parametrize(
    "options", [["--from", "nowhere"], ["--from", "."], ["--to", "x", "--from", "y"], ["0.9"], ["main"]]
)
def test_wrong_usage_is_one_json_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    pip(monkeypatch, lambda _to: (1, "(from versions: 0.9.1)"))
    result = npurun("stacks", "fetch", *options, "--json", home=tmp_path / "home")
    assert result.code == 2
    assert result.error["message"]


def test_the_table_names_every_stack_and_the_tree_it_lacks(tmp_path: Path) -> None:
    install(folder(tmp_path), "0.8.0", "here", tmp_path / "npurun" / "verl")
    shown = npurun("stacks", home=tmp_path)
    assert shown.code == 0
    assert "0.7.1 missing" in shown.out
    assert "0.8.0 missing" not in shown.out
    by_name = {one["name"]: one for one in npurun("stacks", "--json", home=tmp_path).document}
    assert by_name["cann-9.0.0"]["tree"] == {"version": "0.8.0", "at_hand": True}
    assert by_name["cann-9.1.0"]["tree"] == {"version": "0.9.0", "at_hand": False}
    assert json.dumps(by_name)
