"""Records, what a command is, and how two launches differ: the pure parts of `npurun import --verify`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from submitter.importer.verify import (
    Difference,
    Recorded,
    Recording,
    compare,
    exported,
    launches,
    normalised,
    submitted,
)
from submitter.importer.verify.recording import parsed
from submitter.texts import text
from tests.support.importer_verify import Box

HOSTILE = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=20)
ARGUMENTS = st.lists(
    HOSTILE | st.binary(max_size=9).map(lambda data: os.fsdecode(data.replace(b"\0", b""))), max_size=9
)


@given(ARGUMENTS, st.dictionaries(HOSTILE.filter(lambda name: name and "=" not in name), HOSTILE, max_size=5))
@example(["\udcff"], {"BASH_FUNC_x%%": "() { :; }"})
def test_a_record_is_read_as_it_was_written(arguments: list[str], environ: dict[str, str]) -> None:
    words = ["/w", str(len(arguments)), "/.npurun/bin/python3", *arguments, *(f"{k}={v}" for k, v in environ.items())]
    found = parsed(b"".join(os.fsencode(word) + b"\0" for word in words))
    assert found is not None
    assert (found.argv, dict(found.environ), found.cwd) == (("python3", *map(_as_read, arguments)), environ, "/w")


def _as_read(argument: str) -> str:
    return os.fsdecode(os.fsencode(argument))


@given(
    st.binary(max_size=200) | st.lists(st.sampled_from([b"\0", b"1", b"-1", b"999999", b"a=b", b"\xff"])).map(b"".join)
)
def test_no_bytes_break_the_reading_of_records(data: bytes) -> None:
    found = parsed(data)
    assert found is None or found.argv


TORCH = "torchrun --nnodes 2 --nproc_per_node=8 --standalone"


@pytest.mark.parametrize(
    ("command", "runner", "target", "is_module"),
    [
        ("python3 -m verl.x a.b=1", "python3", "verl.x", True),
        ("python3 -u -X dev -m verl.x a.b=1", "python3 -u -X dev", "verl.x", True),
        ("/opt/bin/python3.11 -um verl.x a.b=1", "/opt/bin/python3.11", "verl.x", True),
        ("python x/y.py a.b=1", "python", "x/y.py", False),
        ("uv run --frozen --extra npu python -m verl.x a.b=1", "uv run --frozen --extra npu python", "verl.x", True),
        ("uv run train.py a.b=1", "uv run", "train.py", False),
        (f"{TORCH} -m verl.x a.b=1", TORCH, "verl.x", True),
        (f"{TORCH} --module --tee 3 verl.x a.b=1", f"{TORCH} --tee 3", "verl.x", True),
        (f"{TORCH} x.py a.b=1", TORCH, "x.py", False),
        (
            "python -m torch.distributed.run --nnodes=1 x.py a.b=1",
            "python -m torch.distributed.run --nnodes=1",
            "x.py",
            False,
        ),
        (
            "ray job submit --no-wait --address http://h --working-dir . -- python3 -m verl.x a.b=1",
            *("ray job submit --no-wait --address http://h --working-dir . -- python3", "verl.x", True),
        ),
        (
            "ray job submit -- env A=b.py python3 -m verl.x a.b=1",
            "ray job submit -- env A=b.py python3",
            "verl.x",
            True,
        ),
        ("nsys profile -o out.py.rep python3 -m verl.x a.b=1", "nsys profile -o out.py.rep python3", "verl.x", True),
        ("nohup env A=b torchrun x.py a.b=1", "nohup env A=b torchrun", "x.py", False),
    ],
)
def test_a_command_is_taken_apart(command: str, runner: str, target: str, is_module: bool) -> None:
    found = normalised(command.split())
    assert (" ".join(found.runner), found.target, found.is_module) == (runner, target, is_module)
    assert found.arguments == ("a.b=1",)


@pytest.mark.parametrize(
    "command", ["python3", "python3 -", "python3 -c x.py", "python3 -m", "ray start", "uv sync", "git x"]
)
def test_a_command_that_starts_nothing(command: str) -> None:
    assert normalised(command.split()).target is None
    assert normalised([]).target is None


def recording(*commands: str, handed: Mapping[str, str] | None = None) -> Recording:
    found = tuple(Recorded(tuple(command.split()), {}, "/") for command in commands)
    return Recording(found, 0, "exited", "", handed or {}, complete=True, left_out=0)


def test_launches_are_those_with_overrides() -> None:
    found = recording(
        "pip install x", "python3 prepare.py --x=1.5", "python3 -m a x.y=1", "torchrun b.py +c.d=2", "ray stop"
    )
    assert [one.argv[-1] for one in launches(found)] == ["x.y=1", "+c.d=2"]
    assert [one.argv[1] for one in launches(recording("ray stop", "python3 a.py --x", "python3 -c x"))] == ["a.py"]


def test_the_environment_of_a_submission_is_read_from_its_runtime_env() -> None:
    argv = ("ray", "job", "submit", '--runtime-env-json={"env_vars": {"A": "1", "B": 2}}', "--", "python3", "x.py")
    assert submitted(Recorded(argv, {}, "/")) == {"A": "1", "B": "2"}
    apart = (*argv[:3], "--runtime-env-json", '{"env_vars": {"A": "1"}}', *argv[4:])
    assert submitted(Recorded(apart, {}, "/")) == {"A": "1"}
    for broken in ("--runtime-env-json={", "--runtime-env-json=[]", "--runtime-env-json", "--x"):
        assert submitted(Recorded((*argv[:3], broken), {}, "/")) is None


def test_differences_are_told_item_by_item() -> None:
    found = compare(
        ["data.x=1", "a=b", "gone=1", "z=1"],
        ["data.x=2", "a=b", "z=1", "new=1"],
        {"A": "1", "B": "1", "SAME": "x"},
        {"A": "2", "C": "1", "SAME": "x"},
    )
    assert found == (
        Difference("data.x=1", "data.x=2", position=1),
        Difference("gone=1", None, position=3),
        Difference(None, "new=1", position=4),
        Difference("1", "2", name="A"),
        Difference("1", None, name="B"),
        Difference(None, "1", name="C"),
    )
    told = [
        text("importer.verify_argument", "en", **found[0].told().values),
        text(found[2].told().id, "zh", **found[2].told().values),
    ]
    assert told[0] == "argument 1: bash data.x=1, the import data.x=2"
    assert told[1] == "参数 4：导入为 new=1，bash 没有"


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_only_equal_arguments_have_no_difference(bash: list[str], imported: list[str]) -> None:
    found = compare(bash, imported, {}, {})
    assert (found == ()) == (bash == imported)
    assert all(one.bash is None or bash[(one.position or 0) - 1] == one.bash for one in found)


def test_many_arguments_are_compared_at_once() -> None:
    begin = time.monotonic()
    bash = [f"a{number % 7}={number}" for number in range(50_000)]
    assert len(compare(bash, [*bash[:-1], "x"], {}, {})) == 1
    assert time.monotonic() - begin < 2


def test_a_real_comparison(box: Box) -> None:
    found = box.run("export A=1 B=2\npython3 -m verl.trainer.main_ppo data.x=1 'data.y=a b' c.d=$PWD")
    (launch,) = launches(found)
    differences = compare(
        normalised(launch.argv).arguments, ["data.x=1", "data.y='a b'"], exported(found, launch), {"A": "1"}
    )
    assert [(one.position, one.name, one.bash) for one in differences] == [
        (2, None, "data.y=a b"),
        (3, None, f"c.d={launch.cwd}"),
        (None, "B", "2"),
    ]
