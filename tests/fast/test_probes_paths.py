"""Model, data, folders and modules as a node sees them: real files in temporary folders, and what is judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.probes import model_folder, paths
from submitter.gang.probes.verdict import Node, Verdict
from submitter.gang.probes.wish import Wish
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 4985000000\n"


def shard(tensor_bytes: int = 64, fill: bytes = b"x") -> bytes:
    header = json.dumps({"w": {"dtype": "U8", "shape": [tensor_bytes], "data_offsets": [0, tensor_bytes]}}).encode()
    return len(header).to_bytes(8, "little") + header + fill * tensor_bytes


def index(*names: str) -> str:
    return json.dumps({"metadata": {"total_size": 1}, "weight_map": {f"w{n}": name for n, name in enumerate(names)}})


def model(folder: Path, shards: Mapping[str, bytes] | None = None) -> Path:
    """A complete one of two shards."""
    names = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    for name, contents in (shards if shards is not None else {name: shard() for name in names}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(contents)
    (folder / "model.safetensors.index.json").write_text(index(*(shards if shards is not None else names)))
    return folder


def measured(folder: Path, **wish: Any) -> dict[str, Any]:
    return paths.model(Wish(model=str(folder), **wish))


def one(number: int, **facts: Any) -> Node:
    return node(f"10.0.0.{number}", measured=facts)


def found(nodes: list[Node], wish: Wish | None = None) -> list[Verdict]:
    return judged(paths.JUDGES, nodes, wish)


# Model


def test_a_complete_model(tmp_path: Path) -> None:
    facts = measured(model(tmp_path / "m"))
    assert (facts["missing"], facts["tokenizer"], facts["bytes"]) == ([], True, 2 * len(shard()))
    assert set(facts["small"]) == {"config.json", "tokenizer.json"}


FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


@pytest.mark.parametrize(
    ("name", "contents", "wanted"),
    [
        (SECOND, None, [SECOND]),
        (SECOND, b"", [f"{SECOND} (0 B)"]),
        (SECOND, POINTER.encode(), [f"{SECOND} (`git lfs pull`)"]),
        (SECOND, shard()[:-1], [f"{SECOND} ({len(shard()) - 1}/{len(shard())} B)"]),
        (SECOND, b"\xff" * 100, [f"{SECOND} (≠ safetensors)"]),
        ("config.json", None, ["config.json"]),
        ("config.json", b"", ["config.json"]),
        ("model.safetensors.index.json", b"{", ["model.safetensors.index.json (≠ JSON)"]),
        ("model.safetensors.index.json", b"[]", ["model.safetensors.index.json (≠ JSON)"]),
        ("model.safetensors.index.json", b'{"weight_map": {}}', ["*.safetensors"]),
    ],
)
def test_what_is_missing(tmp_path: Path, name: str, contents: bytes | None, wanted: list[str]) -> None:
    folder = model(tmp_path / "m")
    (folder / name).unlink()
    if contents is not None:
        (folder / name).write_bytes(contents)
    facts = measured(folder)
    assert facts["missing"] == wanted
    assert brief(found([one(1, model=facts)])) == [("NR551", "1", "error")]


def test_no_folder_at_all(tmp_path: Path) -> None:
    facts = measured(tmp_path / "none")
    assert facts["missing"] == [str(tmp_path / "none")]
    assert brief(found([one(1, model=facts)])) == [("NR551", "1", "error")]


def test_weights_from_elsewhere_are_not_looked_for(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", {})
    (folder / "model.safetensors.index.json").unlink()
    assert measured(folder)["missing"] == ["*.safetensors"]
    assert measured(folder, weights=False)["missing"] == []


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"model.safetensors": shard()}, []),
        ({"model.safetensors": shard(), "pytorch_model.bin.index.json": index("no.bin").encode()}, []),
        ({"pytorch_model.bin": b"x"}, []),
        ({"pytorch_model.bin.index.json": index("a.bin").encode()}, ["a.bin"]),
        ({"one.safetensors": shard(), "two.safetensors": shard()}, []),
        ({"consolidated.safetensors": shard()}, []),
        ({"weights.pt": b"x"}, ["*.safetensors"]),
    ],
)
def test_other_forms_of_weights(tmp_path: Path, files: Mapping[str, bytes], wanted: list[str]) -> None:
    (tmp_path / "config.json").write_text("{}")
    for name, contents in files.items():
        (tmp_path / name).write_bytes(contents)
    assert measured(tmp_path)["missing"] == wanted


def test_the_index_of_what_is_not_loaded_does_not_count(tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    (folder / "pytorch_model.bin.index.json").write_text(index("pytorch_model-00001-of-00002.bin"))
    assert measured(folder)["missing"] == []


def test_shards_in_a_folder_below(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", {"part/a.safetensors": shard(), "part/b.safetensors": shard()})
    assert measured(folder)["missing"] == []
    (folder / "part" / "b.safetensors").unlink()
    assert measured(folder)["missing"] == ["part/b.safetensors"]


def test_a_hubs_cache_of_links(tmp_path: Path) -> None:
    real = model(tmp_path / "blobs")
    snapshot = tmp_path / "models--org--name" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for file in real.iterdir():
        (snapshot / file.name).symlink_to(os.path.relpath(file, snapshot))
    assert measured(snapshot)["missing"] == []
    assert measured(snapshot)["fingerprint"] == measured(real)["fingerprint"]
    (real / SECOND).unlink()
    assert measured(snapshot)["missing"] == [SECOND]


@given(st.binary(max_size=300))
def test_any_shard_is_read_without_harm(tmp_path_factory: pytest.TempPathFactory, contents: bytes) -> None:
    file = tmp_path_factory.mktemp("any") / "a.safetensors"
    file.write_bytes(contents)
    model_folder._lacking(file, float("inf"))


@given(st.recursive(st.none() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_index_is_read_without_harm(tmp_path_factory: pytest.TempPathFactory, contents: Any) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "model.safetensors.index.json").write_text(json.dumps(contents))
    assert measured(folder)["missing"]


def three_models(tmp_path: Path) -> list[Path]:
    return [model(tmp_path / str(number)) for number in range(3)]


def test_equal_models_are_equal_whatever_lies_beside_them(tmp_path: Path) -> None:
    folders = three_models(tmp_path)
    (folders[1] / "README.md").write_text("other")
    (folders[1] / ".msc").write_bytes(os.urandom(20))
    (folders[2] / "pytorch_model.bin").write_bytes(b"not loaded")
    assert not found([one(n, model=measured(folder)) for n, folder in enumerate(folders)])


@pytest.mark.parametrize(
    ("name", "contents", "wanted"),
    [
        (SECOND, shard(fill=b"y"), [("NR552", "1", "error")]),
        (SECOND, shard(65), [("NR552", "1", "error")]),
        ("config.json", b'{"a": 1}', [("NR559", "1", "warning")]),
        ("chat_template.jinja", b"x", [("NR559", "1", "warning")]),
    ],
)
def test_one_node_with_another_model(
    tmp_path: Path, name: str, contents: bytes, wanted: list[tuple[str, str, str]]
) -> None:
    folders = three_models(tmp_path)
    (folders[1] / name).write_bytes(contents)
    assert brief(found([one(n, model=measured(folder)) for n, folder in enumerate(folders)])) == wanted


def test_of_two_models_neither_is_wrong(tmp_path: Path) -> None:
    folders = three_models(tmp_path)[:2]
    (folders[1] / SECOND).write_bytes(shard(65))
    found_ = found([one(n, model=measured(folder)) for n, folder in enumerate(folders)])
    assert brief(found_) == [("NR552", "0", "warning"), ("NR552", "1", "warning")]


def test_a_file_system_that_is_too_slow_to_tell_is_not_another_model(tmp_path: Path) -> None:
    folders = three_models(tmp_path)
    names = model_folder.weight_files(folders[0])
    assert model_folder.fingerprint(folders[0], names, limit_s=-1) == ""
    late = {**measured(folders[0]), "fingerprint": ""}
    assert not found([one(0, model=late), *(one(n, model=measured(folders[n])) for n in (1, 2))])


def test_an_incomplete_model_is_not_compared(tmp_path: Path) -> None:
    folders = three_models(tmp_path)
    (folders[1] / SECOND).unlink()
    assert brief(found([one(n, model=measured(folder)) for n, folder in enumerate(folders)])) == [
        ("NR551", "1", "error")
    ]


def test_no_tokenizer(tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    assert brief(found([one(1, model=measured(folder))])) == [("NR558", "1", "warning")]


# Data


def test_data_files(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table({"prompt": ["a"], "data_source": ["b"]})
    parquet.write_table(table, tmp_path / "good.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "good.parquet").read_bytes()[:-10])
    (tmp_path / "pointer.parquet").write_text(POINTER)
    (tmp_path / "rows.jsonl").write_text("{}\n")
    (tmp_path / "folder.parquet").mkdir()
    names = ("good.parquet", "cut.parquet", "pointer.parquet", "rows.jsonl", "folder.parquet", "none.parquet")
    wish = Wish(data_files=tuple(str(tmp_path / name) for name in names), columns=("prompt",))
    facts = paths.data(wish)
    by_name = {Path(name).name: fact for name, fact in facts["files"].items()}
    assert by_name["good.parquet"]["columns"] == ["prompt", "data_source"]
    assert by_name["rows.jsonl"]["why"] is None
    assert (by_name["pointer.parquet"]["why"], by_name["folder.parquet"]["why"], by_name["none.parquet"]["why"]) == (
        "probe.no_parquet",
        "probe.no_file",
        "probe.not_there",
    )
    assert by_name["cut.parquet"]["why"]
    assert len(found([one(1, data=facts)], wish)) == 4
    lacking = {verdict.values["why"] for verdict in found([one(1, data=facts)], Wish(columns=("images",)))}
    assert "probe.no_column" in lacking


# Folders


def test_folders_to_write_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    deep, blocked = str(tmp_path / "a" / "b"), str(tmp_path / "file" / "c")
    facts = paths.writable(Wish(write_dirs=(deep, blocked), log_dirs=("/proc/none",)))["folders"]
    assert facts[deep]["why"] is None and facts[deep]["free"] > 0
    assert "Not a directory" in facts[blocked]["why"]
    assert facts["/proc/none"]["why"]
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
    verdicts = found([one(1, writable={"folders": facts})], Wish(write_dirs=(deep, blocked), log_dirs=("/proc/none",)))
    assert brief(verdicts) == [("NR554", "1", "error"), ("NR554", "1", "warning")]


def tokens(seen: Mapping[int, list[int]]) -> list[Node]:
    return [
        one(number, peers={"reach": {}, "tokens": {"/ckpt": [f"10.0.0.{other}" for other in others]}})
        for number, others in seen.items()
    ]


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        ({1: [1, 2, 3], 2: [1, 2, 3], 3: [1, 2, 3]}, []),
        ({1: [1, 2], 2: [1, 2], 3: [3]}, [("NR555", "3", "error")]),
        ({1: [1], 2: [2], 3: [3]}, [("NR555", "1", "warning")]),
        ({1: [1], 2: [2]}, [("NR555", "1", "warning")]),
        ({1: [1, 2], 2: [1, 2], 3: [3, 4], 4: [3, 4]}, [("NR555", "1", "warning")]),
        ({1: [1, 2], 2: [1, 2], 3: []}, []),  # could not write: told by NR554
        ({1: [1]}, []),
    ],
)
def test_a_folder_that_should_be_one(seen: Mapping[int, list[int]], wanted: list[tuple[str, str, str]]) -> None:
    assert brief(found(tokens(seen))) == wanted


@pytest.mark.parametrize(
    ("free_gib", "ratio", "wanted"), [(99, 1.0, 1), (100, 1.0, 0), (699, 7.0, 1), (1, None, 0), (None, 7.0, 0)]
)
def test_space_for_two_checkpoints(free_gib: int | None, ratio: float | None, wanted: int) -> None:
    gib = 1024**3
    free = None if free_gib is None else free_gib * gib
    folders = {"/ckpt": {"free": free, "why": None}, "/logs": {"free": 1, "why": None}}
    facts = {"missing": [], "tokenizer": True, "bytes": 50 * gib, "fingerprint": "f", "small": {}}
    nodes = [one(n, model=facts, writable={"folders": folders}) for n in (1, 2)]
    wish = Wish(write_dirs=("/ckpt",), log_dirs=("/logs",), checkpoint_ratio=ratio)
    assert [verdict.id for verdict in found(nodes, wish)] == ["NR556"] * wanted


# Modules


def test_modules_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.py").write_text("import helper_beside\nprint('on import')\n")
    (tmp_path / "helper_beside.py").write_text("")
    (tmp_path / "bad.py").write_text("import no_such_package_here\n")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "odd name;$(x).py").write_text("")
    monkeypatch.chdir(tmp_path)  # Ray's workers stand in the working_dir
    names = ("good.py", "helper_beside", str(tmp_path / "bad.py"), "exits.py", "none.py", "odd name;$(x).py", "no.such")
    facts = paths.modules(Wish(modules=names))
    assert [name for name, why in facts["modules"].items() if why is None] == [
        "good.py",
        "helper_beside",
        "odd name;$(x).py",
    ]
    assert "no_such_package_here" in facts["modules"][str(tmp_path / "bad.py")]
    assert facts["modules"]["exits.py"] == "exit code 3"
    assert "none.py" in facts["modules"]["none.py"]
    assert facts["late"] == []
    verdicts = found([one(1, modules=facts)])
    assert brief(verdicts) == [("NR557", "1", "error")] * 4


def test_a_module_that_takes_too_long(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    assert paths._import_error(str(tmp_path / "slow.py"), 1.0) == paths.LATE
    facts = {"modules": {"slow.py": paths.LATE}, "late": ["slow.py"]}
    assert brief(found([one(1, modules=facts)])) == [("NR557", "1", "warning")]


def test_a_module_does_not_read_the_workers_input(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text("import sys\nassert sys.stdin.read() == ''\n")
    code = f"from submitter.gang.probes import paths; print(paths._import_error({str(tmp_path / 'asks.py')!r}, 5))"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asking:
        assert asking.stdout
        assert asking.stdout.readline() == b"None\n"  # while the worker's own input stays open


def test_nothing_is_asked_for_without_a_job() -> None:
    assert not [probe.name for probe in paths.PROBES if probe.asked(Wish())]
    assert [probe.name for probe in paths.PROBES if probe.asked(Wish(log_dirs=("/x",)))] == ["writable"]


def test_what_was_not_measured_is_no_verdict() -> None:
    blind = node(why=dict.fromkeys(("model", "data", "writable", "modules", "peers"), "no result within 10 s"))
    assert not found([blind, one(2)], Wish(model="/m", data_files=("/d",), checkpoint_ratio=7.0, columns=("prompt",)))
