"""Any reading, in the environment that it was made in and in others: a job file says what bash would, or refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
import yaml
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from submitter.arguments.assemble import arguments, flags
from submitter.errors import UsageError
from submitter.importer.model import (
    Argument,
    Arith,
    Decided,
    Defined,
    Definition,
    Exported,
    Input,
    Launch,
    Lit,
    Part,
    Reading,
    Template,
    Value,
)
from submitter.importer.names import inputs_of
from submitter.importer.write import job_file
from submitter.job.model import Job
from tests.support.job_files import HOME, load_text
from tests.support.values import HOSTILE

NAMES = ("A", "B", "N", "no", "USER")
OWN_NAMES = ("A", "X", "Y", "Y")
TEXTS = st.one_of(
    st.sampled_from([*HOSTILE, "1e999", "8", "-3", "${", "7", "12"]),
    st.text("ab1e0.-+_ \t\n'\"\\${}[],:;#~!@%&*?|<>`é数\x85\u2028", max_size=6),
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,5})", re.ASCII)
_HEADS = st.sampled_from(["a.b=", "+c.d=", "~e.f=", "g.null=", "--config-name=", "", "x=y=", "~e.f", "-", "data.k="])


@dataclass(frozen=True)
class Case:
    reading: Reading
    launch: Launch
    environ: Mapping[str, str]


@dataclass
class Builder:
    """Templates as a reading has them: each with the text that it has in `environ`."""

    draw: st.DrawFn
    environ: Mapping[str, str]
    definitions: list[Definition]

    def template(self, depth: int = 2) -> Template:
        return tuple(self.part(depth) for _ in range(self.draw(st.integers(0, 3))))

    def part(self, depth: int) -> Part:
        kinds = ["text", "input", "own", "own"] + (["sum"] if depth else [])
        match self.draw(st.sampled_from(kinds)):
            case "input":
                return self.input(depth)
            case "own" if self.definitions:
                chosen = self.draw(st.sampled_from(self.definitions))
                return Defined(chosen, meaning(chosen.template, self.environ))
            case "sum":
                return self.sum(depth)
        return Lit(self.draw(TEXTS))

    def input(self, depth: int) -> Part:
        name = self.draw(st.sampled_from(NAMES))
        default = (
            self.draw(st.none() | st.just("")) if depth == 0 or self.draw(st.booleans()) else self.template(depth - 1)
        )
        one = Input(name, "", () if default == "" else default)  # type: ignore[arg-type]
        return Input(name, meaning((one,), self.environ), one.default)

    def sum(self, depth: int) -> Part:
        parts: list[Part] = [Lit(self.draw(st.sampled_from(["2 * ", "", "1024 + (3) * "])))]
        for sign in self.draw(st.lists(st.sampled_from([" + ", " * ", " - ", " // "]), max_size=2)):
            parts += [self.part(depth - 1), Lit(sign)]
        parts.append(self.part(depth - 1))
        text = computed(tuple(parts), self.environ)
        return Lit("1") if text is None else Arith(tuple(parts), text)

    def define(self) -> None:
        name = self.draw(st.sampled_from(OWN_NAMES))
        self.definitions.append(Definition(name, self.template(), len(self.definitions)))


def meaning(template: Template, environ: Mapping[str, str]) -> str:
    """What bash makes of it. Arithmetic that no job file has gives no text that could be equal."""
    return "".join(_meaning(part, environ) for part in template)


def _meaning(part: Part, environ: Mapping[str, str]) -> str:
    if isinstance(part, Lit):
        return part.text
    if isinstance(part, Input):
        return environ.get(part.name) or meaning(part.default or (), environ)
    if isinstance(part, Defined):
        return meaning(part.definition.template, environ)
    return computed(part.parts, environ) or "\0"


def computed(parts: Template, environ: Mapping[str, str]) -> str | None:
    """Each operand is a value of its own, as in `$(( A * 2 ))`."""
    words = [part.text if isinstance(part, Lit) else _meaning(part, environ) for part in parts]
    operands = [word for part, word in zip(parts, words, strict=True) if not isinstance(part, Lit)]
    if not all(_NUMBER.fullmatch(word) for word in operands) or not all(_is_typed(part) for part in parts):
        return None
    spelled = "".join(
        f"({word})" if not isinstance(part, Lit) else word for part, word in zip(parts, words, strict=True)
    )
    try:
        return str(eval(spelled, {}))  # digits and signs only
    except (ZeroDivisionError, SyntaxError):
        return None


def _is_typed(part: Part) -> bool:
    return not isinstance(part, Lit) or re.fullmatch(r"[-+*/() 0-9]*", part.text) is not None


@st.composite
def cases(draw: st.DrawFn) -> Case:
    environ = draw(st.dictionaries(st.sampled_from(NAMES), TEXTS.map(lambda text: text or "8"), max_size=3))
    builder = Builder(draw, environ, [])
    for _ in range(draw(st.integers(0, 4))):
        builder.define()
    heads = draw(st.lists(st.tuples(_HEADS, st.sampled_from([None, None, "DATA", "B_ARGS"])), max_size=6))
    words = [
        Argument(_value((Lit(head), *builder.template())), 50 + at, group) for at, (head, group) in enumerate(heads)
    ]
    exported = [
        Exported(name, _value(builder.template()), 60) for name in draw(st.lists(st.sampled_from("AXF"), unique=True))
    ]
    launch = Launch(70, "x.sh", "ray", ("python3",), _value((Lit("a.b"),)), True, tuple(words), tuple(exported))
    fixed = (
        frozenset(draw(st.lists(st.sampled_from(builder.definitions), max_size=1)))
        if builder.definitions
        else frozenset()
    )
    names = draw(st.lists(st.sampled_from(NAMES), max_size=1))
    return Case(
        Reading("x.sh", (launch,), (), _decided(names, launch, environ), frozenset(), fixed=fixed), launch, environ
    )


def _value(template: Template) -> Value:
    return Value(template)


def _decided(names: list[str], launch: Launch, environ: Mapping[str, str]) -> dict[str, Decided]:
    """As the reading decides: the one text that all places have, else the environment's."""
    inputs = inputs_of(_templates(launch))
    texts = {name: {part.text for part in inputs.get(name, [])} for name in names}
    return {
        name: Decided(name, texts[name].pop() if len(texts[name]) == 1 else environ.get(name, ""), ()) for name in names
    }


def _templates(launch: Launch) -> list[Template]:
    return [*(one.value.template for one in launch.arguments), *(one.value.template for one in launch.exported)]


def run(text: str, folder: pytest.TempPathFactory, environ: Mapping[str, str]) -> Job:
    return load_text(text, folder.getbasetemp(), environ={"HOME": HOME["HOME"], **environ})


def held(text: str) -> dict[str, str]:
    """The decided inputs' values: they count wherever the environment has none."""
    decided = yaml.safe_load(text)["imported"].get("decided") or {}
    texts = {name: value["$text"] if isinstance(value, dict) else value for name, value in decided.items()}
    return {name: value for name, value in texts.items() if value}


def wanted(case: Case, environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    words = [meaning(one.value.template, environ) for one in case.launch.arguments]
    return words, {one.name: meaning(one.value.template, environ) for one in case.launch.exported}


@settings(max_examples=150, deadline=None)
@given(case=cases(), other=st.dictionaries(st.sampled_from((*NAMES, "X", "Y")), TEXTS, max_size=4))
def test_any_reading(tmp_path_factory: pytest.TempPathFactory, case: Case, other: dict[str, str]) -> None:
    assume("\0" not in "".join(wanted(case, case.environ)[0]))
    written = job_file(case.reading, case.launch, name="x.sh")
    assert not written.notes
    for text in (written.text, yaml.safe_dump(yaml.safe_load(written.text), sort_keys=False)):
        job = run(text, tmp_path_factory, case.environ)
        assert (arguments(job), flags(job)) == wanted(case, case.environ)
    try:
        job = run(written.text, tmp_path_factory, other)
    except UsageError as error:
        event(f"refused: {error.text_id}")
        assert _may_refuse(error, written.text)
    else:
        event("runs")
        assert (arguments(job), flags(job)) == wanted(case, {**other, **held(written.text)})


def _may_refuse(error: UsageError, text: str) -> bool:
    """Only where something is decided, or computed with other numbers, or the account has no name."""
    if error.text_id == "job.environment_lacks":
        return error.values["name"] == "USER"
    if error.text_id.startswith("job.decided"):
        return "  decided:" in text
    return "${{" in text and error.text_id.startswith(("job.operand", "job.expression"))
