"""Whatever is wrong with a job file: one line with file and line, exit code 2, never a traceback."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from submitter.errors import UsageError
from submitter.exit_codes import ExitCode
from submitter.job import document, source, variables
from submitter.job.load import load_job
from tests.support.job_files import HEAD, HOME, load_text

ARGUMENTS = "arguments: {}\n"


def refused(text: str | bytes, folder: Path, *, sets: Sequence[str] = (), **environ: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        load_text(text, folder, environ={**HOME, **environ}, sets=sets)
    error = caught.value
    assert error.exit_code == ExitCode.USAGE
    for language in ("en", "zh"):
        assert "\n" not in error.render(language)
    return error


# (what is appended to HEAD or replaces it, text id, line, words of the message)
_YAML: list[tuple[str, str, int, str]] = [
    ("arguments: {}\nnam: x\n", "job.unknown_key", 5, "name"),
    ("arguments: {}\nname: x\n", "job.duplicate_key", 5, "line 1"),
    ("arguments:\n  data:\n    a: 1\n    b: 2\n    a: 3\n", "job.duplicate_key", 8, "line 6"),
    ("arguments:\n  data:\n    a: {x: 1, x: 2}\n", "job.duplicate_key", 6, "line 6"),
    ("env:\n\tA: 1\n", "job.tab", 5, "tab"),
    ("env:\n  A: 1\n \tB: 1\n", "job.tab", 6, "tab"),
    ("env: {A: 1\n", "job.yaml", 5, "not valid YAML"),
    ('env: {A: "\\0"}\n', "job.control_character", 4, "U+0000"),
    ("arguments: {}\n---\nname: x\n", "job.documents", 5, "second document"),
    ("arguments: !!python/object/apply:os.system ['touch pwned']\n", "job.tag", 4, "os.system"),
    ("arguments: !!python/name:os.system {}\n", "job.tag", 4, "tags"),
    ("arguments: !custom {}\n", "job.tag", 4, "!custom"),
    ("arguments: {data: {a: !!str 5}}\n", "job.tag", 4, "tags"),
    ("arguments: {data: {a: ! 5}}\n", "job.tag", 4, "tags"),
    ("env: {<<: {A: 1}}\n", "job.merge_key", 4, "<<"),
    ("arguments: {1: {}}\n", "job.key_not_text", 4, "1"),
    ("arguments: {data: {a: {on: 1}}}\n", "job.key_not_text", 4, "on"),
    ("arguments: {data: {a: {~: 1}}}\n", "job.key_not_text", 4, "~"),
    ("arguments: {? [a] : 1}\n", "job.key_not_text", 4, "[…]"),
    ("arguments: {? {a: 1} : 1}\n", "job.key_not_text", 4, "[…]"),
    ("arguments: *nowhere\n", "job.alias", 4, "nowhere"),
    ("arguments: &a {data: *a}\n", "job.alias", 4, "*a"),
    ("arguments: " + "[" * 500, "job.too_deep", 4, "levels"),
    ("arguments: " + "[" * 50_000, "job.yaml", 4, "nesting"),
    ("arguments: " + "{a: " * 50_000, "job.too_deep", 4, "levels"),
    ("arguments:\n" + "- " * 50_000 + "x\n", "job.too_deep", 5, "levels"),
]

_TYPES: list[tuple[str, str, int, str]] = [
    ("", "job.missing", 1, "arguments"),
    ("arguments: 5\n", "job.want_mapping", 4, "arguments"),
    ("arguments: {data: a}\n", "job.want_mapping", 4, "arguments.data"),
    ("arguments: {'bad name': {}}\n", "job.group_name", 4, "bad name"),
    ("arguments:\n  data:\n    a b: 1\n", "arguments.key", 6, "a b"),
    ("arguments:\n  data:\n    a=b: 1\n", "arguments.key", 6, "a=b"),
    ('arguments:\n  data:\n    "a\\nb": 1\n', "arguments.key", 6, "a\\nb"),
    ("arguments:\n  data:\n    ~~a: 1\n", "arguments.key", 6, "~~a"),
    ("arguments:\n  data:\n    +++a: 1\n", "arguments.key", 6, "+++a"),
    ('arguments:\n  data:\n    "": 1\n', "arguments.key", 6, "key"),
    ("arguments:\n  data:\n    a.: 1\n", "arguments.key", 6, "a."),
    ("arguments:\n  data:\n    ${x}: 1\n", "arguments.key", 6, "${x}"),
    ("arguments:\n  data:\n    a:\n      '1': x\n", "arguments.dict_key", 7, "$text"),
    ("arguments:\n  data:\n    a:\n      'é': x\n", "arguments.dict_key", 7, "é"),
    ("arguments:\n  data:\n    a:\n      '${x}': x\n", "arguments.reference_in_key", 7, "${x}"),
    ("arguments:\n  data:\n    a: 0x10\n", "job.number_spelling", 6, "16"),
    ("arguments:\n  data:\n    a: 010\n", "job.number_spelling", 6, "8"),
    ("arguments:\n  data:\n    a: 1:30\n", "job.number_spelling", 6, "90"),
    ("arguments:\n  data:\n    a: 0b11\n", "job.number_spelling", 6, "3"),
    ("arguments:\n  data:\n    a: 00.5\n", "job.number_spelling", 6, "0.5"),
    ("arguments:\n  data:\n    a: 1__0\n", "job.number_spelling", 6, "10"),
    ("arguments:\n  data:\n    a: 1e999\n", "job.number_range", 6, "1e999"),
    ("arguments:\n  data:\n    a: " + "9" * 6000 + "\n", "job.number_long", 6, "100"),
    ("arguments:\n  data:\n    a: 2024-01-01\n", "job.unquoted", 6, "timestamp"),
    ("arguments:\n  data:\n    a: =\n", "job.unquoted", 6, "="),
    ("arguments:\n  data:\n    a: {$text: x, b: 1}\n", "job.text_form", 6, "$text"),
    ("arguments:\n  data:\n    a: {$text: [x]}\n", "job.text_form", 6, "$text"),
    ("arguments:\n  data:\n    a: {$text: null}\n", "job.text_form", 6, "$text"),
    ("arguments:\n  data:\n    a: {$text: true}\n", "job.text_form", 6, "quotes"),
    ("arguments:\n  data:\n    a: {$text: 1.50}\n", "job.text_form", 6, "quotes"),
    ("arguments: {}\nenv: {A: null}\n", "job.flag_null", 5, "A"),
    ("arguments: {}\nenv: {A: [1]}\n", "job.not_a_scalar", 5, "env.A"),
    ("arguments: {}\nenv: {A-B: 1}\n", "job.env_name", 5, "A-B"),
    ("arguments: {}\nenv: {1A: 1}\n", "job.env_name", 5, "1A"),
    ("arguments: {}\nenv: [A]\n", "job.want_mapping", 5, "env"),
    ("arguments: {}\nenv: 0x10\n", "job.want_mapping", 5, "0x10"),
    ("arguments: {}\nruntime_env: {pip: 0x10}\n", "job.want_list", 5, "0x10"),
    ("arguments: {}\nstack: [x]\n", "job.not_a_scalar", 5, "stack"),
    ("arguments: {}\nstack: 9.0\n", "job.want_text", 5, "quotes"),
    ("arguments: {}\nsummary: 5\n", "job.want_text", 5, "summary"),
    ("arguments: {}\nrecovery: {max_attempts: 0}\n", "job.range", 5, "1 and 1000"),
    ("arguments: {}\nrecovery: {max_attempts: many}\n", "job.want_integer", 5, "many"),
    ("arguments: {}\nrecovery: {max_attempts: 1.5}\n", "job.want_integer", 5, "1.5"),
    ("arguments: {}\nrecovery: {max_attempts: true}\n", "job.want_integer", 5, "True"),
    ("arguments: {}\nrecovery: {max_hours: -1}\n", "job.range_above", 5, "max_hours"),
    ("arguments: {}\nrecovery: {max_hours: .inf}\n", "job.range_above", 5, "max_hours"),
    ("arguments: {}\nrecovery: {max_hours: .nan}\n", "job.range_above", 5, "max_hours"),
    ("arguments: {}\nrecovery: {max_hours: x}\n", "job.want_number", 5, "x"),
    ("arguments: {}\nrecovery: {resume: 1}\n", "job.want_bool", 5, "resume"),
    ("arguments: {}\nrecovery: {on_reason: {x: often}}\n", "job.choice", 5, "backoff"),
    ("arguments: {}\nrecovery: {max_attempt: 5}\n", "job.unknown_key", 5, "max_attempts"),
    ("arguments: {}\nrecovery: {hang_min: 0}\n", "job.range_above", 5, "hang_min"),
    ("arguments: {}\nrecovery: {hang_mins: 5}\n", "job.unknown_key", 5, "hang_min"),
    ("arguments: {}\nrecovery: {from_start: often}\n", "job.want_bool", 5, "from_start"),
    ("arguments: {}\nrecovery:\n  on_reason:\n    x:\n      retries: 2\n", "job.unknown_key", 8, "retry"),
    ("arguments: {}\nrecovery:\n  on_reason:\n    x:\n      retry: 2\n", "job.choice", 8, "exclude_node"),
    ("arguments: {}\nrecovery:\n  on_reason:\n    x:\n      limit: -1\n", "job.range", 8, "limit"),
    ("arguments: {}\nrecovery: {on_reason: {x: {change: a.b=1}}}\n", "job.want_list", 5, "on_reason.x.change"),
    ("arguments: {}\nrecovery: {on_reason: {x: {change: [a.b]}}}\n", "job.want_override", 5, "a.b"),
    ("arguments: {}\nrecovery: {on_reason: {x: {change: [5]}}}\n", "job.want_text", 5, "change"),
    ("arguments: {}\nrecovery: {on_reason: {x: {change: ['~a=1']}}}\n", "job.want_override", 5, "~a=1"),
    ('arguments: {}\nrecovery: {on_reason: {x: {change: ["a=1\\n2"]}}}\n', "job.want_override", 5, "change"),
    ("arguments: {}\nrecovery: {on_reason: {x: null}}\n", "job.missing", 5, "on_reason.x"),
    ("arguments: {}\nrecovery: {on_reason: {x: [now]}}\n", "job.not_a_scalar", 5, "on_reason.x"),
    ("arguments: {}\nruntime_env: {pip: numpy}\n", "job.want_list", 5, "pip"),
    ("arguments: {}\nruntime_env: {pip: [1]}\n", "job.want_text", 5, "pip"),
    ("arguments: {}\nsecrets: {K: {}}\n", "job.secret_form", 5, "exactly one"),
    ("arguments: {}\nsecrets: {K: {file: /a, env: B}}\n", "job.secret_form", 5, "exactly one"),
    ("arguments: {}\nsecrets: {K: {value: x}}\n", "job.unknown_key", 5, "file"),
    ("arguments: {}\nsecrets: {K: hunter2}\n", "job.secret_form", 5, "secret K"),
    ("arguments: {}\nsecrets: {K: {file: relative}}\n", "job.want_absolute_path", 5, "secrets.K.file"),
    ("arguments: {}\nsecrets: {K: {env: A B}}\n", "job.want_env_name", 5, "secrets.K.env"),
    ("arguments: {}\nsecrets: {K L: {env: A}}\n", "job.env_name", 5, "K L"),
]

_VARIABLES: list[tuple[str, str, int, str]] = [
    ("variables:\n  NPUS_PER_NODE: 16\nenv: {A: '${NDEVICES_PER_NODE}'}\n", "job.undefined", 6, "NPUS_PER_NODE"),
    ("variables:\n  NNODES: ${NODES}\n", "job.undefined", 5, "NNODES"),
    ("variables:\n  A: ${{ 2 * B }}\n", "job.undefined_alone", 5, "variable B"),
    ("arguments:\n  data:\n    a: ['${HOM}']\n", "job.undefined", 6, "HOME"),
    ("variables:\n  A: ${B}\n  B: x${C}\n  C: ${{ A }}\n", "job.cycle", 5, " -> "),
    ("variables:\n  A: ${A}\n", "job.cycle", 5, "A -> A"),
    ("variables:\n  A: [1]\n", "job.not_a_scalar", 5, "variables.A"),
    ("variables:\n  A: {b: 1}\n", "job.not_a_scalar", 5, "variables.A"),
    ("variables:\n  A-B: 1\n", "job.variable_name", 5, "A-B"),
    ("variables: 5\n", "job.want_mapping", 4, "variables"),
    ("env: {A: '${oc.env:HOME}'}\n", "job.reference", 4, "$text"),
    ("env: {A: '${'}\n", "job.reference", 4, "${"),
    ("env: {A: '${{ 1'}\n", "job.reference", 4, "${"),
    ("env: {A: '${}'}\n", "job.reference", 4, "${}"),
    ("env: {A: '${A B}'}\n", "job.reference", 4, "${A B}"),
    ("env: {A: '${PATH}'}\n", "job.undefined_alone", 4, "PATH"),
    ("env: {A: '${{ 1 / 2 }}'}\n", "job.expression", 4, "//"),
    ("env: {A: '${{ 1 // 0 }}'}\n", "job.expression_zero", 4, "zero"),
    ("variables: {A: x}\nenv: {A: '${{ A }}'}\n", "job.operand", 4, "A is x"),
    ("variables: {A: true}\nenv: {A: '${{ A }}'}\n", "job.operand", 4, "A is True"),
]


@pytest.mark.parametrize(("text", "text_id", "line", "words"), _YAML + _TYPES + _VARIABLES)
def test_wrong_file_names_its_line(tmp_path: Path, text: str, text_id: str, line: int, words: str) -> None:
    if text.startswith("variables:"):
        text += ARGUMENTS
    error = refused(HEAD + text, tmp_path)
    assert error.text_id == text_id, error
    assert str(error).startswith(f"{tmp_path}/job.yaml:{line}: ")
    assert words in str(error)


@pytest.mark.parametrize(
    ("head", "text_id", "line"),
    [
        ("cluster: {nodes: 1, npus_per_node: 2}\ntrainer: {module: m}\n", "job.missing", 1),
        ("name: T\ncluster: {nodes: 1, npus_per_node: 2}\ntrainer: {module: m}\n", "job.want_name", 1),
        ("name: 5\ncluster: {nodes: 1, npus_per_node: 2}\ntrainer: {module: m}\n", "job.want_text", 1),
        (f"name: {'x' * 49}\ncluster: {{nodes: 1, npus_per_node: 2}}\ntrainer: {{module: m}}\n", "job.want_name", 1),
        ("name: t\ntrainer: {module: m}\n", "job.missing", 1),
        ("name: t\ncluster: {nodes: 1}\ntrainer: {module: m}\n", "job.missing", 2),
        ("name: t\ncluster: {nodes: 0, npus_per_node: 2}\ntrainer: {module: m}\n", "job.range", 2),
        ("name: t\ncluster: {nodes: '4', npus_per_node: 2}\ntrainer: {module: m}\n", "job.want_integer", 2),
        ("name: t\ncluster: {nodes: 4, npus_per_node: 2, labels: {a: 1}}\ntrainer: {module: m}\n", "job.want_text", 2),
        ("name: t\ncluster: {nodes: 4, npus_per_node: 2, on_unfit: x}\ntrainer: {module: m}\n", "job.choice", 2),
        ("name: t\ncluster: {nodes: 4, npus_per_node: 2, place_wait_s: 0}\ntrainer: {module: m}\n", "job.range", 2),
        ("name: t\ncluster: {nodes: 4, npus_per_node: 2}\n", "job.missing", 1),
        ("name: t\ncluster: {nodes: 4, npus_per_node: 2}\ntrainer: {module: -c x}\n", "job.want_module", 3),
        ("name: t\ncluster: {nodes: 4, npus_per_node: 2}\ntrainer: {module: m, launcher: mpi}\n", "job.choice", 3),
        (
            "name: t\ncluster: {nodes: 4, npus_per_node: 2}\ntrainer: {module: m, torchrun: {}}\n",
            "job.torchrun_unused",
            3,
        ),
        (
            "name: t\ncluster: {nodes: 4, npus_per_node: 2}\n"
            "trainer: {module: m, launcher: torchrun, torchrun: {master_addr: a b}}\n",
            "job.want_host",
            3,
        ),
        (
            "name: t\ncluster: {nodes: 4, npus_per_node: 2}\n"
            "trainer: {module: m, launcher: torchrun, torchrun: {master_port: 99999}}\n",
            "job.range",
            3,
        ),
    ],
)
def test_required_sections(tmp_path: Path, head: str, text_id: str, line: int) -> None:
    error = refused(head + ARGUMENTS, tmp_path)
    assert (error.text_id, error.place and error.place.line) == (text_id, line), error


class TestFile:
    @pytest.mark.parametrize("text", [b"", b"\n", b"# only a comment\n", b"---\n", b"\xef\xbb\xbf"])
    def test_empty(self, tmp_path: Path, text: bytes) -> None:
        assert refused(text, tmp_path).text_id in ("job.empty", "job.not_a_mapping")

    @pytest.mark.parametrize("text", [b"- a\n", b"just text\n", b"5\n", b"null\n"])
    def test_not_a_mapping(self, tmp_path: Path, text: bytes) -> None:
        assert refused(text, tmp_path).text_id == "job.not_a_mapping"

    @pytest.mark.parametrize(
        ("text", "text_id", "line"),
        [
            (b"name: x\nsummary: \xff\n", "job.not_utf8", 2),
            ("name: x".encode("utf-16"), "job.not_utf8", 1),
            (b"name: x\nsummary: a\0b\n", "job.control_character", 2),
            (b"name: x\nsummary: \x1b[31m\n", "job.control_character", 2),
        ],
    )
    def test_not_text(self, tmp_path: Path, text: bytes, text_id: str, line: int) -> None:
        error = refused(text, tmp_path)
        assert (error.text_id, error.place and error.place.line) == (text_id, line)

    def test_byte_order_mark_and_crlf_are_fine(self, tmp_path: Path) -> None:
        text = (HEAD + ARGUMENTS).replace("\n", "\r\n")
        assert load_text(b"\xef\xbb\xbf" + text.encode(), tmp_path).name == "tiny"

    def test_directory(self, tmp_path: Path) -> None:
        assert self._refused(tmp_path) == "job.directory"

    def test_large_file_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / "large.yaml"
        with path.open("wb") as file:
            file.truncate(50 << 20)
        started = time.monotonic()
        assert self._refused(path) == "job.too_large"
        assert time.monotonic() - started < 1

    def test_largest_file_is_read(self, tmp_path: Path) -> None:
        text = HEAD + ARGUMENTS
        comment = "#" * (source.MAX_JOB_BYTES - len(text))
        assert load_text(text + comment, tmp_path).name == "tiny"
        assert refused(text + comment + "#", tmp_path).text_id == "job.too_large"

    def test_pipe_and_device_do_not_hang(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert self._refused(tmp_path / "pipe") == "job.not_regular"
        assert self._refused(Path("/dev/zero")) == "job.not_regular"
        assert self._refused(Path("/dev/tty")) in ("job.not_regular", "job.unreadable")

    def test_unreadable(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "secret.yaml"
        path.write_text("name: x")

        def forbidden(*_: object) -> int:  # the permission bits do not stop root
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(source.os, "open", forbidden)
        assert self._refused(path) == "job.unreadable"

    def test_dangling_link_and_link_loop(self, tmp_path: Path) -> None:
        (tmp_path / "dangling").symlink_to("nowhere")
        (tmp_path / "loop").symlink_to("loop")
        assert self._refused(tmp_path / "dangling") == "job.unreadable"
        assert self._refused(tmp_path / "loop") == "job.unreadable"

    @pytest.mark.parametrize(
        "name", ["", "nowhere", "a/b/c.yaml", "x" * 5000, "a\0b", "\udcff", "/", "qwen\nx", ".yaml"]
    )
    def test_hostile_names(self, name: str) -> None:
        with pytest.raises(UsageError) as error:
            load_job(name, environ=HOME)
        assert len(error.value.render("zh").splitlines()) == 1
        error.value.render().encode()

    def _refused(self, path: Path) -> str:
        with pytest.raises(UsageError) as error:
            load_job(str(path), environ=HOME)
        assert str(path) in str(error.value)
        return error.value.text_id


class TestBombs:
    def test_aliases_that_double(self, tmp_path: Path) -> None:
        lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
        started = time.monotonic()
        error = refused("\n".join(lines), tmp_path)
        assert (error.text_id, error.values["limit"]) == ("job.too_much", document.MAX_SIZE)
        assert time.monotonic() - started < 2

    def test_aliases_of_a_long_text(self, tmp_path: Path) -> None:
        text = f"arguments:\n  data:\n    a: &a {'x' * 100_000}\n    b: [" + "*a, " * 1000 + "]\n"
        assert refused(HEAD + text, tmp_path).text_id == "job.too_much"

    def test_a_document_of_many_values(self, tmp_path: Path) -> None:
        text = "arguments:\n  data:\n    a: [" + "1, " * document.MAX_SIZE + "]\n"
        assert refused(HEAD + text, tmp_path).text_id == "job.too_much"

    def test_aliases_within_the_bound_are_expanded(self, tmp_path: Path) -> None:
        text = "arguments:\n  data:\n    a: &list [1, 2]\n    b: *list\n    c: [*list, *list]\n"
        (group,) = load_text(HEAD + text, tmp_path).groups
        first, second, third = (argument.value for argument in group.arguments)
        assert (second, third) == (first, [first, first])

    def test_variables_that_double(self, tmp_path: Path) -> None:
        lines = ["  V0: xxxxxxxxxx"] + [f"  V{n}: ${{V{n - 1}}}${{V{n - 1}}}" for n in range(1, 60)]
        started = time.monotonic()
        error = refused(HEAD + "variables:\n" + "\n".join(lines) + "\n" + ARGUMENTS, tmp_path)
        assert (error.text_id, error.values["limit"]) == ("job.expanded", variables.MAX_EXPANDED_CHARS)
        assert time.monotonic() - started < 2

    def test_a_long_environment_variable_used_often(self, tmp_path: Path) -> None:
        text = "variables: {A: x}\narguments:\n  data:\n    a: [" + ", ".join(["'-${A}'"] * 1000) + "]\n"
        assert refused(HEAD + text, tmp_path, A="y" * 100_000).text_id == "job.expanded"
        assert refused(HEAD + text.replace("-$", "$"), tmp_path, A="y" * 100_000).text_id == "job.expanded"

    def test_a_long_chain_of_variables_needs_no_deep_recursion(self, tmp_path: Path) -> None:
        lines = ["  V0: end"] + [f"  V{n}: ${{V{n - 1}}}" for n in range(1, 3000)]
        job = load_text(HEAD + "variables:\n" + "\n".join(reversed(lines)) + "\n" + ARGUMENTS, tmp_path)
        assert job.variables["V2999"].text == "end"

    def test_a_long_cycle(self, tmp_path: Path) -> None:
        lines = [f"  V{n}: ${{V{(n + 1) % 3000}}}" for n in range(3000)]
        assert refused(HEAD + "variables:\n" + "\n".join(lines) + "\n" + ARGUMENTS, tmp_path).text_id == "job.cycle"


def test_a_cycle_is_told_in_the_direction_of_the_references(tmp_path: Path) -> None:
    text = "variables:\n  A: ${B}\n  B: x${C}\n  C: ${{ A }}\n"
    error = refused(HEAD + text + ARGUMENTS, tmp_path)
    assert error.values["cycle"] in ("A -> B -> C -> A", "B -> C -> A -> B", "C -> A -> B -> C")


def test_a_circle_that_the_environment_would_break_is_still_one(tmp_path: Path) -> None:
    text = "variables:\n  A: ${B}\n  B: ${A}\n"
    assert refused(HEAD + text + ARGUMENTS, tmp_path, A="1").text_id == "job.cycle"


class TestGivenValues:
    JOB = HEAD.replace("nodes: 1", "nodes: '${NNODES}'") + "variables: {NNODES: 4, UNUSED: x}\narguments: {}\n"

    def test_set_without_equals(self, tmp_path: Path) -> None:
        error = refused(self.JOB, tmp_path, sets=["NNODES"])
        assert (error.text_id, str(error)) == ("job.set_form", "--set: wants NAME=VALUE")

    @pytest.mark.parametrize("name", ["NODES", "nnodes"])
    def test_set_of_an_undeclared_name(self, tmp_path: Path, name: str) -> None:
        error = refused(self.JOB, tmp_path, sets=[f"{name}=8"])
        assert error.text_id == "job.set_undeclared"
        assert "did you mean NNODES" in str(error)

    @pytest.mark.parametrize("name", ["__import__", ""])
    def test_a_name_that_is_near_to_nothing_gets_no_guess(self, tmp_path: Path, name: str) -> None:
        error = refused(self.JOB, tmp_path, sets=[f"{name}=8"])
        assert f"no variable {name or chr(39) * 2};" in str(error) and "did you mean" not in str(error)
        used = refused(HEAD + "arguments: {data: {a: '${{ __import__ }}'}}\n", tmp_path)
        assert "__import__ is not defined" in str(used) and "did you mean" not in str(used)

    @pytest.mark.parametrize("text", [HEAD.replace("name: tiny", "name: ''"), f"{HEAD}stack: ''\n"])
    def test_an_empty_value_can_be_seen(self, tmp_path: Path, text: str) -> None:
        assert " is ''; it wants" in str(refused(text + ARGUMENTS, tmp_path))

    @pytest.mark.parametrize("number", ["1" + "0" * 20, "-" + "9" * 5000, "1" + "0" * 9])
    def test_a_whole_number_out_of_bounds_hears_the_bounds(self, tmp_path: Path, number: str) -> None:
        error = refused(self.JOB, tmp_path, sets=[f"NNODES={number}"])
        assert error.text_id == "job.range"
        assert f"between {error.values['low']} and {error.values['high']}" in str(error)

    @pytest.mark.parametrize(
        "line",
        [
            "secrets: {WANDB_API_KEY: 0123abc}",
            "secrets: {WANDB_API_KEY: {file: 0123abc}}",
            "secrets: {WANDB_API_KEY: {env: 0123abc}}",
            "env:\n  WANDB_API_KEY=0123abc",
        ],
    )
    def test_a_secret_in_the_wrong_place_of_the_file_is_not_repeated(self, tmp_path: Path, line: str) -> None:
        assert "0123abc" not in str(refused(self.JOB + line, tmp_path))

    def test_no_value_is_repeated_that_may_be_a_secret(self, tmp_path: Path) -> None:
        for given in (["WANDB_API_KEY=0123abc"], ["UNUSED=0123abc\0"]):
            assert "0123abc" not in str(refused(self.JOB, tmp_path, sets=given))
        made = load_text(self.JOB, tmp_path, sets=["UNUSED=0123abc"])
        assert str(made.variables["UNUSED"].place) == "--set UNUSED"

    def test_the_later_set_wins(self, tmp_path: Path) -> None:
        assert load_text(self.JOB, tmp_path, sets=["NNODES=2", "NNODES=3"]).cluster.nodes == 3

    @pytest.mark.parametrize("text", ["abc", "4.0", "0x4", "4 4", " ", "٤", "${NNODES}"])
    def test_no_number_where_the_schema_wants_one(self, tmp_path: Path, text: str) -> None:
        by_environment = refused(self.JOB, tmp_path, NNODES=text)
        assert by_environment.text_id == "job.want_integer"
        assert str(by_environment).startswith("environment variable NNODES: cluster.nodes")
        assert str(refused(self.JOB, tmp_path, sets=[f"NNODES={text}"])).startswith("--set NNODES: ")

    def test_empty_set_is_an_empty_text(self, tmp_path: Path) -> None:
        assert refused(self.JOB, tmp_path, sets=["NNODES="]).text_id == "job.want_integer"

    def test_a_default_that_is_no_number_is_blamed_where_it_stands(self, tmp_path: Path) -> None:
        error = refused(self.JOB.replace("NNODES: 4", "NNODES: four"), tmp_path)
        assert error.place is not None
        assert (error.text_id, error.place.line) == ("job.want_integer", 4)

    @pytest.mark.parametrize("text", ["a\0b", "\udcff"])
    def test_text_that_no_process_can_take(self, tmp_path: Path, text: str) -> None:
        assert refused(self.JOB, tmp_path, sets=[f"UNUSED={text}"]).text_id == "job.not_text"
        with pytest.raises(UsageError):
            load_text(self.JOB, tmp_path, extra=[text])

    def test_an_environment_variable_that_is_not_utf8_is_refused(self, tmp_path: Path) -> None:
        assert refused(self.JOB, tmp_path, UNUSED="\udcff").text_id == "job.not_text"


@pytest.mark.parametrize("selector", ["a b", "in()", "in(a,,b)", "!!a", "-a", "x" * 64, "'; echo x"])
def test_a_label_that_no_node_can_have_is_refused(selector: str, tmp_path: Path) -> None:
    text = f'name: t\ncluster: {{nodes: 1, npus_per_node: 1, labels: {{pool: "{selector}"}}}}\ntrainer: {{module: m}}\n'
    error = refused(text, tmp_path)
    assert error.text_id == "job.want_label_selector"
    assert error.place is not None and error.place.line == 2
