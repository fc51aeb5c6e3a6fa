"""`${{ … }}`: the same integer as Python's own arithmetic, or one line of error."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.arguments.assemble import arguments
from submitter.errors import Place, UsageError
from submitter.job.expression import MAX_EXPRESSION_CHARS, MAX_RESULT, evaluate, names_in
from tests.support.job_files import HEAD, load_text

PLACE = Place("job.yaml", 7)
VALUES = {"A": 3, "B_1": -7, "ZERO": 0}


def value(text: str, *, as_bash: bool = False) -> int:
    return evaluate(text, VALUES.__getitem__, PLACE, as_bash=as_bash)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" 1024 * 32 ", 32768),
        ("1024*4", 4096),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("10 - 3 - 2", 5),
        ("100 // 7 // 2", 7),
        ("-7 // 2", -4),
        ("7 % -3", -2),
        ("- - +5", 5),
        ("A * B_1", -21),
        ("2*\n(A)", 6),
        ("007", 7),
        ("00", 0),
    ],
)
def test_arithmetic(text: str, expected: int) -> None:
    assert value(text) == expected


_LEAVES = st.one_of(st.integers(0, 99).map(str), st.sampled_from(["A", "B_1"]))
_EXPRESSIONS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
    ),
    max_leaves=8,
)


@given(_EXPRESSIONS)
def test_is_what_python_computes(text: str) -> None:
    try:
        expected = eval(text, {}, dict(VALUES))  # of this test's own strings
    except ZeroDivisionError:
        with pytest.raises(UsageError):
            value(text)
        return
    if len(text) <= MAX_EXPRESSION_CHARS and abs(expected) < 10**12:
        assert value(text) == expected


@given(st.text("0123456789AB_+-*/%() .eE'\"[]", max_size=40))
def test_anything_else_is_one_error(text: str) -> None:
    try:
        assert isinstance(value(text), int)
    except KeyError:
        assert set(names_in(text)) - VALUES.keys()
    except UsageError as error:
        assert str(error).startswith("job.yaml:7: ")


@pytest.mark.parametrize(
    ("text", "text_id"),
    [
        ("", "job.expression"),
        ("1 +", "job.expression"),
        ("2 ** 3", "job.expression"),
        ("1 / 2", "job.expression"),
        ("1.5", "job.expression"),
        ("1 2", "job.expression"),
        ("(1", "job.expression"),
        ("1)", "job.expression"),
        ("__import__('os')", "job.expression"),
        ("A.B", "job.expression"),
        ("1 if 1 else 2", "job.expression"),
        ("(" * 90 + "1" + ")" * 90, "job.expression"),
        ("1" + "+1" * 100, "job.expression_long"),
        ("1 + 010", "job.expression_octal"),
        ("08", "job.expression_octal"),
        ("1 // ZERO", "job.expression_zero"),
        ("1 % (A - 3)", "job.expression_zero"),
        ("9" * 30, "job.expression_range"),
        ("*".join(["99999999"] * 20), "job.expression_range"),
    ],
)
def test_refused(text: str, text_id: str) -> None:
    with pytest.raises(UsageError) as error:
        value(text)
    assert error.value.text_id == text_id


def bash_value(text: str) -> int | None:
    """None: bash has no value for it."""
    script = 'A=3 B_1=-7 ZERO=0; printf "%s" "$(( ${1//\\/\\//\\/} ))"'
    done = subprocess.run(["bash", "-c", script, "bash", text], capture_output=True, text=True, timeout=30, check=False)
    return int(done.stdout) if done.returncode == 0 else None


@settings(max_examples=60, deadline=None)
@given(st.one_of(_EXPRESSIONS, st.sampled_from(["010", "007 + 08", "-7 // 2", "7 % -3", "-A // 2", "--A", "A++1"])))
def test_an_imported_script_computes_what_bash_does(text: str) -> None:
    try:
        ours = value(text, as_bash=True)
    except UsageError:
        return
    assert bash_value(text) == ours


@pytest.mark.parametrize("text", ["-7 // 2", "7 // B_1", "7 % -3", "B_1 % 2", "(1 - 3) // 2"])
def test_bash_rounds_otherwise(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as error:
        value(text, as_bash=True)
    assert error.value.text_id == "job.expression_negative"
    own = HEAD + "variables: {N: -7}\narguments: {data: {a: '${{ N // 2 }}'}}\n"
    assert arguments(load_text(own, tmp_path)) == ["a=-4"]
    with pytest.raises(UsageError, match="bash rounds"):
        load_text(own + "imported: {}\n", tmp_path)


def test_what_bash_reads_as_octal(tmp_path: Path) -> None:
    text = HEAD + "variables: {N: 4}\narguments: {data: {a: '${{ N }}'}}\n"
    for octal in ("010", "-010", "+08", "0_10"):
        with pytest.raises(UsageError, match="octal"):
            load_text(text, tmp_path, environ={"N": octal})
    for operand, same in (("007", "7"), ("-07", "-7"), ("0", "0"), ("-0", "0"), ("10", "10")):
        assert arguments(load_text(text, tmp_path, sets=[f"N={operand}"])) == [f"a={same}"]


def test_bounds_are_inclusive() -> None:
    assert value(str(MAX_RESULT)) == MAX_RESULT
    assert value("1" + "+1" * 99 + " ") == 100
    assert value("-" * 199 + "1") == -1


def test_in_a_job(tmp_path: Path) -> None:
    text = HEAD + (
        "variables: {N: 4, M: '${{ N * 2 }}'}\n"
        "arguments:\n"
        "  data:\n"
        "    whole: ${{ N * M }}\n"
        "    inside: x${{ N }}-${{M}}\n"
        "    listed: ['${{ N - 5 }}']\n"
    )
    assert arguments(load_text(text, tmp_path)) == ["whole=32", "inside=x4-8", "listed=[-1]"]
    assert arguments(load_text(text, tmp_path, sets=["N=1_0"])) == ["whole=200", "inside=x10-20", "listed=[5]"]


def test_an_operand_from_outside_is_blamed_on_its_place(tmp_path: Path) -> None:
    text = HEAD + "variables: {N: 4}\narguments: {data: {a: '${{ N }}'}}\n"
    with pytest.raises(UsageError, match=r"^environment variable N: N is four"):
        load_text(text, tmp_path, environ={"N": "four"})
    with pytest.raises(UsageError, match=r"^--set N: N is 1\.5"):
        load_text(text, tmp_path, sets=["N=1.5"])
