"""Both languages say the same, the code and the table know the same ids, and nothing read by people breaks a line."""

from __future__ import annotations

import ast
import json
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from submitter.texts import FAR, TABLE, text

ROOT = Path(__file__).parents[2]
CODE = [
    path
    for folder in ("submitter", "runtime_env", "jobs")
    for path in (ROOT / folder).rglob("*.py")
    if "texts" not in path.relative_to(ROOT).parts
]

# Functions whose first argument is a text id -> the values that they add to those of the call.
TELLERS: dict[str, set[str]] = {
    **{name: set() for name in ("UsageError", "NotPlacedError", "RunFailedError", "UnreachableError", "LedgerError")},
    **{name: set() for name in ("tell", "_tell", "say", "text", "usage_error")},
    "failure": {"address"},
    "_say": {"run", "seconds"},
}


def _placeholders(template: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}


@cache
def _nodes() -> list[tuple[Path, ast.AST]]:
    return [(path, node) for path in CODE for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def _calls() -> Iterator[tuple[str, str, ast.Call]]:
    """(place, function, call) of each call with a literal as its first argument; the gang says plain English."""
    for path, node in _nodes():
        if (
            "gang" not in path.parts
            and isinstance(node, ast.Call)
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", "").replace("text", "")  # settings.text
            if name in TELLERS and isinstance(node.args[0].value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", name, node


def _words() -> set[str]:
    """Every literal of the code and of the pages, and every word of its YAML files."""
    literals = {node.value for _, node in _nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    yaml = (ROOT / "submitter" / "rehearsal" / "overlay.yaml").read_text(encoding="utf-8")
    pages = " ".join(_pages())
    literals |= set(re.findall(r"""["'`]([\w.]+)["'`]""", pages))
    said = f"{yaml} {pages}"
    return literals | set(re.findall(r"\w+", said)) | {word for one in literals for word in re.findall(r"\w+", one)}


def _pages() -> list[str]:
    """Templates and scripts."""
    files = sorted((ROOT / "submitter" / "watch").rglob("*"))
    return [file.read_text(encoding="utf-8") for file in files if file.suffix in (".html", ".js")]


def _patterns() -> list[re.Pattern[str]]:
    """Of the ids that are put together: `cli.column.{name}`."""
    found = []
    for _, node in _nodes():
        if isinstance(node, ast.JoinedStr):
            pieces = [str(part.value) if isinstance(part, ast.Constant) else None for part in node.values]
            fixed = "".join(piece or "" for piece in pieces)
            if re.fullmatch(r"[a-z_.]+", fixed) and "." in fixed and re.search(r"[a-z]", fixed):
                found.append("".join(r"([\w]+)" if piece is None else re.escape(piece) for piece in pieces))
    pages = " ".join(_pages())
    # Of scripts: `web.state.${name}`; of templates: 'web.' ~ name ~ '_sure'.
    for piece in re.findall(r"`([\w.]+(?:\$\{[^}`]*\}[\w.]*)+)`", pages):
        found.append(r"([\w]+)".join(re.escape(part) for part in re.split(r"\$\{[^}`]*\}", piece)))
    for begin, end in re.findall(r"'([\w.]+\.)' ~ \w+(?: ~ '(\w+)')?", pages):
        found.append(rf"{re.escape(begin)}([\w]+){re.escape(end)}")
    return [re.compile(pattern) for pattern in found]


@pytest.mark.parametrize("text_id", sorted(TABLE))
def test_languages_use_the_same_placeholders(text_id: str) -> None:
    english, chinese = TABLE[text_id]
    assert _placeholders(english) == _placeholders(chinese)
    assert chinese.strip() and english.strip()
    assert "\n" not in english + chinese


def test_every_text_that_is_told_exists_and_gets_its_values() -> None:
    calls = list(_calls())
    assert len(calls) > 150
    for place, function, call in calls:
        assert isinstance(call.args[0], ast.Constant)
        text_id = str(call.args[0].value)
        assert text_id in TABLE, place
        given = {keyword.arg for keyword in call.keywords}
        if None not in given:  # no **values
            assert _placeholders(TABLE[text_id][0]) <= given | TELLERS[function], place


def test_every_text_is_used() -> None:
    words, patterns = _words(), _patterns()
    told = {text_id.removesuffix(FAR) for text_id in TABLE}
    unused = [
        text_id
        for text_id in sorted(told)
        if text_id not in words
        and not any((match := one.fullmatch(text_id)) and words.issuperset(match.groups()) for one in patterns)
    ]
    assert unused == []


def test_no_sentence_names_nothing_as_the_nearest() -> None:
    said = {text_id: TABLE[text_id] for text_id in TABLE if text_id.endswith(FAR)}
    assert len(said) > 8 and not any("{nearest}" in one for pair in said.values() for one in pair)
    assert all("{nearest}" in TABLE[text_id.removesuffix(FAR)][0] for text_id in said)
    assert text("stack.unknown", name="x", nearest="-", known="a, b") == "there is no stack x (known: a, b)"
    assert "nearest" in text("stack.unknown", name="x", nearest="a", known="a, b")


def test_values_cannot_break_the_line_or_move_the_cursor() -> None:
    shown = text("cli.next.follow", run="a\nb\x1b[2J'; rm")
    assert "\n" not in shown and "\x1b" not in shown
    assert "\\n" in shown


HALF_WIDTH = re.compile(r"[\u4e00-\u9fff] ?[,;:!?]|[\u4e00-\u9fff]\((?!\w+\))")


def test_chinese_has_full_width_punctuation() -> None:
    """But for the reasons behind a rehearsal's changes, which stand in a column of code."""
    told = {text_id: chinese for text_id, (_, chinese) in TABLE.items() if not text_id.startswith("rehearsal.because.")}
    assert {text_id: chinese for text_id, chinese in told.items() if HALF_WIDTH.search(chinese)} == {}


PROSE = re.compile(r"[a-z]{2,} [a-z]{2,}")
TOLD_OTHERWISE = {
    "not read",  # an answer of runtime_env.flags, compared
}


def test_rules_put_no_english_words_into_values() -> None:
    """A value stands in a text of either language: words belong into the table, as a `Phrase`."""
    found = []
    for path in sorted((ROOT / "submitter" / "checks").glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                inside = [node for statement in function.body for node in ast.walk(statement)]
                documentation = {id(node.value) for node in inside if isinstance(node, ast.Expr)}
                found += [
                    f"{path.name}:{node.lineno} {node.value}"
                    for node in inside
                    if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
                    if PROSE.search(node.value) and node.value not in TOLD_OTHERWISE
                ]
    assert found == []


def test_what_replaces_a_flag_is_said_without_english_words() -> None:
    rows = json.loads((ROOT / "runtime_env" / "flags.json").read_text(encoding="utf-8"))
    words = {row["name"]: re.findall(r"\b(?:to|of|then|and|or|since|the)\b", row["successor"] or "") for row in rows}
    assert {name: found for name, found in words.items() if found} == {}
