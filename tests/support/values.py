"""Values of every kind, as hypothesis strategies, and what a trainer should find in its config for each."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from submitter.job.hydra_grammar import dict_key_text
from submitter.job.model import Number, Value

HOSTILE = (
    "",
    " ",
    " leading and trailing ",
    "'; echo x",
    '"; echo x; "',
    "$(x)",
    "`x`",
    "${oc.env:HOME}",
    "a${b}c",
    "\\${b}",
    "\\\\${b}",
    "$${b}",
    "${",
    "${}",
    "}${a${b}}",
    "\\",
    "\\\\",
    "a\\",
    "\\'",
    "'\\'",
    "\\\\'",
    "it's",
    'say "x"',
    "both ' and \"",
    "'quoted'",
    "line\nbreak",
    "\ttab\t",
    "a=b",
    "a,b",
    "a:b",
    ":",
    "{a:b}",
    "[a]",
    "f(x)",
    "choice(a,b)",
    "null",
    "NULL",
    "true",
    "False",
    "1",
    "-1",
    "+1",
    "1_000",
    "1.5",
    "1.",
    ".5",
    "1e-6",
    "1e5",
    "inf",
    "-Inf",
    "nan",
    "0x10",
    "010",
    "1:30",
    "2024-01-01",
    "yes",
    "~",
    "*",
    "&a",
    "!tag",
    "# no comment",
    "%",
    "@",
    "?",
    "|",
    "-",
    "--flag",
    "http://host:8265/path?x=1&y=2",
    "数据/路径",
    "é",
    "🚀",
    "\x7f\x1b[31m",
    "\u2028",
)

_ALPHABET = "ab1e0.-+_ \t\n'\"\\$={}[](),:;#~!@%&*?|<>`/é数"
texts = st.one_of(st.sampled_from(HOSTILE), st.text(_ALPHABET, max_size=12), st.text(max_size=8))
argument_texts = texts.filter(lambda text: "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text))

numbers = st.one_of(
    st.integers().map(str),
    st.integers(0, 10**6).map(lambda number: f"{number:_}"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["1e-6", "1E+5", "-1.5e3", ".5", "1.", "+3", "-0.0", "inf", "-inf", "0.10"]),
).map(Number)

dict_keys = st.text("ab1_-/.$%*@?|()[]{}:=, \\\t", min_size=1, max_size=6).filter(
    lambda key: dict_key_text(key) is not None
)


def _values() -> st.SearchStrategy[Value]:
    leaves = st.one_of(st.none(), st.booleans(), numbers, argument_texts)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(dict_keys, inner, max_size=3)),
        max_leaves=8,
    )


values = _values()


def plain(value: Value) -> Any:
    """`value` as the Python object that a trainer should find in its config."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Number):
        try:
            return int(value.spelling)
        except ValueError:
            return float(value.spelling)
    return value


def same(left: Any, right: Any) -> bool:
    """Equal in value and in type: 1, 1.0, True and "1" all differ."""
    return repr(left) == repr(right)
