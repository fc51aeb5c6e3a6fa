"""Both languages say the same, and nothing that a user reads can break a line."""

import string

import pytest

from submitter.texts import TABLE, text


def _placeholders(template: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}


@pytest.mark.parametrize("text_id", sorted(TABLE))
def test_languages_use_the_same_placeholders(text_id: str) -> None:
    english, chinese = TABLE[text_id]
    assert _placeholders(english) == _placeholders(chinese)
    assert chinese.strip() and english.strip()
    assert "\n" not in english + chinese


def test_values_cannot_break_the_line_or_move_the_cursor() -> None:
    shown = text("cli.next.follow", run="a\nb\x1b[2J'; rm")
    assert "\n" not in shown and "\x1b" not in shown
    assert "\\n" in shown
