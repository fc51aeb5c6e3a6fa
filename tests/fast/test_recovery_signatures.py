"""The table of signatures: every row holds for the line that it was written for, and is cheap to look for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from submitter.recovery.reasons import REASONS
from submitter.recovery.signatures import LITERAL_MIN_BYTES, Signature, SignatureError, signatures

TABLE = signatures()
GOOD = "- {reason: a, literal: abcdef, source: s, example: xabcdefx}\n"


def _name(signature: Signature) -> str:
    return f"{signature.place} {signature.literal[:30]}"


@pytest.mark.parametrize("signature", TABLE, ids=_name)
def test_a_signature_finds_the_line_it_was_written_for(signature: Signature) -> None:
    assert signature.reason in REASONS
    assert len(signature.core) >= LITERAL_MIN_BYTES
    assert signature.literal in signature.example
    assert signature.find(signature.example) is not None
    assert signature.literal.strip() == signature.literal or signature.pattern


def test_no_row_stands_twice() -> None:
    rows = Counter((one.reason, one.literal, one.pattern) for one in TABLE)
    assert [row for row, count in rows.items() if count > 1] == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("- 3", "not a mapping"),
        ("- {reason: a, literal: abcdef, source: s}", "example is missing"),
        (GOOD.strip()[:-1] + ", rolle: root}", "unknown key rolle"),
        (GOOD.strip()[:-1] + ", role: rot}", "role rot"),
        (GOOD.strip()[:-1] + ", strength: 9}", "strength 9"),
        (GOOD.strip()[:-1] + ", phase: later}", "phase later"),
        (GOOD.replace("abcdef,", "123456,"), "literal is no text"),
    ],
)
def test_a_wrong_row_is_told_with_its_place(row: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(GOOD + row)
    with pytest.raises(SignatureError, match=f"bad.yaml row 2: .*{problem}"):
        signatures(tmp_path)
