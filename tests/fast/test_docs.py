"""READMEs and docs say what is there: links, commands, options, exit codes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from submitter.cli.main import COMMANDS
from submitter.exit_codes import ExitCode
from tests.support.cli import commands, parses

ROOT = Path(__file__).parents[2]
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
PAGES = [*READMES, *(ROOT / "docs" / name for name in ("design.md", "recipes.md", "recipes.zh-CN.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_ROW = re.compile(r"^\| *(\d+) *\|", re.MULTILINE)
BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```|(?:^(?: {4}|\t)[^\n]*\n)+", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(?:^|[\s$(])npurun(?: |$)")
SHELL_END = {"|", ">", ">>", "<", "&&", ";", "#", "2>&1"}

each_readme = pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.name))


def calls(readme: Path) -> list[list[str]]:
    """Each command line that starts with `npurun`, in a block or between backticks, without that word."""
    text = readme.read_text()
    blocks = [line for match in BLOCK.finditer(text) for line in match[0].replace("\\\n", " ").splitlines()]
    spans = re.findall(r"`(npurun [^`\n]+)`", BLOCK.sub("", text))
    lines = [line.strip().removeprefix("$ ") for line in blocks] + spans
    return [_words(line) for line in lines if line.startswith("npurun ")]


def _words(line: str) -> list[str]:
    words = shlex.split(re.sub(r"\s#.*", "", line))[1:]
    end = next((index for index, word in enumerate(words) if word in SHELL_END), len(words))
    return [word.strip("[]…") for word in words[:end] if word.strip("[]…")]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.name))
def test_links_point_to_files_that_exist(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link and not link.startswith("#")]
    assert links
    assert [link for link in links if not (page.parent / link.partition("#")[0]).exists()] == []


@each_readme
def test_no_placeholder_is_left(readme: Path) -> None:
    assert not re.findall(r"@[A-Z_]{3,}@", readme.read_text())


@each_readme
def test_exit_codes_are_those_of_the_code(readme: Path) -> None:
    assert [int(code) for code in CODE_ROW.findall(readme.read_text())] == sorted(code.value for code in ExitCode)


@each_readme
def test_every_command_is_named_and_every_named_command_exists(readme: Path) -> None:
    named = {words[0] for words in calls(readme) if not words[0].startswith("-")}
    assert named - set(COMMANDS) == set()
    assert set(COMMANDS) - named == set()


@each_readme
def test_every_command_line_parses(readme: Path) -> None:
    wrong = {}
    for words in calls(readme):
        forms = [[part] for part in words[words.index("--as") + 1].split("|")] if "--as" in words else [[]]
        for form in forms:
            line = [form[0] if form and "|" in word else word for word in words]
            try:
                parses(line)
            except click.exceptions.Exit:  # --help
                continue
            except click.ClickException as error:
                wrong[" ".join(line)] = error.format_message()
    assert not wrong


@each_readme
def test_options_that_the_text_names_exist(readme: Path) -> None:
    """Of `npurun`: what stands between backticks and starts with one."""
    known = {name for command in commands().values() for param in command.params for name in param.opts}
    named = {span.split()[0].split("=")[0] for span in re.findall(r"`(--[a-z][^`]*)`", readme.read_text())}
    foreign = {"--node-ip-address", "--labels", "--resources"}  # of `ray start`
    assert named - known - foreign == set()
