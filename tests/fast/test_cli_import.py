"""`npurun import`: the YAML alone on stdout, what has to be known on stderr, and what the job file then renders."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from submitter.exit_codes import ExitCode
from submitter.importer.verify import Recorded, Recording, SandboxError, imported
from tests.support.cli import Result, cold, english, npurun
from tests.support.importer_verify import Box

SCRIPT = """\
#!/bin/bash
# Trains something small.

NNODES=${NNODES:-1}
LR=${LR:-1e-6}
export LEVEL=${LEVEL:-3}
ulimit -n 65535
DATA=(data.train_files=/data/train.parquet "data.text=a b")
python3 -m trainer.main "${DATA[@]}" optim.lr=$LR trainer.nnodes=$NNODES "$@" | tee train.log
"""
WORDS = ["data.train_files=/data/train.parquet", "data.text=a b", "optim.lr=1e-6", "trainer.nnodes=1"]
SECRET = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
CODED = "sk-" + "0123456789abcdefghijABCDEFGHIJ"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_text(SCRIPT)
    return tmp_path


def script(text: str) -> None:
    Path("run.sh").write_text(text)


def run(*words: str, env: dict[str, str] | None = None) -> Result:
    return npurun("import", "run.sh", *words, home=Path.cwd(), env=env)


def rendered(result: Result, form: str = "argv", env: dict[str, str] | None = None) -> list[str]:
    """What the job file on stdout renders, as words or as lines."""
    Path("job.yaml").write_text(result.out)
    shown = npurun("render", "job.yaml", "--as", form, home=Path.cwd(), env=env)
    assert shown.code == ExitCode.DONE, shown.err
    return shlex.split(shown.out) if form == "bash" else shown.out.splitlines()


# ── stdout and stderr ────────────────────────────────────────────────────────────────────────────────────────────────


def test_stdout_is_the_yaml_and_stderr_the_notes() -> None:
    result = run()
    assert result.code == ExitCode.DONE
    document = yaml.safe_load(result.out)
    assert document["name"] == "run"
    assert set(document["variables"]) == {"NNODES", "LR", "LEVEL"}
    assert "# Trains something small." in result.out
    lines = result.err.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["run.sh:7", "note"],
        ["run.sh:9", "note"],
        ["run.sh:9", "note"],
    ]
    assert "ulimit" in lines[0]


def test_the_job_file_renders_what_bash_runs() -> None:
    result = run()
    assert rendered(result)[-4:] == WORDS
    assert rendered(result, "env") == ["LEVEL=3"]
    assert "optim.lr=2" in rendered(result, env={"LR": "2"})


def test_a_file_is_written_and_told() -> None:
    result = run("-o", "out.yaml")
    assert (result.code, result.out) == (ExitCode.DONE, "")
    assert result.err.splitlines()[-1] == "written: out.yaml"
    assert yaml.safe_load(Path("out.yaml").read_text())["name"] == "out"


def test_a_file_is_not_touched_where_the_import_fails() -> None:
    Path("out.yaml").write_text("mine")
    script("exit 1")
    assert run("-o", "out.yaml").code == ExitCode.USAGE
    assert Path("out.yaml").read_text() == "mine"


@pytest.mark.parametrize("file", ["run.sh", "./run.sh", "link.sh"])
def test_the_script_is_never_written_over(file: str) -> None:
    Path("link.sh").symlink_to("run.sh")
    result = run("-o", file)
    assert (result.code, result.out) == (ExitCode.USAGE, "")
    assert file in result.err
    assert Path("run.sh").read_text() == SCRIPT


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "run.sh:2: bash stops here: MODEL has to be set (which one)"),
        (("--set", "NODES=1"), "run.sh:2: "),
        (("--set", "MODEL"), "--set"),
        (("--set", "=x"), "--set"),
        (("--launch", "2", "--set", "MODEL=m"), "--launch 1 to 1"),
        (("--launch", "0"), "--launch"),
        (("--launch", "x"), "--launch"),
        (("grpo",), "go after --"),
        (("--nothing",), "--nothing"),
        (("--set", "MODLE=m", "--set", "MODEL=m"), "did you mean MODEL"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(words: Sequence[str], said: str) -> None:
    script(":\npython3 -m trainer.main a.b=${MODEL:?which one}\n")
    result = run(*words)
    assert (result.code, result.out) == (ExitCode.USAGE, "")
    assert said in result.err
    assert len([line for line in result.err.splitlines() if not line.startswith("Try ")]) == 1


@pytest.mark.parametrize(
    "data", [b"\x7fELF\0", b"if true; then\n", b"echo hello\n", b"\xff\xfe\n", b"while :; do :; done\n"]
)
def test_what_is_no_launch_script(data: bytes) -> None:
    Path("run.sh").write_bytes(data)
    result = run()
    assert (result.code, result.out, len(result.err.splitlines())) == (ExitCode.USAGE, "", 1)
    assert result.err.startswith("npurun: run.sh:") or "run.sh" in result.err


def test_a_script_that_is_not_there() -> None:
    result = npurun("import", "nowhere.sh", home=Path.cwd())
    assert (result.code, result.out) == (ExitCode.USAGE, "")
    assert "nowhere.sh" in result.err


# ── what a person sets ───────────────────────────────────────────────────────────────────────────────────────────────


def test_set_wins_over_the_environment_and_becomes_the_default() -> None:
    result = run("--set", "LR=3e-6", "--set", "NNODES=2", env={"LR": "9"})
    assert yaml.safe_load(result.out)["variables"]["NNODES"] in (2, "2")
    assert rendered(result)[-2:] == ["optim.lr=3e-6", "trainer.nnodes=2"]
    assert "optim.lr=4" in rendered(result, env={"LR": "4"})


def test_set_gives_what_the_machine_knows() -> None:
    script("RUN=grpo_$(date +%Y%m%d)\nIP=$(hostname -I)\npython3 -m trainer.main run.name=$RUN run.ip=$IP n=$(nproc)\n")
    result = run()
    assert "left empty" in result.err
    assert "--set IP=VALUE" in result.err
    given = run("--set", "IP=10.0.0.1", "--set", "date=today", "--set", "nproc=96")
    assert rendered(given)[-3:] == ["run.name=grpo_today", "run.ip=10.0.0.1", "n=96"]
    assert "left empty" not in given.err


def test_set_decides_a_branch() -> None:
    script('if [ "${KIND:-a}" = a ]; then N=1; else N=2; fi\npython3 -m trainer.main a.n=$N\n')
    assert rendered(run())[-1] == "a.n=1"
    result = run("--set", "KIND=b")
    assert rendered(result)[-1] == "a.n=2"
    refused = npurun("render", "job.yaml", home=Path.cwd(), env={"KIND": "a"})
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert "KIND" in refused.err


def test_the_scripts_own_arguments() -> None:
    script('N=$1; shift\npython3 -m trainer.main a.n=$N "$@"\n')
    result = run("--", "8", "b.c=x y", "--set", "-o", "--help", "")
    assert rendered(result)[-6:] == ["a.n=8", "b.c=x y", "--set", "-o", "--help", ""]


def test_one_of_several_launches() -> None:
    script("for n in 1 2 3; do\npython3 -m trainer.main stage.n=$n\ndone\n")
    first, second = run(), run("--launch", "2")
    assert "run.sh:2: warning: the script starts 3 trainings" in first.err
    assert "starts 3 trainings" not in second.err
    assert [rendered(one)[-1] for one in (first, second)] == ["stage.n=1", "stage.n=2"]


def test_the_interpreter_is_named() -> None:
    script("uv run --frozen python3 -m trainer.main a.b=1\n")
    result = run()
    assert "uv run --frozen python3 is left out" in result.err
    assert rendered(result)[:3] == ["python3", "-m", "trainer.main"]


# ── secrets ──────────────────────────────────────────────────────────────────────────────────────────────────────────

SECRETS = f"""\
export HF_TOKEN=${{HF_TOKEN:-}}
export WANDB_API_KEY={CODED}
KEY={CODED}
if [ -z "$HF_TOKEN" ]; then echo "no token" >&2; fi
wandb login {CODED}
curl -H "Authorization: Bearer {CODED}" http://x
export COMBINED="token=$HF_TOKEN"
python3 -m trainer.main a.b=1 +ray.env.OPENAI_API_KEY={CODED} model.hub_token=$HF_TOKEN x.key="$KEY"
"""


@pytest.mark.parametrize("words", [(), ("--verify",), ("--set", f"HF_TOKEN={SECRET}"), ("--lang", "zh")])
def test_no_secret_is_written_or_told(words: tuple[str, ...]) -> None:
    script(SECRETS)
    result = run(*words, env={"HF_TOKEN": SECRET})
    for shown in (result.out, result.err):
        assert SECRET not in shown
        assert CODED not in shown
    if result.code == ExitCode.DONE:
        assert "WANDB_API_KEY" in result.err


def test_an_error_tells_no_secret() -> None:
    script(f"set -u\nX={CODED}\n: ${{NOT_THERE:?needs {CODED}}}\npython3 -m trainer.main a.b=1\n")
    result = run(env={"HF_TOKEN": SECRET})
    assert result.code == ExitCode.USAGE
    assert CODED not in result.err


# ── --verify ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def pretended(monkeypatch: pytest.MonkeyPatch, *commands: Sequence[str], **environ: str) -> None:
    """bash in the sandbox starts these."""
    recorded = tuple(Recorded(tuple(words), {"PATH": "/bin", **environ}, "/") for words in commands)
    recording = Recording(recorded, 0, "exited", "line one\nno such thing\n", {"PATH": "/bin"}, True, 0)
    monkeypatch.setattr(imported, "record", lambda *_, **__: recording)


def test_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    pretended(monkeypatch, ["tee", "train.log"], ["python3", "-m", "trainer.main", *WORDS], LEVEL="3")
    result = run("--verify")
    assert result.code == ExitCode.DONE
    assert result.err.splitlines()[-1] == "--verify: bash passes the same 5 arguments and variables"
    assert rendered(result)[-4:] == WORDS


@pytest.mark.parametrize(
    ("words", "level", "said"),
    [
        ([*WORDS[:-1], "trainer.nnodes=2"], "3", "trainer.nnodes"),
        (WORDS[:-1], "3", "trainer.nnodes"),
        ([*WORDS, "more=1"], "3", "more=1"),
        (WORDS, "4", "LEVEL"),
        ([WORDS[1], WORDS[0], *WORDS[2:]], "3", "data.t"),
    ],
)
def test_what_differs_is_told_and_nothing_written(
    monkeypatch: pytest.MonkeyPatch, words: Sequence[str], level: str, said: str
) -> None:
    pretended(monkeypatch, ["python3", "-m", "trainer.main", *words], LEVEL=level)
    result = run("--verify", "-o", "out.yaml")
    assert (result.code, result.out) == (ExitCode.CHECK_FAILED, "")
    assert any(line.startswith("--verify: ") and said in line for line in result.err.splitlines())
    assert not Path("out.yaml").exists()


def test_bash_does_not_come_to_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    pretended(monkeypatch, ["python3", "-m", "other.main", "a=1"])
    result = run("--verify", "-o", "out.yaml")
    assert (result.code, result.out) == (ExitCode.CHECK_FAILED, "")
    assert "did not come to trainer.main" in result.err
    assert "no such thing" in result.err
    assert not Path("out.yaml").exists()


def test_without_a_sandbox_the_script_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Recording:
        raise SandboxError("importer.verify_no_tool", tool="unshare", folders="/bin")

    monkeypatch.setattr(imported, "record", refuse)
    result = run("--verify", "-o", "out.yaml")
    assert (result.code, result.out) == (ExitCode.USAGE, "")
    assert "unshare" in result.err
    assert not Path("out.yaml").exists()


def test_really_verified(box: Box) -> None:
    """In the sandbox, where this machine has one."""
    assert box.folder
    script(SCRIPT + "touch marker\n")
    result = run("--verify", "--set", "LR=3", "--", "x.y=a b")
    assert result.code == ExitCode.DONE, result.err
    assert result.err.splitlines()[-1] == "--verify: bash passes the same 6 arguments and variables"
    assert not Path("marker").exists()


# ── Chinese, and a process of its own ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text", [SCRIPT, "exit 1\n", "python3 -m t a=$X\n", "uv run python -m t a=1 \\\n # b=1 \\\n c=1\n"]
)
def test_in_chinese_no_english_sentence_is_left(text: str) -> None:
    script(text)
    result = run("--lang", "zh")
    assert english(result.err) == []
    assert result.err
    assert not english(result.out.replace("Trains something small", ""))


def test_as_a_process(here: Path) -> None:
    for words, code in ((("-o", "job.yaml"), 0), (("--launch", "9"), 2)):
        assert cold("import", "run.sh", *words, home=here, cwd=here).code == code
    argv = cold("render", "job.yaml", "--as", "argv", home=here, cwd=here)
    flags = cold("render", "job.yaml", "--as", "env", home=here, cwd=here, env={"LEVEL": "9"})
    assert argv.out.splitlines() == ["python3", "-m", "trainer.main", *WORDS]
    assert flags.out == "LEVEL=9\n"
    piped = cold("import", "run.sh", home=here, cwd=here, env={"NPURUN_LANG": "zh"})
    assert yaml.safe_load(piped.out)["trainer"]["module"] == "trainer.main"
    assert english(piped.err) == []
