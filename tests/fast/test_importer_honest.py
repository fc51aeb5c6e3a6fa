"""What an import says: each warning, note and error at its line, in both languages."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from submitter.errors import UsageError
from submitter.importer import bounds, importing, syntax
from submitter.importer.bounds import bounded
from submitter.importer.importing import Request, import_script
from submitter.importer.write import JobFile, job_file
from submitter.texts import text
from submitter.texts.importer import TEXTS
from tests.support.importer_reading import HOME, scene

SECRET = "hf_" + "a1" * 12
LAUNCH = "python3 -m trainer.main a.b=1"


@dataclass(frozen=True)
class Told:
    """A script whose import tells this, at that line."""

    text_id: str
    line: int | None
    script: str
    says: str = ""
    """Found in the English text."""
    environ: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    launch: int | None = None


NOTES = [
    Told("importer.rest_unread", 3, f"{LAUNCH}\nfor i in 1 2; do\nselect x in a b; do break; done\ndone", "select"),
    Told("importer.from_environment", 1, f'if [ "$MODE" = a ]; then X=1; fi\n{LAUNCH}', "MODE", {"MODE": "b"}),
    Told("importer.several", 1, f"{LAUNCH}\n{LAUNCH}", "2 trainings, at lines 1, 2"),
    Told("importer.glob", 2, ": one\npython3 -m trainer.main a.b=1 seen_*", "seen_* stands for 2 files"),
    Told("importer.file_decides", 1, f"[ -f seen_a ] && X=1\n{LAUNCH}", "there is seen_a"),
    Told("importer.bad_test", 2, f":\n[ a b c d e ] || X=1\n{LAUNCH}", "too many arguments"),
    Told("importer.bad_test", 1, f"[ x -eq 1 ] || X=1\n{LAUNCH}", "integer expression expected"),
    Told("importer.expansion_error", 1, f"X=$((1 / 0))\n{LAUNCH}", "division by 0"),
    Told("importer.no_words", 2, f"X=$HOME\n$EMPTY\n{LAUNCH}"),
    Told("importer.no_default", 1, "python3 -m trainer.main a.b=$NOT_THERE", "NOT_THERE is not set"),
    Told("importer.left_empty", 1, "V=$(curl http://x)\npython3 -m trainer.main a.b=$V", "V is left empty"),
    Told("importer.comment_cuts", 2, f"{LAUNCH} \\\n  # c.d=1 \\\n  e.f=1"),
    Told("importer.no_shopt", 1, f"shopt -s globstar\n{LAUNCH}", "globstar"),
    Told("importer.stops", 1, f"X=$(set -e; false; echo a)\n{LAUNCH}", "status 1"),
    Told("importer.bad_export", 1, f"export 'a b'\n{LAUNCH}", "a b"),
    Told("importer.cut_short", 3, f"{LAUNCH} \\\n  c.d=1\n  e.f=2 \\\n  g.h=3", "e.f=2 g.h=3"),
    Told("importer.unknown_command", 1, f"some_tool --now\n{LAUNCH}", "some_tool"),
    Told("importer.script_missing", 1, f"source nowhere.sh\n{LAUNCH}", "nowhere.sh"),
    Told("importer.script_missing", 2, f":\nbash nowhere.sh\n{LAUNCH}", "nowhere.sh"),
    Told("importer.no_such_folder", 1, f"cd nowhere\n{LAUNCH}", "nowhere"),
    Told("importer.no_such_file", 1, f"X=$(cat nowhere)\n{LAUNCH}", "nowhere"),
    Told("importer.no_folder", 1, f"{LAUNCH} > nowhere/log", "no folder nowhere"),
    Told("importer.tee_no_folder", 1, f"{LAUNCH} | tee nowhere/log", "no folder nowhere"),
    Told("importer.writes_file", 1, f"echo a > config.yaml\n{LAUNCH}", "config.yaml"),
    Told("importer.assumed_there", 1, f"command -v some_tool\n{LAUNCH}", "some_tool"),
    Told("importer.bad_runtime_env", 1, f"ray job submit --runtime-env-json='{{' -- {LAUNCH}"),
    Told("importer.runtime_env_missing", 1, f"ray job submit --runtime-env=nowhere.yaml -- {LAUNCH}", "nowhere.yaml"),
    Told("importer.runtime_env_key", 1, f"""ray job submit --runtime-env-json='{{"pip": ["x"]}}' -- {LAUNCH}""", "pip"),
    Told("importer.not_carried", 1, f"pkill -9 nothing\n{LAUNCH}", "pkill"),
    Told("importer.not_carried", 1, f"rm -rf nothing_here\n{LAUNCH}", "rm"),
    Told("importer.not_carried", 1, f"ulimit -n 65535\n{LAUNCH}", "ulimit"),
    Told("importer.not_carried", 1, f"wget http://x/y\n{LAUNCH}", "wget"),
    Told("importer.not_carried", 1, f"python3 tools/preprocess.py --out x\n{LAUNCH}", "tools/preprocess.py"),
    Told("importer.probe", 1, f"if command -v nvidia-smi; then X=1; fi\n{LAUNCH}", "nvidia-smi"),
    Told("importer.probe", 1, f"if npu-smi info; then X=1; fi\n{LAUNCH}", "npu-smi"),
    Told("importer.probe", 1, f"python3 -c 'import torch_npu' && X=1\n{LAUNCH}", "torch_npu"),
    Told("importer.branch", 5, f"D=${{D:-npu}}\nif [ $D = npu ]; then\nX=1\nelse\nX=2; fi\n{LAUNCH}", "npu"),
    Told("importer.process_substitution", 1, f"exec > >(tee log)\n{LAUNCH}"),
    Told("importer.system_source", 1, f"source /usr/local/Ascend/set_env.sh\n{LAUNCH}", "set_env.sh"),
    Told("importer.tee", 2, f":\n{LAUNCH} | tee log", "tee log"),
    Told("importer.status_lost", 1, f"{LAUNCH} | tee log"),
    Told("importer.exports_stay", 2, f"export SEEN=1\nray job submit -- {LAUNCH}", "SEEN"),
    Told("importer.submit_option", 1, f"ray job submit --entrypoint-num-cpus 1 -- {LAUNCH}", "--entrypoint-num-cpus"),
]  # fmt: skip

ERRORS = [
    Told("importer.too_deep", None, "X=" + "${A:-" * 400 + "}" * 400 + f"\n{LAUNCH}"),
    Told("importer.syntax", 2, f":\nif true; then\n{LAUNCH}"),
    Told("importer.unsupported", 2, f":\nselect x in a b; do break; done\n{LAUNCH}", "select"),
    Told("importer.endless", 2, f"for i in {{1..900}}; do\nfor j in {{1..900}}; do :; done\ndone\n{LAUNCH}", "200000"),
    Told("importer.endless_loop", 2, f":\nwhile true; do :; done\n{LAUNCH}", "10000 rounds"),
    Told("importer.endless_loop", 1, f"for ((;;)); do :; done\n{LAUNCH}", "10000 rounds"),
    Told("importer.too_many_words", 1, f"echo {'{a,b}' * 40}\n{LAUNCH}", "10000 words"),
    Told("importer.recursion", 1, f"f() {{ f; }}\nf\n{LAUNCH}", "60"),
    Told("importer.recursion", 1, f'source "$0"\n{LAUNCH}', "60"),
    Told("importer.recursion", 1, f'bash "$0"\n{LAUNCH}', "60"),
    Told("importer.variable_long", 2, f"X=a\nfor i in {{1..99}}; do X=$X$X; done\n{LAUNCH}", "X becomes longer"),
    Told("importer.hangs_on_machine", 2, f"X=$(curl http://x)\nif [ $X = 1 ]; then Y=1; fi\n{LAUNCH}", "--set X=VALUE"),
    Told("importer.unset", 2, "set -u\npython3 -m trainer.main a.b=$NOT_THERE", "--set NOT_THERE=VALUE"),
    Told("importer.unset_here", 3, f"set -u\nunset X\necho $X\n{LAUNCH}", "X is unset by the script"),
    Told("importer.unset_positional", 2, "set -u\npython3 -m trainer.main a.b=$1", "no argument 1"),
    Told("importer.required", 2, f":\n: ${{MODEL:?say which}}\n{LAUNCH}", "say which"),
    Told("importer.bad_substring", 2, f"X=abc\nY=${{X:2:-2}}\n{LAUNCH}"),
    Told("importer.ends", 2, f"echo usage: give a number\nexit 3\n{LAUNCH}", "status 3"),
    Told("importer.ends", 2, f"set -e\nfalse\n{LAUNCH}", "status 1"),
    Told("importer.only_prepares", 1, "python3 tools/preprocess_data.py --out /x", "tools/preprocess_data.py"),
    Told("importer.starts_nothing", None, "echo hello"),
    Told("importer.starts_nothing", None, ""),
    Told("importer.set_unread", None, "python3 -m trainer.main a.b=${NNODES:-1}", "NNODES", sets={"NODES": "2"}),
    Told("importer.set_unread_alone", None, LAUNCH, "ANYTHING", sets={"ANYTHING": "2"}),
    Told("importer.no_such_launch", None, f"{LAUNCH}\n{LAUNCH}", "--launch 1 to 2", launch=3),
    Told("importer.secret_changed", 1, "python3 -m trainer.main a.b=${HF_TOKEN^^}", environ={"HF_TOKEN": SECRET}),
]  # fmt: skip


def name(one: Told) -> str:
    return f"{one.text_id.removeprefix('importer.')}-{one.line}"


@pytest.mark.parametrize("one", NOTES, ids=name)
def test_a_note_stands_at_its_line(tmp_path: Path, one: Told) -> None:
    where = scene(one.script, tmp_path)
    for seen in ("seen_a", "seen_b"):
        (where.folder / seen).touch()
    imported = where.imported({**HOME, **one.environ})
    told = [note for note in imported.notes if note.text_id == one.text_id]
    assert [note.line for note in told] == [one.line]
    assert told[0].file == str(tmp_path / "script.sh")
    assert one.says in text(one.text_id, "en", **told[0].values)
    _is_said_in_both(one.text_id, told[0].values)


@pytest.mark.parametrize("one", ERRORS, ids=name)
def test_an_error_stands_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: Told) -> None:
    monkeypatch.setattr(bounds, "SECONDS", 60.0)
    where = scene(one.script, tmp_path)
    with pytest.raises(UsageError) as raised, bounded("script.sh"):
        where.imported({**HOME, **one.environ}, sets=one.sets, launch=one.launch)
    error = raised.value
    assert (error.text_id, error.place and error.place.line) == (one.text_id, one.line)
    assert error.place is not None
    assert error.place.file == str(tmp_path / "script.sh")
    assert one.says in error.render("en")
    assert "\n" not in error.render("en")
    _is_said_in_both(one.text_id, error.values)


def _is_said_in_both(text_id: str, values: Mapping[str, object]) -> None:
    english, chinese = text(text_id, "en", **values), text(text_id, "zh", **values)
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert not re.search(r"[\u4e00-\u9fff]", english)
    assert english != chinese


FILES = {
    "importer.binary": (b"#!/bin/bash\n\x7fELF\0\0", None),
    "importer.not_utf8": (b"#!/bin/bash\n:\n# \xb0\xa1\n", 3),
    "importer.windows_lines": (b"#!/bin/bash\n:\r\n", 2),
    "importer.too_long": (b"# a comment\n" * 200_000, None),
    "importer.starts_nothing": (b"", None),
}


@pytest.mark.parametrize("text_id", FILES)
def test_what_is_no_script(tmp_path: Path, text_id: str) -> None:
    data, line = FILES[text_id]
    path = tmp_path / "run.sh"
    path.write_bytes(data)
    error = _refused(path)
    assert (error.text_id, error.place and error.place.line) == (text_id, line)
    _is_said_in_both(text_id, error.values)


def test_what_is_not_there(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path / "missing.sh", tmp_path, fifo, tmp_path / "a\0b"):
        error = _refused(path)
        assert error.text_id in ("importer.unreadable", "importer.not_a_file")
        assert error.place is not None
        assert error.place.file == str(path)
        _is_said_in_both(error.text_id, error.values)


def _refused(path: Path) -> UsageError:
    with pytest.raises(UsageError) as raised:
        import_script(Request(path, HOME, {}, (), None, "run"))
    return raised.value


def test_without_shfmt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(UsageError, match="pip install shfmt-py"):
        scene(LAUNCH, tmp_path).imported(HOME)


def test_a_slow_parser_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "shfmt"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(syntax, "_shfmt", lambda: str(slow))
    monkeypatch.setattr(syntax, "_TIMEOUT_S", 0.1)
    with pytest.raises(UsageError, match=r"could not be parsed within 0\.1 s"):
        scene(LAUNCH, tmp_path).imported(HOME)


@pytest.mark.parametrize(
    ("tampered", "text_id"),
    [
        (lambda text: text.replace("a.b: 1", "a.b: 2"), "importer.unequal"),
        (lambda text: text.replace("    a.b: 1", "    a.b: 1\n    more: 1"), "importer.unequal"),
        (lambda text: text.replace("SEEN: 'yes'", "SEEN: 'no'"), "importer.unequal"),
        (lambda text: text.replace("nodes: 1", "nodes: none"), "importer.not_a_job"),
    ],
)
def test_a_job_file_that_says_something_else_is_not_given_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tampered: Callable[[str], str], text_id: str
) -> None:
    monkeypatch.setattr(importing, "job_file", lambda *a, **k: _changed(job_file(*a, **k), tampered))
    with pytest.raises(UsageError) as raised:
        scene(f"export SEEN=yes\n{LAUNCH}", tmp_path).imported(HOME)
    assert raised.value.text_id == text_id
    _is_said_in_both(text_id, raised.value.values)


def _changed(written: JobFile, tampered: Callable[[str], str]) -> JobFile:
    text = tampered(written.text)
    assert text != written.text
    return replace(written, text=text)


A_BOMB = "V=" + "a" * 60 + f"b\n[[ $V =~ ^(a+)+$ ]]\n{LAUNCH}"


def test_the_clock_ends_it_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SECONDS", 0.5)
    with pytest.raises(UsageError) as raised, bounded("script.sh"):
        scene(A_BOMB, tmp_path).imported(HOME)
    assert raised.value.text_id == "importer.too_slow"
    _is_said_in_both("importer.too_slow", raised.value.values)


def test_memory_ends_it_with_an_error() -> None:
    with pytest.raises(UsageError) as raised, bounded("script.sh"):
        bytearray(bounds.MEMORY_BYTES)
    assert raised.value.text_id == "importer.too_large"
    _is_said_in_both("importer.too_large", raised.value.values)


ELSEWHERE = {"importer.parse_slow", "importer.no_shfmt", "importer.unreadable", "importer.not_a_file"} | {
    "importer.unequal", "importer.not_a_job", "importer.too_slow", "importer.too_large",
}  # fmt: skip


def test_every_text_is_told_by_some_script() -> None:
    told = {one.text_id for one in (*NOTES, *ERRORS)} | set(FILES) | ELSEWHERE
    assert set(TEXTS) == told
