"""Wrong usage, languages, encodings: one line, the right exit code, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from submitter.cli.language import from_environment
from tests.support.cli import MAIN_JOB, Result, commands, english, npurun
from tests.support.job_files import HEAD

CHINESE = {"LANG": "zh_CN.UTF-8"}
WRONG = [
    (["bogus"], "no command bogus", "npurun"),
    (["jbos"], "the nearest is jobs", "npurun"),
    (["jobs", "x"], "unexpected argument x", "npurun jobs"),
    (["render"], "JOB is missing", "npurun render"),
    (["status"], "RUN is missing", "npurun status"),
    (["render", MAIN_JOB, "--ass", "argv"], "the nearest is --as", "npurun render"),
    (["list", "--zzz"], "no option --zzz", "npurun list"),
    (["--zzz"], "no option --zzz", "npurun"),
    (["render", MAIN_JOB, "--run"], "--run needs a value", "npurun render"),
    (["jobs", "--json=1"], "--json takes no value", "npurun jobs"),
    (["render", MAIN_JOB, "--as", "yaml"], "argv, env, request, command, bash", "npurun render"),
    (["render", MAIN_JOB, "--attempt", "0"], "at least 1", "npurun render"),
    (["render", MAIN_JOB, "--attempt", "1_0"], "at least 1", "npurun render"),
    (["render", MAIN_JOB, "--attempt", "9" * 5000], "at least 1", "npurun render"),
    (["rehearse", MAIN_JOB, "--nodes", "-1"], "at least 1", "npurun rehearse"),
    (["completion", "tcsh"], "bash, zsh, fish", "npurun completion"),
    (["jobs", "--lang", "xx"], "en, zh", "npurun jobs"),
]
REFUSED = [
    (["render", "no_such_job"], 2),
    (["render", MAIN_JOB, "--set", "NO_SUCH=1"], 2),
    (["render", MAIN_JOB, "--set", "junk"], 2),
    (["render", MAIN_JOB, "--run", "Bad_Name"], 2),
    (["render", MAIN_JOB, "--run", "x" * 58, "--as", "request"], 2),
    (["render", MAIN_JOB, "--attempt", "99999999", "--run", "x" * 57], 2),
    (["render", MAIN_JOB, "-o", "/tmp/x"], 2),
    (["render", MAIN_JOB, "--as", "request", "--address", "ray://x:10001"], 2),
    (["render", MAIN_JOB, "--as", "request", "--address", "http://127.0.0.1:1"], 4),
    (["submit", MAIN_JOB, "--address", "http://127.0.0.1:1"], 4),
    (["submit", MAIN_JOB, "--address", "http://user:pass@127.0.0.1:1"], 2),
    (["submit", MAIN_JOB, "--address", "https://127.0.0.1:1", "--ca", "/nowhere.pem"], 2),
    (["list", "--address", "http://127.0.0.1:1"], 4),
    (["status", "nobody", "--address", "http://127.0.0.1:1"], 4),
    (["logs", "nobody", "--address", "http://127.0.0.1:1"], 4),
    (["stop", "nobody", "--address", "http://127.0.0.1:1"], 4),
    (["status", "Bad_Name", "--address", "http://127.0.0.1:1"], 2),
]


def _one_line(result: Result, hint_lines: int = 0) -> str:
    first, *rest = [line for line in result.err.splitlines() if line.startswith("npurun: ")]
    assert not rest
    after = result.err[result.err.index(first) :].splitlines()
    assert len(after) == 1 + hint_lines
    assert "Traceback" not in result.err
    return first


@pytest.mark.parametrize(("words", "said", "command"), WRONG)
def test_wrong_usage_is_one_line_and_where_the_help_is(
    words: list[str], said: str, command: str, tmp_path: Path
) -> None:
    result = npurun(*words, home=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert said in _one_line(result, hint_lines=1)
    assert result.err.endswith(f"Try '{command} --help'.\n")


@pytest.mark.parametrize("words", [words for words, _, _ in WRONG])
def test_wrong_usage_with_json_is_one_document(words: list[str], tmp_path: Path) -> None:
    result = npurun(*words, "--json", home=tmp_path)
    assert (result.code, result.err) == (2, "")
    assert result.error["message"] and result.error["where"] is None


@pytest.mark.parametrize("words", [words for words, _, _ in WRONG])
def test_wrong_usage_in_chinese(words: list[str], tmp_path: Path) -> None:
    result = npurun(*words, home=tmp_path, env=CHINESE)
    assert result.code == 2
    assert not english(result.err) and "参见" in result.err
    assert any("\u4e00" <= char <= "\u9fff" for char in result.err.splitlines()[0])


@pytest.mark.parametrize(("words", "code"), REFUSED)
def test_refusals_have_the_codes_of_the_table(words: list[str], code: int, tmp_path: Path) -> None:
    result = npurun(*words, home=tmp_path)
    assert (result.code, result.out) == (code, "")
    _one_line(result)


@pytest.mark.parametrize(("words", "code"), [one for one in REFUSED if one[0][0] not in ("render", "logs")])
def test_refusals_as_json(words: list[str], code: int, tmp_path: Path) -> None:
    result = npurun(*words, "--json", home=tmp_path)
    assert result.code == code
    assert set(result.error) == {"message", "where"}


@pytest.mark.parametrize(("words", "code"), REFUSED)
def test_refusals_in_chinese(words: list[str], code: int, tmp_path: Path) -> None:
    result = npurun(*words, "--lang", "zh", home=tmp_path)
    assert result.code == code and not english(result.err)


def test_a_place_is_told_and_is_in_the_json(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("name: x\nunknown_key: 1\n")
    result = npurun("submit", str(file), home=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert _one_line(result).startswith(f"npurun: {file}:2: ")
    where = npurun("submit", str(file), "--json", home=tmp_path).error["where"]
    assert (where["file"], where["line"]) == (str(file), 2)


@pytest.mark.parametrize(
    "value", ["a b", "it's", 'a"b', "a\nb", "a;b", "$(x)", "\x1b[2J", "\\", "世界", "x" * 100_000, "\udcff"]
)
def test_hostile_values_stay_on_one_line(value: str, tmp_path: Path) -> None:
    for words in (["render", value], ["status", value], ["render", MAIN_JOB, "--set", value], [value, "x"]):
        result = npurun(*words, home=tmp_path, env={"RAY_API_SERVER_ADDRESS": "http://127.0.0.1:1"})
        assert result.code == 2
        line = _one_line(result, hint_lines=int(words[0] == value))
        assert "\x1b" not in line and len(line) < 10_000


@pytest.mark.parametrize("name", ["a b", "it's", "a\nb", "$(x);", "\x1b[2J", "世界"])
def test_a_job_at_a_hostile_path(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    file = folder / "job.yaml"
    file.write_text("name: tiny\ncluster: {nodes: 1, npus_per_node: 2}\ntrainer: {module: m}\narguments: {}\n")
    assert npurun("render", str(file), home=tmp_path).out == "python3\n-m\nm\n"
    file.write_text("name: [\n")
    assert "\x1b" not in _one_line(npurun("render", str(file), home=tmp_path))


def test_npurun_alone_prints_its_help(tmp_path: Path) -> None:
    alone, asked = npurun(home=tmp_path), npurun("--help", home=tmp_path)
    assert alone == asked and alone.code == 0 and alone.err == ""
    assert alone.out.startswith("Usage: npurun")
    assert npurun("--version", home=tmp_path).out.startswith("npurun ")


@pytest.mark.parametrize("name", ["", *commands()])
def test_help_is_wholly_in_one_language_and_80_columns(name: str, tmp_path: Path) -> None:
    from submitter.cli.wrap import columns

    words = [name] if name else []
    asked = npurun(*words, "-h", home=tmp_path)
    chinese = npurun(*words, "--help", home=tmp_path, env=CHINESE)
    assert (asked.code, asked.err) == (chinese.code, chinese.err) == (0, "")
    assert not english(chinese.out) and chinese.out.startswith("用法")
    assert all(columns(line) <= 80 for line in (asked.out + chinese.out).splitlines())
    assert "cli." not in asked.out + chinese.out


def test_lang_is_heard_before_the_parser_complains(tmp_path: Path) -> None:
    for words in (["jobs", "--lang", "zh", "--zzz"], ["--lang=zh", "jobs", "--zzz"], ["--lang", "zh", "zzz"]):
        assert not english(npurun(*words, home=tmp_path).err)
    after_dashes = npurun("render", "no_such_job", "--", "--lang", "zh", home=tmp_path)
    assert english(after_dashes.err)


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN", "LC_ALL": ""}, "zh"),
        ({"LANG": "zh_CN", "NPURUN_LANG": "en"}, "en"),
        ({"NPURUN_LANG": "ZH"}, "zh"),
        ({"LANG": "fr_FR"}, "en"),
    ],
)
def test_language_of_the_environment(environ: dict[str, str], language: str) -> None:
    assert from_environment(environ) == language


def test_a_terminal_without_utf8(tmp_path: Path) -> None:
    chinese = npurun("jobs", "--help", home=tmp_path, env=CHINESE, encoding="ascii")
    assert chinese.out.startswith("Usage:")  # escapes would help nobody
    assert npurun("jobs", home=tmp_path, encoding="ascii").code == 0
    asked = npurun("render", "世界", "--lang", "zh", home=tmp_path, encoding="ascii")
    assert asked.code == 2 and "\\u" in asked.err
    gbk = npurun("render", "x", home=tmp_path, env=CHINESE, encoding="gbk")
    assert not english(gbk.err)


def test_json_stays_json_on_a_terminal_without_utf8(tmp_path: Path) -> None:
    result = npurun("status", "😀世界", "--json", "--lang", "zh", home=tmp_path, encoding="ascii")
    assert result.code == 2 and "世界" in result.error["message"]


TOKEN = "0123456789abcdef0123456789abcdef01234567"
ECHOES = {
    "flag's name": (f"env: {{'WANDB_API_KEY={TOKEN}': 1}}", []),
    "top-level key": (f"'X={TOKEN}': 1", []),
    "working_dir": (f"runtime_env: {{working_dir: 'https://u:{TOKEN}@host/x'}}", []),
    "set": ("", ["--set", TOKEN]),
    "set of no text": ("", ["--set", f"{TOKEN}\udc80"]),
    "query": ("", ["--address", f"http://127.0.0.1:1?token={TOKEN}"]),
    "password": ("", ["--address", f"http://u:{TOKEN}@127.0.0.1:1"]),
}


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("case", ECHOES)
def test_a_refusal_repeats_no_secret(case: str, as_json: bool, tmp_path: Path) -> None:
    lines, words = ECHOES[case]
    job = tmp_path / "job.yaml"
    job.write_text(f"{HEAD}arguments: {{}}\n{lines}\n", encoding="utf-8")
    result = npurun("submit", str(job), *words, *(["--json"] if as_json else []), home=tmp_path)
    assert result.code in {2, 3}
    assert TOKEN not in result.out + result.err
