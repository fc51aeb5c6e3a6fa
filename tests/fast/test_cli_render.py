"""`npurun render`: five forms, the same bytes as submit, refusals without a word on stdout."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import MAIN_JOB, english, npurun
from tests.support.fake_ray import HEAD_ID, FakeRay

DATA = Path(__file__).parents[1] / "data"
TINY = """\
name: tiny
cluster: {nodes: 1, npus_per_node: 2}
variables: {LR: 1}
trainer: {module: my.trainer}
env: {FLAG_B: 2, FLAG_A: "世界 $(x)"}
arguments:
  all: {a.lr: "${LR}", a.text: "it's; $(x)"}
"""
SECRET = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"


def _secret_job(folder: Path) -> Path:
    file = folder / "job.yaml"
    file.write_text(TINY.replace("FLAG_B: 2", f"K: {SECRET}"))
    return file


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    (tmp_path / "tiny.yaml").write_text(TINY)
    return str(tmp_path / "tiny.yaml")


def test_argv_is_the_published_one_and_the_default_form(tmp_path: Path) -> None:
    published = (DATA / "seed_argv.txt").read_text()
    for words in ([], ["--as", "argv"]):
        result = npurun("render", MAIN_JOB, *words, home=tmp_path, env={"HOME": "/root"})
        assert (result.code, result.out) == (0, published) and "error" not in result.err


def test_env_is_the_jobs_own_flags_sorted(tiny: str, tmp_path: Path) -> None:
    assert npurun("render", tiny, "--as", "env", home=tmp_path).out == "FLAG_A=世界 $(x)\nFLAG_B=2\n"
    flags = npurun("render", MAIN_JOB, "--as", "env", home=tmp_path).out.splitlines()
    assert len(flags) == 6 and flags == sorted(flags)


def test_set_environment_and_trainer_arguments(tiny: str, tmp_path: Path) -> None:
    env = {"LR": "2"}
    assert "a.lr=2\n" in npurun("render", tiny, home=tmp_path, env=env).out
    words = ["render", tiny, "--set", "LR=3", "--", "a.lr=4", "--set", "-o", "--help"]
    out = npurun(*words, home=tmp_path, env=env).out.splitlines()
    assert "a.lr=3" in out and out[-4:] == ["a.lr=4", "--set", "-o", "--help"]


def test_bash_runs_what_argv_prints(tiny: str, tmp_path: Path) -> None:
    script = npurun("render", tiny, "--as", "bash", home=tmp_path).out
    shown = script.replace("exec python3", "printf '%s\\n' python3")
    ran = subprocess.run(["bash", "-c", shown], capture_output=True, text=True, timeout=10, check=True)
    assert ran.stdout == npurun("render", tiny, home=tmp_path).out


def test_argv_of_a_terminal_without_utf8_is_utf8(tiny: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.replace("it's", "世界"))
    for form in ("argv", "env", "bash", "request"):
        utf8 = npurun("render", tiny, "--as", form, "--lang", "en", home=tmp_path).out.encode()
        stream = npurun("render", tiny, "--as", form, "--lang", "en", home=tmp_path, encoding="latin-1").out
        assert stream.encode("latin-1") == utf8


def test_request_without_an_address_has_a_placeholder_and_says_so(tiny: str, tmp_path: Path) -> None:
    first = npurun("render", tiny, "--as", "request", home=tmp_path)
    assert first == npurun("render", tiny, "--as", "request", home=tmp_path)
    assert "<head-node-id>" in first.err and first.document["submission_id"] == "tiny-aaaaaaaa-a1"
    assert first.document["entrypoint_label_selector"] == {"ray.io/node-id": "<head-node-id>"}
    named = npurun("render", tiny, "--as", "request", "--run", "mine", "--attempt", "7", home=tmp_path)
    assert named.document["submission_id"] == "mine-a7"
    assert not (tmp_path / "npurun").exists()  # nothing is written


@pytest.mark.parametrize("version", ["2.60.0", "2.41.0"])
def test_request_is_what_submit_posts_byte_for_byte(tiny: str, version: str, tmp_path: Path) -> None:
    words = ["--set", "LR=3", "--run", "mine"]
    extra = ["--", "x='世界'"]
    with FakeRay(version=version) as ray:
        shown = npurun("render", tiny, "--as", "request", "--address", ray.address, *words, *extra, home=tmp_path)
        assert not ray.posts() and not ray.packages
        submitted = npurun("submit", tiny, "--detach", "--address", ray.address, *words, *extra, home=tmp_path)
        posted = [body for method, path, _, body in ray.requests if (method, path) == ("POST", "/api/jobs/")]
    assert (shown.code, submitted.code) == (0, 0) and "--address" not in shown.err
    assert posted == [shown.out.encode()]
    assert version != "2.60.0" or HEAD_ID in shown.out


def test_command_names_a_package_that_is_there(tiny: str, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    result = npurun("render", tiny, "--as", "command", "-o", str(folder), home=tmp_path)
    assert result.out.count("\n") == 1 and str(folder) in result.err
    words = shlex.split(result.out)
    assert words[:4] == ["ray", "job", "submit", "--no-wait"]
    option = next(word for word in words if word.startswith("--runtime-env-json="))
    (package,) = json.loads(option.partition("=")[2])["py_modules"]
    assert Path(package, "plan.json").is_file()


def test_command_without_o_keeps_its_package_at_home(tiny: str, tmp_path: Path) -> None:
    result = npurun("render", tiny, "--as", "command", home=tmp_path)
    assert result.code == 0 and f"{tmp_path}/npurun/packages/" in result.out
    assert (tmp_path / "npurun").stat().st_mode & 0o777 == 0o700


def test_a_relative_o_works_from_elsewhere(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = npurun("render", tiny, "--as", "command", "-o", "out", home=tmp_path)
    assert f"{tmp_path}/out/npurun_gang" in result.out


@pytest.mark.parametrize("target", ["file", "file/below", "\0", "full"])
def test_o_that_cannot_be_written_is_one_line(target: str, tiny: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full" / "npurun_gang").mkdir(parents=True)
    (tmp_path / "full" / "npurun_gang" / "other.py").touch()
    words = ["render", tiny, "--as", "request", "-o", f"{tmp_path}/{target}"]
    result = npurun(*words, home=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1].startswith("npurun: ")
    assert not english(npurun(*words, "--lang", "zh", home=tmp_path).err)


def test_torchrun_says_what_each_node_adds(tmp_path: Path) -> None:
    job = str(DATA / "jobs" / "torchrun_reward.yaml")
    result = npurun("render", job, home=tmp_path)
    assert result.code == 0 and result.out.startswith("torchrun\n") and "--node_rank" in result.err
    assert not english(npurun("render", job, home=tmp_path, env={"LANG": "zh"}).err)


@pytest.mark.parametrize(
    "change",
    [
        f"env: {{HF_TOKEN: {SECRET}}}",
        f"arguments: {{all: {{+token: {SECRET}}}}}",
        f"variables: {{WANDB_API_KEY: {SECRET}}}",
        f"cluster: {{nodes: 1, npus_per_node: 2, labels: {{x: {SECRET}}}}}",
    ],
)
@pytest.mark.parametrize("form", ["argv", "env", "request", "command", "bash"])
def test_a_secret_is_refused_and_shown_nowhere(change: str, form: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    cluster = "" if change.startswith("cluster") else "cluster: {nodes: 1, npus_per_node: 2}\n"
    arguments = "" if change.startswith("arguments") else "arguments: {}\n"
    file.write_text(f"name: tiny\n{cluster}{arguments}trainer: {{module: m}}\n{change}\n")
    result = npurun("render", str(file), "--as", form, home=tmp_path)
    assert (result.code, result.out) == (3, "")
    assert "NR431" in result.err and SECRET not in result.err
    assert not list(tmp_path.glob("npurun/packages/*"))


@pytest.mark.parametrize("words", [[f"trainer.key={SECRET}"], ["--", f"+trainer.token={SECRET}"]])
def test_a_secret_on_the_command_line_is_not_repeated(words: list[str], tiny: str, tmp_path: Path) -> None:
    result = npurun("render", tiny, *words, home=tmp_path)
    assert result.code in (2, 3) and result.out == "" and SECRET not in result.err


def test_refusal_as_json_holds_the_findings(tmp_path: Path) -> None:
    file = _secret_job(tmp_path)
    result = npurun("submit", str(file), "--json", home=tmp_path)
    assert result.code == 3 and SECRET not in result.out + result.err
    finding = result.error["findings"][0]
    assert (finding["id"], finding["severity"], finding["where"]["line"]) == ("NR431", "error", 5)


def test_findings_in_chinese(tmp_path: Path) -> None:
    file = _secret_job(tmp_path)
    result = npurun("render", str(file), home=tmp_path, env={"LANG": "zh_CN.UTF-8"})
    assert result.code == 3 and "错误 NR431" in result.err and not english(result.err)
