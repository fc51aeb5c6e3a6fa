"""What a script sets itself, and what an import decided: no value from outside passes for another command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from submitter.arguments.assemble import arguments, flags
from submitter.errors import UsageError
from submitter.job.load import load_job
from tests.support.job_files import HEAD, load_text

SECRET = "not to be shown"


def passed(text: str, folder: Path, **given: Any) -> list[str]:
    return arguments(load_text(HEAD + text, folder, **given))


def refused(text: str, folder: Path, **given: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        load_text(HEAD + text, folder, **given)
    assert SECRET not in caught.value.render() + caught.value.render("zh")
    return caught.value


class TestConstants:
    TEXT = (
        "variables: {A: 1, B: 'b-${C}'}\n"
        "constants: {C: x, D: '${A}-${B}', E: {$text: '${A}'}, F: '${{ A * 2 }}'}\n"
        "env: {F1: '${C}'}\n"
        "arguments: {w: ['${A} ${B} ${C} ${D} ${E} ${F}']}\n"
    )

    def test_they_are_as_variables(self, tmp_path: Path) -> None:
        assert passed(self.TEXT, tmp_path) == ["1 b-x x 1-b-x ${A} 2"]

    def test_the_environment_does_not_change_them(self, tmp_path: Path) -> None:
        outside = dict.fromkeys("ABCDEF", "9")
        assert passed(self.TEXT, tmp_path, environ=outside) == ["9 9 x 9-9 ${A} 18"]

    def test_set_does(self, tmp_path: Path) -> None:
        job = load_text(HEAD + self.TEXT, tmp_path, environ={"C": "no"}, sets=["C=c", "E=e"])
        assert (arguments(job), flags(job)) == (["1 b-c c 1-b-c e 2"], {"F1": "c"})
        assert (job.variables["C"].origin, job.variables["D"].origin) == ("set", "file")

    def test_home_as_a_constant(self, tmp_path: Path) -> None:
        assert passed("constants: {HOME: /nfs}\narguments: {w: ['${HOME}']}\n", tmp_path) == ["/nfs"]

    @pytest.mark.parametrize(
        ("text", "text_id", "line", "words"),
        [
            ("variables:\n  A: 1\nconstants:\n  A: 2\n", "job.declared_twice", 7, "under variables in line 5"),
            (
                "imported:\n  decided:\n    A: 'x'\nconstants:\n  A: 2\n",
                "job.declared_twice",
                6,
                "under constants in line 8",
            ),
            ("constants: {A: '${B}'}\nvariables: {B: '${A}'}\n", "job.cycle", 5, "B -> A -> B"),
            ("constants:\n  A: ${PROJET}\n  PROJECT: 1\n", "job.undefined", 5, "PROJECT"),
            ("constants: {A: [1]}\n", "job.not_a_scalar", 4, "constants.A"),
            ("constants: {A-B: 1}\n", "job.variable_name", 4, "A-B"),
            ("constants: 5\n", "job.want_mapping", 4, "constants"),
        ],
    )
    def test_wrong(self, tmp_path: Path, text: str, text_id: str, line: int, words: str) -> None:
        error = refused(text + "arguments: {}\n", tmp_path)
        assert (error.text_id, error.place and error.place.line) == (text_id, line)
        assert words in str(error)

    def test_set_names_the_nearest_of_all(self, tmp_path: Path) -> None:
        text = "constants: {PROJECT: 1}\nimported: {decided: {DEVICE: npu}}\narguments: {}\n"
        assert "PROJECT" in str(refused(text, tmp_path, sets=["PROJET=1"]))
        assert "DEVICE" in str(refused(text, tmp_path, sets=["DEVICES=1"]))


class TestDecided:
    TEXT = "imported:\n  decided:\n    D: {own}\narguments:\n  w: ['a=${{D}}', '-${{D}}']\n"

    @pytest.mark.parametrize(
        ("own", "environ", "sets", "text"),
        [
            ("npu", {}, [], "npu"),
            ("npu", {"D": ""}, [], "npu"),
            ("npu", {"D": "npu"}, [], "npu"),
            ("npu", {}, ["D=npu"], "npu"),
            ("npu", {"D": SECRET}, ["D=npu"], "npu"),
            ("''", {}, [], ""),
            ("''", {"D": ""}, [], ""),
            ("''", {}, ["D="], ""),
            ("null", {}, [], ""),
            ("'4'", {"D": "4"}, [], "4"),
            ("'${HOME}'", {}, [], "${HOME}"),
            ("{$text: '1'}", {"D": "1"}, [], "1"),
            ("1e-6", {"D": "1e-6"}, [], "1e-6"),
        ],
    )
    def test_the_same_text_is_accepted(
        self, tmp_path: Path, own: str, environ: Mapping[str, str], sets: list[str], text: str
    ) -> None:
        assert passed(self.TEXT.format(own=own), tmp_path, environ=environ, sets=sets) == [f"a={text}", f"-{text}"]

    @pytest.mark.parametrize(
        ("own", "environ", "sets", "text_id"),
        [
            ("npu", {"D": SECRET}, [], "job.decided"),
            ("npu", {"D": "npu "}, [], "job.decided"),
            ("npu", {}, [f"D={SECRET}"], "job.decided"),
            ("npu", {"D": "npu"}, [f"D={SECRET}"], "job.decided"),
            ("npu", {}, ["D="], "job.decided"),
            ("''", {"D": SECRET}, [], "job.decided"),
            ("''", {}, ["D=x"], "job.decided"),
            ("null", {"D": SECRET}, [], "job.decided_unset"),
            ("null", {"D": ""}, [], "job.decided_unset"),
            ("null", {}, ["D="], "job.decided_unset"),
            ("'4'", {"D": "04"}, [], "job.decided"),
        ],
    )
    def test_another_is_refused(
        self, tmp_path: Path, own: str, environ: Mapping[str, str], sets: list[str], text_id: str
    ) -> None:
        error = refused(self.TEXT.format(own=own), tmp_path, environ=environ, sets=sets)
        assert (error.text_id, error.place and (error.place.line, error.place.key)) == (
            text_id,
            (6, "imported.decided.D"),
        )
        assert "--set D=" in str(error)

    @pytest.mark.parametrize(
        ("own", "text_id"),
        [("4", "job.want_text"), ("yes", "job.want_text"), ("[a]", "job.not_a_scalar"), ("{a: b}", "job.not_a_scalar")],
    )
    def test_wants_text(self, tmp_path: Path, own: str, text_id: str) -> None:
        assert refused(self.TEXT.format(own=own), tmp_path).text_id == text_id

    def test_home(self, tmp_path: Path) -> None:
        text = "imported: {decided: {HOME: /root}}\narguments: {w: ['${HOME}/x']}\n"
        assert passed(text, tmp_path, environ={"HOME": "/root"}) == ["/root/x"]
        assert refused(text, tmp_path, environ={"HOME": "/home/me"}).text_id == "job.decided"


class TestUnquoted:
    TEXT = "variables:\n  A: 'own value'\n  B: x\nimported:\n  unquoted: [A, B]\narguments:\n  w: ['${A}', '${B}']\n"

    def test_what_bash_leaves_alone(self, tmp_path: Path) -> None:
        assert passed(self.TEXT, tmp_path) == ["own value", "x"]
        assert passed(self.TEXT, tmp_path, environ={"A": "a'\"$;&|\\~#]{}", "B": ""}) == ["a'\"$;&|\\~#]{}", "x"]
        assert passed(self.TEXT, tmp_path, environ={"A": "own value"}, sets=["B=own"]) == ["own value", "own"]

    @pytest.mark.parametrize("value", [f"{SECRET}\n", "a b", "\ta", "a\n", "*", "a?b", "[a"])
    def test_what_bash_splits_or_expands(self, tmp_path: Path, value: str) -> None:
        for given in ({"environ": {"B": value}}, {"sets": [f"B={value}"]}):
            error = refused(self.TEXT, tmp_path, **given)
            assert error.text_id == "job.unquoted_value" and error.place is not None
            assert error.place.key in ("environment variable B", "--set B")

    def test_an_unknown_name(self, tmp_path: Path) -> None:
        text = (
            "variables: {NODES: 1}\nconstants: {C: 1}\nimported:\n  unquoted:\n  - NODES\n  - {name}\narguments: {{}}\n"
        )
        for name, words in (("NODE", "did you mean NODES"), ("ZZZ", "ZZZ"), ("C", "C")):
            error = refused(text.replace("{{}}", "{}").replace("{name}", name), tmp_path)
            assert (error.text_id, error.place and error.place.line) == ("job.unquoted_name", 9)
            assert words in str(error)


@pytest.mark.parametrize(
    ("imported", "text_id"),
    [
        ("5", "job.want_mapping"),
        ("{scripts: x}", "job.unknown_key"),
        ("{script: 5}", "job.want_text"),
        ("{launch_line: x}", "job.want_integer"),
        ("{launch_line: 0}", "job.range"),
        ("{decided: x}", "job.want_mapping"),
        ("{unquoted: x}", "job.want_list"),
        ("{unquoted: [5]}", "job.want_text"),
    ],
)
def test_wrong_keys(tmp_path: Path, imported: str, text_id: str) -> None:
    assert refused(f"imported: {imported}\narguments: {{}}\n", tmp_path).text_id == text_id


def test_all_of_it_may_be_left_empty(tmp_path: Path) -> None:
    for imported in ("", "{script: , launch_line: , decided: , unquoted: }", "{}"):
        assert passed(f"constants:\nquoting:\nimported: {imported}\narguments: {{}}\n", tmp_path) == []


def test_safe_dump_keeps_it_all(tmp_path: Path) -> None:
    text = HEAD + (
        "quoting: verbatim\nvariables: {A: '1e-6', B: '010'}\nconstants: {C: 'yes', D: '${A}'}\n"
        "imported: {script: run.sh, launch_line: 12, decided: {E: '', F: null, G: '0x1', H: '1e-6'}, unquoted: [A]}\n"
        "arguments:\n  w: ['a=${A}', '${B}', '${C}${D}', '${E}${F}', '${G}', '${H}', '1e-6', 'null', '5']\n"
        "  m: {a: '${A}', g: '${G}', n: '010'}\n"
    )
    path = tmp_path / "dumped.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(text)))
    dumped = load_job(str(path), environ={}, sets=["B=x y"])
    assert sorted(arguments(load_text(text, tmp_path, sets=["B=x y"]))) == sorted(arguments(dumped))
    assert "x y" in arguments(dumped)
