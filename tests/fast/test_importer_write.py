"""A reading becomes a job file that runs the same command, and says what it means where the environment differs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from submitter.arguments.assemble import arguments, flags
from submitter.errors import UsageError
from submitter.importer.model import Arith, Decided, Part
from tests.support.job_files import load_text
from tests.support.readings import Written, again, flag, launch, own, put, reading, section, typed, word, write
from tests.support.values import HOSTILE


class TestReferences:
    def test_an_input_is_a_variable_with_its_default(self, tmp_path: Path) -> None:
        done = Written(tmp_path, launch(word("trainer.nnodes=", put("NNODES", "4", given="8"))))
        assert done.data["variables"] == {"NNODES": 4}
        assert done.words() == ["trainer.nnodes=4"]
        assert done.words(NNODES="8") == ["trainer.nnodes=8"]

    def test_defaults_inside_defaults(self, tmp_path: Path) -> None:
        inner = put("DATA", typed(put("HOME", given="/root"), "/data"))
        done = Written(tmp_path, launch(word("data.x=", put("TRAIN", typed(inner, "/train"))), word("data.y=", inner)))
        assert section(done.text, "variables") == "  DATA: ${HOME}/data\n  TRAIN: ${DATA}/train"
        assert done.words(DATA="/d") == ["data.x=/d/train", "data.y=/d"]

    def test_the_home_folder_is_known_where_there_is_one(self, tmp_path: Path) -> None:
        done = Written(tmp_path, launch(word("a.b=", put("HOME", given="/root")), word("a.c=", put("USER"))))
        assert done.data["variables"] == {"USER": ""}
        assert arguments(load_text(done.text, tmp_path, environ={"HOME": "/h"})) == ["a.b=/h", "a.c="]

    def test_a_home_folder_that_bash_would_split(self, tmp_path: Path) -> None:
        words = [word("a.b=", put("HOME", given="/root")), word("a.c=", put("V", "x"))]
        done = Written(tmp_path, launch(*words), reading(unquoted=["HOME", "V", "W"]))
        assert done.data["imported"]["unquoted"] == ["HOME", "V"]
        for environ in ({"HOME": "/home/a b"}, {"V": "a b"}):
            with pytest.raises(UsageError, match="quotes"):
                done.words(**environ)

    def test_what_the_script_sets_is_a_constant(self, tmp_path: Path) -> None:
        name = own("NAME", "qwen ", put("SIZE", "8B"), line=7, comments=["the run"], note="date +%F")
        done = Written(tmp_path, launch(word("a.b=", name), word("a.c=x-", again(name))))
        assert section(done.text, "constants") == "  # the run\n  NAME: qwen ${SIZE}  # date +%F"
        assert done.words(NAME="other", SIZE="4B") == ["a.b=qwen 4B", "a.c=x-qwen 4B"]

    def test_a_definition_that_passes_an_input_on_is_the_input(self, tmp_path: Path) -> None:
        alias = own("nodes", put("NNODES", "2"), comments=["how many"])
        done = Written(tmp_path, launch(word("a.b=", own("n", alias)), word("a.c=", own("NNODES", put("NNODES", "2")))))
        assert section(done.text, "variables") == "  # how many\n  NNODES: 2"
        assert done.words(NNODES="3") == ["a.b=3", "a.c=3"]

    def test_of_one_name_the_last_definition_keeps_it(self, tmp_path: Path) -> None:
        first = own("DIR", "/a", line=1)
        last = own("DIR", first, "/b", line=2)
        done = Written(tmp_path, launch(word("a.b=", first), word("a.c=", last)))
        assert done.data["constants"] == {"DIR": "/a/b"}
        assert done.data["arguments"]["extra"] == {"a.b": "/a", "a.c": "${DIR}"}

    def test_an_inputs_name_is_not_free(self, tmp_path: Path) -> None:
        done = Written(
            tmp_path, launch(word("a.b=", own("DIR", put("DIR", "/x"), "/run")), word("a.c=", put("DIR", "/x")))
        )
        assert "constants" not in done.data
        assert done.words(DIR="/y") == ["a.b=/y/run", "a.c=/y"]

    def test_what_the_script_branched_on_is_written_in_its_place(self, tmp_path: Path) -> None:
        mode = own("mode", "async")
        done = Written(tmp_path, launch(word("a.b=", mode)), reading(fixed=[mode]))
        assert done.data["arguments"] == {"extra": {"a.b": "async"}}

    def test_a_long_chain_of_definitions(self, tmp_path: Path) -> None:
        one = own("A", "x")
        for number in range(3000):
            one = own("A", one, line=number)
        assert Written(tmp_path, launch(word("a.b=", one))).words() == ["a.b=x"]

    def test_definitions_that_double_each_other(self, tmp_path: Path) -> None:
        one = own("A", put("B"), put("B"))
        for number in range(40):
            one = own("A", one, again(one), line=number)
        done = Written(tmp_path, launch(word("a.b=", one, "x")))
        assert done.words() == ["a.b=x"]
        with pytest.raises(UsageError, match="B"):
            done.words(B="1")


class TestArithmetic:
    LENGTH = own("length", Arith(typed("1024 * ", put("K", "4")), "4096"), line=5)

    def test_stays_arithmetic(self, tmp_path: Path) -> None:
        total = Arith(typed("2 * ", self.LENGTH, " + 1"), "8193")
        done = Written(tmp_path, launch(word("a.b=", total), word("a.c=n", again(self.LENGTH)), word("a.d=x-", total)))
        assert done.data["constants"] == {"length": "${{ 1024 * K }}"}
        assert done.words() == ["a.b=8193", "a.c=n4096", "a.d=x-8193"]
        assert done.words(K="1") == ["a.b=2049", "a.c=n1024", "a.d=x-2049"]

    def test_a_definition_in_its_place_is_in_parentheses(self, tmp_path: Path) -> None:
        total = own("n", Arith(typed("1 + ", put("K", "4")), "5"), line=1)
        done = Written(
            tmp_path, launch(word("a.b=", Arith(typed("2 * ", total), "10")), word("a.c=", own("n", "9", line=2)))
        )
        assert done.data["arguments"]["extra"]["a.b"] == "${{ 2 * (1 + K) }}"
        assert done.words(K="5")[0] == "a.b=12"

    @pytest.mark.parametrize(
        ("template", "text", "environment"),
        [
            (("2 * ", own("n", "1", put("K", "4"), line=1)), "28", {"K": "4"}),  # the text 14, no number of its own
            ((put("K"), " + 1"), "1", {}),  # bash takes nothing for 0
            ((put("K", "010"), " + 1"), "9", {"K": "010"}),  # and this for 8
            ((put("K", "-7"), " // 2"), "-3", {"K": "-7"}),  # and rounds towards 0
            (("+".join(["1"] * 110), " + ", put("K", "1")), "111", {"K": "1"}),
        ],
    )
    def test_what_no_job_file_computes_so_is_its_text(
        self, tmp_path: Path, template: tuple[str | Part, ...], text: str, environment: dict[str, str]
    ) -> None:
        other = own("n", "9", line=2)
        done = Written(tmp_path, launch(word("a.b=", Arith(typed(*template), text)), word("a.c=", other)))
        assert done.words(**environment) == [f"a.b={text}", "a.c=9"]
        with pytest.raises(UsageError, match="K"):
            done.words(K="3")


class TestDecided:
    def test_one_text_for_the_name_another_is_refused(self, tmp_path: Path) -> None:
        about = reading([Decided("DEVICE", "npu", (3, 9)), Decided("X", None, ())])
        done = Written(tmp_path, launch(word("a.b=", put("DEVICE", "npu"), "!")), about)
        assert "    DEVICE: npu  # line 3, 9\n    X: null\n" in done.text
        assert done.words(DEVICE="npu") == ["a.b=npu!"]
        with pytest.raises(UsageError, match=r"DEVICE"):
            done.words(DEVICE="gpu")
        with pytest.raises(UsageError, match=r"X"):
            done.words(X="")

    @pytest.mark.parametrize("text", [*HOSTILE, "1e999", "2e-5", "0" * 200])
    def test_any_text(self, tmp_path: Path, text: str) -> None:
        done = Written(tmp_path, launch(word("a.b=", put("X", "y", given=text))), reading([Decided("X", text, ())]))
        assert done.words(X=text) == [f"a.b={text or 'y'}"]

    def test_two_defaults_of_one_input(self, tmp_path: Path) -> None:
        words = [word("a.b=", put("X", "one")), word("a.c=", put("X", typed("two-", put("Y", "y"))))]
        done = Written(tmp_path, launch(*words))
        assert done.data["imported"]["decided"] == {"X": ""}
        assert done.words(Y="z") == ["a.b=one", "a.c=two-z"]
        with pytest.raises(UsageError, match="X"):
            done.words(X="three")

    def test_two_defaults_where_the_environment_has_it(self, tmp_path: Path) -> None:
        words = [word("a.b=", put("X", "one", given="v")), word("a.c=", put("X", "two", given="v"))]
        assert Written(tmp_path, launch(*words)).words(X="v") == ["a.b=v", "a.c=v"]

    def test_a_decided_one_with_two_texts_has_none_in_the_environment(self, tmp_path: Path) -> None:
        about = reading([Decided("X", "4", (2,))])
        done = Written(tmp_path, launch(word("a.b=", put("X"), "-", put("X", "4"))), about)
        assert done.words() == ["a.b=-4"]
        with pytest.raises(UsageError, match="X"):
            done.words(X="4")

    def test_no_default_and_an_empty_one_are_the_same(self, tmp_path: Path) -> None:
        done = Written(tmp_path, launch(word("a.b=", put("X")), word("a.c=", put("X", ""))))
        assert done.words(X="v") == ["a.b=v", "a.c=v"]

    def test_hydras_own_reference_beside_an_input(self, tmp_path: Path) -> None:
        done = Written(tmp_path, launch(word("a.b=${now:%Y}/", put("X", "x")), word("a.c=", put("X", "x"))))
        assert done.data["arguments"]["extra"] == {"a.b": {"$text": "${now:%Y}/x"}, "a.c": "${X}"}
        assert done.words(X="x") == ["a.b=${now:%Y}/x", "a.c=x"]
        with pytest.raises(UsageError, match="X"):
            done.words(X="y")


class TestValues:
    @pytest.mark.parametrize(
        "text", [*HOSTILE, "1e999", "-0.0", "1.0e+20", "0.60", "a: b", "a #b", "x" * 300, "\x85", "\ufeff"]
    )
    def test_any_text_anywhere(self, tmp_path: Path, text: str) -> None:
        words = [
            word("a.b=", text),
            word("a.c=", put("V", text)),
            word("a.d=", own("C", text)),
            word("a.e=", put("V", text), "-"),
        ]
        exported = [flag("F", text), flag("G", put("V", text))]
        done = Written(tmp_path, launch(*words, word(text), exported=exported))
        for written in (done.text, yaml.safe_dump(done.data, sort_keys=False)):
            job = load_text(written, tmp_path)
            assert arguments(job) == [f"a.b={text}", f"a.c={text}", f"a.d={text}", f"a.e={text}-", text]
            assert flags(job) == {"F": text, "G": text}

    @pytest.mark.parametrize(
        "text", ["16", "-1", "0.6", "1e-6", "True", "False", "null", "grpo", "/data/x.parquet", "a b"]
    )
    def test_what_people_write_without_quotes_is_plain(self, text: str) -> None:
        assert f"    a.b: {text}\n" in write(launch(word("a.b=", text))).text

    def test_a_text_that_no_file_holds(self) -> None:
        with pytest.raises(UsageError, match=r"^run\.sh:50: .*UTF-8"):
            write(launch(word("a.b=\udcff")))

    def test_long_lines_are_cut(self, tmp_path: Path) -> None:
        text = "[" + ", ".join(f"'name \\ {number}\t'" for number in range(200)) + "]"
        done = Written(
            tmp_path, launch(word("a.b=", text), word("a.c=${", text), word("--x", text), exported=[flag("F", text)])
        )
        assert max(map(len, done.text.splitlines())) <= 120
        assert done.words() == [f"a.b={text}", "a.c=${" + text, f"--x{text}"]

    def test_a_flag_may_be_a_variable_of_the_script(self, tmp_path: Path) -> None:
        value, other = own("F", "1", comments=["why"]), own("G", "2")
        done = Written(tmp_path, launch(word("a.b=", other), exported=[flag("F", value), flag("G", again(other))]))
        assert section(done.text, "env") == "  # why\n  F: 1\n  G: ${G}"
        assert flags(done.job()) == {"F": "1", "G": "2"}
