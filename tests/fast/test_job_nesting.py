"""Text that is passed on as it is nests no deeper than a job file's own values, so that nothing runs out of stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from submitter.checks.examine import examine
from submitter.checks.hydra_value import UNREADABLE, read
from submitter.errors import UsageError
from submitter.job.document import MAX_DEPTH
from submitter.job.load import load_job

JOB = """\
name: deep
cluster: {nodes: 1, npus_per_node: 8}
variables:
  X: "1"
trainer: {module: verl.trainer.main_ppo}
arguments:
  all:
    KEY: VALUE
"""

DEEP = {
    "list": "[" * 2000 + "]" * 2000,
    "open": "[" * 2000,
    "dict": "{a:" * 25 + "1" + "}" * 25,
    "cast": "int(" * 25 + "1" + ")" * 25,
    "reference": "${a." * 25 + "}" * 25,
    "quoted reference": "'" + "${a." * 900 + "}" * 900 + "'",
    "broken quote": "'" + "[" * 300,
}
FINE = {
    "list": "[" * MAX_DEPTH + "]" * MAX_DEPTH,
    "wide": "[" + ",".join(["[1]"] * 500) + "]",
    "quoted brackets": "'" + "[" * 500 + "'",
    "template": "'{% if a %}" + "{{ x[0] }}" * 200 + "{% endif %}'",
    "escaped": "'" + r"\${" * 100 + "'",
}


def load(tmp_path: Path, text: str, **outside: object) -> object:
    file = tmp_path / "job.yaml"
    file.write_text(text)
    return load_job(str(file), environ={}, **outside)  # type: ignore[arg-type]


def with_text(value: str) -> str:
    return JOB.replace("VALUE", "{$text: " + "'" + value.replace("'", "''") + "'}").replace("KEY", "+x.deep")


@pytest.mark.parametrize("value", DEEP.values(), ids=DEEP)
def test_a_deep_text_is_refused_at_its_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, with_text(value))
    assert error.value.text_id == "job.too_deep"
    assert error.value.place is not None and error.value.place.line == 8
    assert error.value.values["limit"] == MAX_DEPTH


@pytest.mark.parametrize("value", DEEP.values(), ids=DEEP)
def test_a_deep_argument_after_the_dashes_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, JOB.replace("KEY: VALUE", "a.b: 1"), extra=[f"+x.deep={value}"])
    assert error.value.text_id == "job.too_deep"
    assert error.value.place is not None and error.value.place.key == "-- +x.deep"


def test_a_deep_variable_from_outside_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, JOB.replace("KEY: VALUE", "+x.y: ${X}"), sets=["X=" + DEEP["list"]])
    assert error.value.text_id == "job.too_deep"


def test_a_text_deep_inside_a_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nested deeper"):
        load(tmp_path, JOB.replace("KEY: VALUE", "+x.y: [{$text: '" + "[" * 30 + "'}]"))


@pytest.mark.parametrize("key", ["+x" + ".a" * 24, "? +x" + ".a" * 3000 + "\n    "], ids=["just", "far"])
def test_a_key_of_too_many_names_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, JOB.replace("KEY: VALUE", f"{key}: 1"))
    assert error.value.text_id == "job.too_deep"


def test_a_key_of_too_many_names_after_the_dashes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, JOB.replace("KEY: VALUE", "a.b: 1"), extra=["+x" + ".a" * 3000 + "=1"])
    assert error.value.text_id == "job.too_deep"


@pytest.mark.parametrize("value", FINE.values(), ids=FINE)
def test_what_is_long_but_not_deep_is_read_and_composed(tmp_path: Path, trees: Path, value: str) -> None:
    made = load(tmp_path, with_text(value).replace("name: deep", "name: deep\nstack: cann-9.0.0"))
    found = examine(made, trees=trees).findings  # type: ignore[arg-type]
    assert not any("recursion" in one.message() for one in found)


def test_a_typed_value_around_a_deep_text_is_composed(tmp_path: Path, trees: Path) -> None:
    inner = "{$text: '" + FINE["list"] + "'}"
    text = JOB.replace("KEY: VALUE", "+x.y: " + "[" * 18 + inner + "]" * 18).replace(
        "name: deep", "name: d\nstack: cann-9.0.0"
    )
    found = examine(load(tmp_path, text), trees=trees).findings  # type: ignore[arg-type]
    assert not any("recursion" in one.message() for one in found)


def test_reading_a_value_never_runs_out_of_stack() -> None:
    assert read(DEEP["list"]) is UNREADABLE
