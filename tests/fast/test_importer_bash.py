"""Scripts of one construct each, and of full size: the import says, item by item, what real bash does.

A script in tests/data/scripts is a test. Its first comments say how it is run:
    # with: NAME=value …       ordinary values for what it reads from its environment
    # arguments: …             its own arguments
    # refused: text.id         the import refuses it without those values; of what it does not know, always
    # beyond: text.id          … or with those values
    # says: text.id:line …     warnings and notes, without those values
"""

from __future__ import annotations

import re
import shlex
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

import pytest

from submitter.errors import UsageError
from submitter.importer.importing import Imported
from tests.support.importer_reading import HOME, Said, Scene, differences, held, scene

FOLDER = Path(__file__).parents[1] / "data" / "scripts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.sh"))
ENVIRONMENTS = ("defaults", "ordinary", "hostile", "empty")
HOSTILE = (
    " a  b ", "it's", "*", "x=1 y=[2]", "[ab]?", "~/x", "$HOME `x` \\", 'say "x"', "-n", "{a,b}", "a\nb", "é数", "#",
    "8 ", "08", "a.b=1,c=2", "${X}", "data/*", "'", "1+1", "!", "(", "/x y/z.tar", "-1",
)  # fmt: skip


BEYOND = {"importer.hangs_on_machine"}
"""What a hostile value may come to where bash goes on: the answer of a tool that only runs it."""


@dataclass
class Case:
    """A script in its four environments; what bash does in each is asked once."""

    name: str
    scene: Scene
    said: dict[tuple[tuple[str, str], ...], list[Said]] = field(default_factory=dict)
    made: dict[str, Imported | UsageError] = field(default_factory=dict)

    def imported(self, environment: str) -> Imported:
        """In one of its environments; once. UsageError: it cannot be."""
        if environment not in self.made:
            try:
                self.made[environment] = self.scene.imported(self.environments[environment])
            except UsageError as error:
                self.made[environment] = error
        made = self.made[environment]
        if isinstance(made, UsageError):
            raise made
        return made

    @cached_property
    def environments(self) -> Mapping[str, Mapping[str, str]]:
        given = dict(word.split("=", 1) for word in self.header("with"))
        start = zlib.crc32(self.name.encode())
        hostile = {name: HOSTILE[(start + at) % len(HOSTILE)] for at, name in enumerate(given)}
        empty = dict.fromkeys(given, "")
        return {
            "defaults": HOME,
            "ordinary": {**HOME, **given},
            "hostile": {**HOME, **hostile},
            "empty": {**HOME, **empty},
        }

    def header(self, key: str) -> list[str]:
        found = re.search(rf"^# {key}: (.*)$", self.scene.script, re.MULTILINE)
        return shlex.split(found[1]) if found else []

    def bash(self, environ: Mapping[str, str]) -> list[Said]:
        key = tuple(sorted(environ.items()))
        if key not in self.said:
            self.said[key] = self.scene.bash(environ)
        return self.said[key]


@pytest.fixture(scope="module", params=NAMES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp(request.param)
    script = (FOLDER / f"{request.param}.sh").read_text()
    case = Case(request.param, scene(script, folder))
    case.scene = scene(script, folder, *case.header("arguments"))
    shutil.copytree(FOLDER / "files", folder / "files")
    shutil.copytree(FOLDER / "files", case.scene.folder, dirs_exist_ok=True)
    return case


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_as_bash(case: Case, environment: str) -> None:
    environ = case.environments[environment]
    bash = case.bash(environ)
    try:
        imported = case.imported(environment)
    except UsageError as error:
        assert _may_refuse(case, environment, error, bash), error.render("en")
        return
    assert environment != "defaults" or not case.header("refused")
    assert bash, "bash starts nothing"
    for number, said in enumerate(bash, 1):
        one = imported if number == 1 else case.scene.imported(environ, launch=number)
        assert one.launch.target.text == said.target
        job = case.scene.loaded(one.text, environ)
        assert differences(said, job, environ) == []
    assert (len(bash) > 1) == any(note.text_id == "importer.several" for note in imported.notes)


def _may_refuse(case: Case, environment: str, error: UsageError, bash: list[Said]) -> bool:
    """As its header says; where bash starts nothing; where a hostile value is more than a job file can say."""
    assert error.place is not None
    if [error.text_id] == case.header("refused"):
        return not bash or error.text_id == "importer.unsupported"
    if environment == "defaults":
        return False
    beyond = {*case.header("beyond"), *(BEYOND if environment == "hostile" else ())}
    return not bash or (error.text_id in beyond and bool(error.place.line))


def test_elsewhere_it_is_equal_or_refused(case: Case) -> None:
    """A job file that was made in one environment, in another one: what decided its making holds there too."""
    for here, there in product(ENVIRONMENTS, ENVIRONMENTS):
        environ = case.environments[there]
        try:
            text = case.imported(here).text
            job = case.scene.loaded(text, environ)
        except UsageError:
            continue
        meant = {**environ, **held(text, environ)}
        bash = case.bash(meant)
        if here == "empty" and not bash:
            continue  # `set -u` knows an empty variable from one that is not set, a job file does not
        assert bash, (here, there, "bash starts nothing")
        handed = {*meant, *case.environments[here]}
        assert (here, there, differences(bash[0], job, meant, handed=handed)) == (here, there, [])


def test_what_it_says(case: Case) -> None:
    """The warnings and notes of the script's header are told, at those lines."""
    wanted = {(text_id, int(line)) for text_id, _, line in (one.partition(":") for one in case.header("says"))}
    told = case.imported("defaults").notes if wanted else ()
    assert wanted <= {(note.text_id, note.line) for note in told}
