"""`quoting: verbatim` and lists of words: the argv is what stands in the file, character for character."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.arguments.assemble import argument_text, arguments, argv
from submitter.checks.settings import Settings
from submitter.checks.spelled import last_text
from submitter.errors import Place, UsageError
from submitter.job.model import Job
from submitter.rehearsal.overlay import apply_overlay
from tests.support.checks import findings_of
from tests.support.job_files import HEAD, load_text
from tests.support.values import HOSTILE

VERBATIM = HEAD + "quoting: verbatim\n"
KEY = "hf_" + "AbCdEfGh12" * 3

texts = st.one_of(
    st.sampled_from([text for text in HOSTILE if "${" not in text]),
    st.text("ab1e0.-+_ \t\n'\"\\={}[],:;#~!@%&*?|<>`é数", max_size=10),
    st.from_regex(r"\A[-+]?[0-9]{1,3}(\.[0-9]{1,3})?[eE][-+]?[0-9]{1,3}\Z"),
)


def dumped(folder: Path, **sections: object) -> Job:
    """Written, read and written again by PyYAML."""
    text = yaml.safe_dump({**yaml.safe_load(HEAD), **sections}, sort_keys=False)
    return load_text(yaml.safe_dump(yaml.safe_load(text), sort_keys=False), folder)


@settings(max_examples=150)
@given(st.lists(texts, max_size=4), texts)
def test_any_text_is_passed_on_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, values: list[str], variable: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    own = {f"k{index}": value for index, value in enumerate(values)}
    group = {**own, "inside": "<${V}/${V}>"}
    words = [*values, *(f"k={value}" for value in values), "a=${V}", "${V}${V}", "{x}"]
    given_by_text = {"V": {"$text": variable}}
    job = dumped(folder, quoting="verbatim", variables=given_by_text, arguments={"group": group, "words": words})
    assert arguments(job) == [
        *(f"{key}={value}" for key, value in own.items()),
        f"inside=<{variable}/{variable}>",
        *values,
        *(f"k={value}" for value in values),
        f"a={variable}",
        variable * 2,
        "{x}",
    ]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("'1e-6'", "1e-6"),
        ("1e-6", "1e-6"),
        ("'1e999'", "1e999"),
        ("'010'", "010"),
        ("'True'", "True"),
        ("'null'", "null"),
        ("''", ""),
        ("'[\"console\"]'", '["console"]'),
        ("'${DIR}/a b'", "/x y/a b"),
        ("'${DIR}'", "/x y"),
        ("'${LR}'", "1e-6"),
        ("'${N}e-6'", "4e-6"),
        ("'${{ N * 2 }}'", "8"),
        ("'<${{ N * 2 }}>'", "<8>"),
        ("'${ON_}-${NONE}'", "True-null"),
        ("0.10", "0.10"),
        ("yes", "True"),
        ("null", "null"),
        ("{$text: '${N}'}", "${N}"),
        ("['a b', '${DIR}', 1]", "['a b','/x y',1]"),
        ("{a: 'b c'}", "{a:'b c'}"),
    ],
)
def test_verbatim(tmp_path: Path, written: str, text: str) -> None:
    job = f"variables: {{DIR: /x y, N: 4, LR: 1e-6, ON_: yes, NONE: null}}\narguments:\n  data:\n    a: {written}\n"
    assert arguments(load_text(VERBATIM + job, tmp_path)) == [f"a={text}"]


def test_hydra_is_the_default(tmp_path: Path) -> None:
    job = "arguments: {data: {a: '[x]', b: 'c d'}}\n"
    quoted = ["a='[x]'", "b='c d'"]
    assert arguments(load_text(HEAD + job, tmp_path)) == quoted
    assert arguments(load_text(HEAD + "quoting: hydra\n" + job, tmp_path)) == quoted
    assert arguments(load_text(VERBATIM + job, tmp_path)) == ["a=[x]", "b=c d"]


def test_a_bare_deletion_stays_one(tmp_path: Path) -> None:
    assert arguments(load_text(VERBATIM + "arguments: {data: {~a.b: null}}\n", tmp_path)) == ["~a.b"]


WORDS = """\
variables: {X: "/data/a b", N: 4, ON_: yes}
arguments:
  data:
    data.train_files: first
  words:
    - data.train_files=${X}
    - --lr
    - 1e-6
    - --config-name=other
    - '+trainer.x="${X}"'
    - ~a.b
    - n=${{ N * 2 }}
    - ${N}
    - ${ON_}
    - {$text: 'v=${N}'}
    - ''
    - data.train_files=last
    - '5'
  config:
    --config-path: config
"""


def test_words_stay_in_order(tmp_path: Path) -> None:
    assert arguments(load_text(HEAD + WORDS, tmp_path)) == [
        "--config-path=config",
        "data.train_files=first",
        "data.train_files=/data/a b",
        "--lr",
        "1e-6",
        "--config-name=other",
        '+trainer.x="/data/a b"',
        "~a.b",
        "n=8",
        "4",
        "True",
        "v=${N}",
        "",
        "data.train_files=last",
        "5",
    ]


def test_a_value_from_outside_is_one_word(tmp_path: Path) -> None:
    text = HEAD + "variables: {X: x}\narguments:\n  w: ['${X}', 'a=${X}']\n"
    for value in HOSTILE:
        assert arguments(load_text(text, tmp_path, sets=[f"X={value}"])) == [value, f"a={value}"]


def test_words_have_places_that_show_no_value(tmp_path: Path) -> None:
    (_, group, _) = load_text(HEAD + WORDS, tmp_path).groups
    first, option, number, *_ = group.arguments
    file = str(tmp_path / "job.yaml")
    assert first.place == Place(file, 9, "data.train_files")
    assert [option.place, number.place] == [Place(file, 10, "arguments.words"), Place(file, 11, "arguments.words")]
    assert [argument_text(one) for one in group.arguments] == arguments(load_text(HEAD + WORDS, tmp_path))[2:]


@pytest.mark.parametrize(
    ("words", "text_id", "line"),
    [
        ("[5]", "job.want_text", 5),
        ("[a, 0.10]", "job.want_text", 5),
        ("[yes]", "job.want_text", 5),
        ("\n  - a\n  - null", "job.want_text", 7),
        ("\n  - a\n  -", "job.want_text", 7),
        ("[[a]]", "job.not_a_scalar", 5),
        ("[a: b]", "job.not_a_scalar", 5),
        ("[010]", "job.number_spelling", 5),
        ("['${X}']", "job.undefined_alone", 5),
        (f"['a={'[' * 30}']", "job.too_deep", 5),
    ],
)
def test_what_is_no_word(tmp_path: Path, words: str, text_id: str, line: int) -> None:
    with pytest.raises(UsageError) as error:
        load_text(f"{HEAD}arguments:\n  w: {words}\n", tmp_path)
    assert (error.value.text_id, error.value.place and error.value.place.line) == (text_id, line)


@pytest.mark.parametrize("quoting", ["verbatims", "''", "true", "[verbatim]"])
def test_no_such_quoting(tmp_path: Path, quoting: str) -> None:
    with pytest.raises(UsageError, match="quoting"):
        load_text(f"{HEAD}quoting: {quoting}\narguments: {{}}\n", tmp_path)


class TestChecks:
    def test_a_word_is_the_argument_that_it_says(self, tmp_path: Path) -> None:
        text = "  w: [a.b=1, --a.d, '7', '++a.c={x: 2}', ~a.e=5, a.b=3, a.f]\n"
        job = load_text(f"{HEAD}arguments:\n{text}", tmp_path)
        read = Settings(job, None)
        assert (read.integer("a.b"), read.integer("a.c.x")) == (3, 2)
        assert read.place("a.b") == Place(str(tmp_path / "job.yaml"), 5, "a.b")
        assert not any(read.is_set(key) for key in ("--a.d", "a.d", "a.e", "7", "a.f"))
        assert last_text(job, "a.b") == "3"

    def test_the_config_name_of_a_word_counts(self, tmp_path: Path) -> None:
        for words in ("[--config-name=other.yaml]", "[--config-name, other]"):
            assert Settings(load_text(f"{HEAD}arguments: {{w: {words}}}\n", tmp_path), None).config == "other"

    @pytest.mark.parametrize("words", [f"[a.b={KEY}]", f"[{KEY}]", f"[--token, {KEY}]", "[--password, hunter2]"])
    def test_a_secret_in_a_word_is_refused_and_not_shown(self, tmp_path: Path, words: str) -> None:
        found = findings_of(load_text(f"{HEAD}arguments:\n  w: {words}\n", tmp_path), "NR431")
        assert found and {one.place.line for one in found} == {5}
        assert not any(secret in repr(found) for secret in (KEY, "hunter2"))

    def test_options_of_two_groups_are_no_pair(self, tmp_path: Path) -> None:
        text = "arguments:\n  v: [--password]\n  w: [hunter2]\n  x: {a.password: null}\n"
        assert findings_of(load_text(HEAD + text, tmp_path), "NR431") == []


def test_a_rehearsal_changes_words_as_it_does_arguments(tmp_path: Path) -> None:
    steps = "trainer.total_training_steps"
    words = f"[algorithm.adv_estimator=grpo, {steps}=900, a.own=1, {steps}=800, --x]"
    job = load_text(f"{HEAD}arguments: {{w: {words}}}\n", tmp_path)
    rehearsed, changes = apply_overlay(job, tmp_path)
    told = {change.key: (change.before, change.after) for change in changes}
    assert told[steps] == ("800", "6")
    assert [word for word in argv(rehearsed) if steps in word] == [f"{steps}=6"]
    assert {"a.own=1", "--x"} <= set(argv(rehearsed))
