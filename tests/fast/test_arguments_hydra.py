"""Held against Hydra itself: what is composed is what was written, and Hydra's grammar is what we take it for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hydra import compose, initialize
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from submitter.arguments.assemble import argument_text
from submitter.arguments.values import value_text
from submitter.errors import Place, UsageError
from submitter.job.document import Scalar, plain_kind
from submitter.job.hydra_grammar import KEY, dict_key_text, is_reserved
from submitter.job.model import Argument, Number, RawText, Value
from submitter.job.scalars import typed
from tests.support.values import HOSTILE, argument_texts, dict_keys, plain, same, values

PARSER = OverridesParser.create()
# Hydra needs 10 to 100 ms to compose and to parse a few overrides; each example composes many.
THOROUGH = settings(max_examples=25)


@pytest.fixture(scope="module", autouse=True)
def hydra() -> Iterator[None]:
    with initialize(version_base="1.3", config_path=None):
        yield


def composed(arguments: list[str]) -> Any:
    return OmegaConf.to_container(compose(overrides=arguments), resolve=True)


def parsed(argument: str) -> Override:
    return PARSER.parse_override(argument)


class TestWhatIsComposedIsWhatWasWritten:
    @THOROUGH
    @given(st.lists(values, min_size=1, max_size=12))
    def test_any_value(self, written: list[Value]) -> None:
        found = composed([f"+k{index}={value_text(value)}" for index, value in enumerate(written)])
        for index, value in enumerate(written):
            assert same(found[f"k{index}"], plain(value))

    @pytest.mark.parametrize(
        "wrap", [lambda x: x, lambda x: [x, x], lambda x: {"a": x, "b": x}, lambda x: [{"a": [x]}]]
    )
    def test_hostile_strings(self, wrap: Any) -> None:
        found = composed([f"+k{index}={value_text(wrap(text))}" for index, text in enumerate(HOSTILE)])
        for index, text in enumerate(HOSTILE):
            assert same(found[f"k{index}"], wrap(text))

    @THOROUGH
    @given(argument_texts)
    def test_a_string_is_one_value_and_no_sweep(self, text: str) -> None:
        override = parsed(f"key={value_text(text)}")
        assert not override.is_sweep_override()
        assert override.key_or_group == "key"

    @pytest.mark.parametrize(
        ("prefix", "kind"),
        [("", OverrideType.CHANGE), ("+", OverrideType.ADD), ("++", OverrideType.FORCE_ADD), ("~", OverrideType.DEL)],
    )
    @settings(max_examples=20)
    @given(value=values)
    def test_prefixes(self, prefix: str, kind: OverrideType, value: Value) -> None:
        assume("${" not in repr(value))  # only composition removes OmegaConf's escape
        override = parsed(argument_text(Argument(f"{prefix}a.b", value, Place())))
        assert (override.type, override.key_or_group) == (kind, "a.b")
        assert same(override.value(), plain(value))

    def test_deletion_with_and_without_value(self) -> None:
        start = ["+a.b=1", "+a.c=x"]
        assert composed([*start, argument_text(Argument("~a.b", None, Place()))]) == {"a": {"c": "x"}}
        assert composed([*start, argument_text(Argument("~a.c", "x", Place()))]) == {"a": {"b": 1}}
        assert argument_text(Argument("~a.b", None, Place())) == "~a.b"
        assert argument_text(Argument("a.b", None, Place())) == "a.b=null"

    def test_raw_text_may_interpolate(self) -> None:
        assert composed(["+a=5", f"+b={value_text(RawText('${a}'))}"]) == {"a": 5, "b": 5}


class TestCanonicalText:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "null"),
            (True, "True"),
            (False, "False"),
            (Number("1e-6"), "1e-6"),
            (Number("0.10"), "0.10"),
            ("vllm", "vllm"),
            ("/data/geo3k/train.parquet", "/data/geo3k/train.parquet"),
            ("http://host:8265/x", "http://host:8265/x"),
            ("", "''"),
            ("null", "'null'"),
            ("True", "'True'"),
            ("1e-6", "'1e-6'"),
            ("a b", "'a b'"),
            ("a,b", "'a,b'"),
            ("it's", '"it\'s"'),
            ('it\'s "x"', "'it\\'s \"x\"'"),
            ("a\\", "'a\\\\'"),
            ("${x}", "'\\${x}'"),
            ([Number("4"), "a", None, [True]], "[4,a,null,[True]]"),
            ({"a b": {"c": []}, "d": "e f"}, "{a\\ b:{c:[]},d:'e f'}"),
            ([], "[]"),
            ({}, "{}"),
            (RawText("['model']"), "['model']"),
            ([RawText("${n}"), RawText("1,2")], "[${n},1,2]"),
        ],
    )
    def test_spelling(self, value: Value, text: str) -> None:
        assert value_text(value) == text

    @pytest.mark.parametrize("key", ["", "1", "1e5", "null", "True", "it's", "é", "a\nb", "a;b"])
    def test_a_key_that_hydra_cannot_express_is_refused(self, key: str) -> None:
        assert dict_key_text(key) is None
        with pytest.raises(ValueError, match="cannot express"):
            value_text({key: "x"})


class TestGrammar:
    """The patterns of `hydra_grammar` are Hydra's own."""

    @settings(max_examples=200)
    @given(st.text("ab1.$@/+~-_ =\n", max_size=9))
    @example("~a")
    @example("a/b@c.d")
    @example("a@")
    @example("a.0.b")
    @example("a.01")
    def test_keys(self, key: str) -> None:
        try:
            override = parsed(f"{key}=1")
        except HydraException:
            assert KEY.fullmatch(key) is None
            return
        bare = key.lstrip("+~")
        if override.key_or_group and override._value == 1 and "=" not in key:
            assert KEY.fullmatch(key) is not None
            assert bare == override.key_or_group + ("" if override.package is None else f"@{override.package}")
        else:  # an empty key, or one whose own "=" begins the value
            assert KEY.fullmatch(key) is None

    @settings(max_examples=200)
    @given(st.text("01_.eE+-naifNul", min_size=1, max_size=7))
    @example("null")
    @example("TRUE")
    @example("-Inf")
    @example("1_0e1_0")
    def test_reserved_words(self, text: str) -> None:
        assert is_reserved(text) == (not isinstance(parsed(f"k={text}").value(), str))

    @settings(max_examples=100)
    @given(dict_keys)
    def test_dict_keys(self, key: str) -> None:
        assert parsed(f"k={{{dict_key_text(key)}:1}}").value() == {key: 1}


_NUMBER_TEXTS = st.one_of(
    st.from_regex(
        r"\A[-+]?(0|[1-9][0-9_]{0,8}|0x[0-9a-f_]{1,4}|0[0-7_]{1,4}|0b[01_]{1,4}|[1-9][0-9_]*(:[0-5]?[0-9]){1,2})\Z"
    ),
    st.from_regex(r"\A[-+]?([0-9][0-9_]{0,5})?\.[0-9_]{0,5}([eE][-+]?[0-9]{1,3})?\Z"),
    st.from_regex(r"\A[-+]?[0-9]{1,4}[eE][-+]?[0-9]{1,3}\Z"),
    st.sampled_from([".inf", "-.INF", "+.Inf", ".nan", ".NaN"]),
)


class TestNumbers:
    @settings(max_examples=200)
    @given(_NUMBER_TEXTS)
    def test_yaml_and_hydra_read_the_same_or_the_number_is_refused(self, text: str) -> None:
        kind = plain_kind(text)
        try:
            value = typed(Scalar(text, plain=True, line=1), Place()).value
        except UsageError as error:
            assert error.text_id in ("job.number_spelling", "job.number_broken", "job.number_range", "job.number_long")
            return
        assume(isinstance(value, Number))
        by_hydra = parsed(f"k={value_text(value)}").value()
        assert isinstance(by_hydra, (int, float))
        if kind in ("int", "float"):
            assert same(by_hydra, yaml.safe_load(text))
        else:  # YAML 1.1 reads an exponent without a point as text; it is a number all the same
            assert by_hydra == float(text)

    @pytest.mark.parametrize("text", ["1e-6", "-1E3", "1.5e3", "+2e+10"])
    def test_an_exponent_is_a_number_with_and_without_quotes(self, text: str) -> None:
        plain_one = typed(Scalar(text, plain=True, line=1), Place())
        quoted = typed(Scalar(text, plain=False, line=1), Place())
        assert plain_one == quoted
        assert plain_one.value == Number(text)


@pytest.mark.timeout(10)
def test_a_long_run_of_backslashes_takes_no_longer() -> None:
    assert value_text("\\" * 200_000 + " x") == "'" + "\\" * 200_000 + " x'"
