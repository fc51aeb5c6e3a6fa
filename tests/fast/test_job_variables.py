"""What `${NAME}` becomes, alone and inside a string, from the file and from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize
from omegaconf import OmegaConf

from submitter.arguments.assemble import arguments, flags
from submitter.errors import UsageError
from submitter.job.load import load_job
from submitter.job.model import Number, RawText, Value
from tests.support.job_files import HEAD, load_text
from tests.support.values import HOSTILE


def values(text: str, folder: Path, **given: Any) -> list[Value]:
    job = load_text(HEAD + text, folder, **given)
    return [argument.value for group in job.groups for argument in group.arguments]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("4", Number("4")),
        ("1e-6", Number("1e-6")),
        ("true", True),
        ("null", None),
        ("text", "text"),
        ("'4'", "4"),
        ("''", ""),
        ("{$text: '[a,\"b\"]'}", RawText('[a,"b"]')),
        ("{$text: '${not.replaced}'}", RawText("${not.replaced}")),
    ],
)
def test_a_whole_value_keeps_its_type(tmp_path: Path, written: str, value: Value) -> None:
    text = f"variables:\n  V: {written}\n"
    text += "  W: ${V}\narguments:\n  data: {a: '${V}', b: ['${W}'], c: {d: '${V}'}}\n"
    assert values(text, tmp_path) == [value, [value], {"d": value}]


@pytest.mark.parametrize(
    ("written", "text"),
    [("4", "4"), ("1e-6", "1e-6"), ("yes", "True"), ("null", "null"), ("a b", "a b"), ("{$text: \"'x'\"}", "'x'")],
)
def test_inside_a_string_it_stays_a_string(tmp_path: Path, written: str, text: str) -> None:
    job = f"variables: {{V: {written}}}\narguments: {{data: {{a: '${{V}}${{V}}', b: '-${{V}}'}}}}\n"
    assert values(job, tmp_path) == [text * 2, f"-{text}"]


def test_a_number_made_of_pieces_is_still_a_string(tmp_path: Path) -> None:
    job = "variables: {V: 1}\narguments: {data: {a: '${V}e-6', b: '${V}0'}}\n"
    assert arguments(load_text(HEAD + job, tmp_path)) == ["a='1e-6'", "b='10'"]


def test_home_and_user_are_text(tmp_path: Path) -> None:
    job = "arguments: {data: {a: '${HOME}', b: '${HOME}/${USER}'}}\n"
    assert values(job, tmp_path, environ={"HOME": "1", "USER": "me"}) == ["1", "1/me"]


def test_home_may_be_declared(tmp_path: Path) -> None:
    job = "variables: {HOME: /nfs}\narguments: {data: {a: '${HOME}'}}\n"
    assert values(job, tmp_path, environ={}) == ["/nfs"]
    assert values(job, tmp_path, environ={"HOME": "/root"}) == [RawText("/root")]
    assert values(job, tmp_path, sets=["HOME=/x"]) == [RawText("/x")]


def test_a_default_that_is_overridden_need_not_resolve(tmp_path: Path) -> None:
    job = "variables: {PATHS: '${HOME}/x'}\narguments: {data: {a: '${PATHS}'}}\n"
    assert values(job, tmp_path, environ={}, sets=["PATHS=/y"]) == [RawText("/y")]
    with pytest.raises(UsageError, match="HOME"):
        values(job, tmp_path, environ={})


def test_replaced_text_is_not_read_again(tmp_path: Path) -> None:
    job = "variables: {A: x, B: y}\narguments: {data: {a: '${A}', b: '-${A}', c: '${{ 1 }}${A}'}}\n"
    assert values(job, tmp_path, sets=["A=${B}${{ 2 }}"]) == [RawText("${B}${{ 2 }}"), "-${B}${{ 2 }}", "1${B}${{ 2 }}"]


def test_hostile_text_from_outside(tmp_path: Path) -> None:
    job = (
        HEAD
        + "variables: {A: x, B: 'b-${A}'}\nenv: {F: '${A}'}\n"
        + "arguments: {data: {+a: '${A}', +b: '<${A}>', +c: '${B}'}}\n"
    )
    inside, expected = [], {}
    for index, text in enumerate(HOSTILE):
        by_set = load_text(job, tmp_path, environ={}, sets=[f"A={text}"])
        by_environment = load_text(job, tmp_path, environ={"A": text})
        assert arguments(by_environment) == arguments(by_set) or not text
        whole, *rest = arguments(by_set)
        assert (whole, flags(by_set)) == (f"+a={text}", {"F": text})
        inside += [f"+k{index}.{argument[1:]}" for argument in rest]
        expected[f"k{index}"] = {"b": f"<{text}>", "c": f"b-{text}"}
    with initialize(version_base="1.3", config_path=None):
        assert OmegaConf.to_container(compose(overrides=inside), resolve=True) == expected


def test_a_flag_keeps_the_spelling_of_the_file(tmp_path: Path) -> None:
    job = (
        "variables: {V: yes, W: 0.10, E: ''}\n"
        "env: {A: true, B: 'True', C: 1e-6, D: '${V}', E: '${W}', F: '${E}',\n"
        "      G: '${{ 2*2 }}', H: {$text: '${x}'}, I: 'a b'}\n"
        "arguments: {}\n"
    )
    assert list(flags(load_text(HEAD + job, tmp_path)).items()) == [
        ("A", "true"),
        ("B", "True"),
        ("C", "1e-6"),
        ("D", "yes"),
        ("E", "0.10"),
        ("F", ""),
        ("G", "4"),
        ("H", "${x}"),
        ("I", "a b"),
    ]


def test_variables_fill_every_section(tmp_path: Path) -> None:
    text = """
name: ${WORD}
summary: about ${WORD}
stack: cann-${N}
variables: {N: 2, WORD: tiny, RESUME: true, LAUNCHER: torchrun, EMPTY: ""}
cluster: {nodes: "${N}", npus_per_node: "${{ N * 4 }}", labels: {pool: "${WORD}"}, place_wait_s: "${N}"}
trainer:
  module: ${WORD}.main
  launcher: ${LAUNCHER}
  torchrun: {nproc_per_node: "${N}", master_addr: "${EMPTY}", master_port: "${EMPTY}"}
arguments: {}
recovery: {max_attempts: "${N}", max_hours: "${N}", resume: "${RESUME}"}
runtime_env: {working_dir: "${WORD}", pip: ["${WORD}"]}
secrets: {TOKEN: {file: "/keys/${WORD}"}}
"""
    path = tmp_path / "job.yaml"
    path.write_text(text)
    job = load_job(str(path), environ={}, sets=["N=3", "RESUME=False"])
    assert (job.name, job.summary, job.stack) == ("tiny", "about tiny", "cann-3")
    assert (job.cluster.nodes, job.cluster.npus_per_node, job.cluster.labels) == (3, 12, {"pool": "tiny"})
    assert job.trainer.torchrun is not None
    assert (job.trainer.module, job.trainer.torchrun.nproc_per_node) == ("tiny.main", 3)
    assert (job.recovery.max_attempts, job.recovery.max_hours, job.recovery.resume) == (3, 3.0, False)
    assert (job.runtime_env.working_dir, job.runtime_env.pip) == (str(tmp_path / "tiny"), ("tiny",))
    assert job.secrets[0].target == "/keys/tiny"


@pytest.mark.parametrize("working_dir", ["https://host/x.zip", "s3://bucket/x.zip"])
def test_a_remote_working_dir_is_left_alone(tmp_path: Path, working_dir: str) -> None:
    job = load_text(f"{HEAD}arguments: {{}}\nruntime_env: {{working_dir: '{working_dir}'}}\n", tmp_path)
    assert job.runtime_env.working_dir == working_dir


def test_sections_left_empty(tmp_path: Path) -> None:
    text = HEAD + "stack:\nvariables:\nenv:\narguments:\n  data:\nrecovery:\nruntime_env:\n  working_dir:\nsecrets:\n"
    job = load_text(text, tmp_path)
    assert (job.stack, job.flags, job.secrets, job.runtime_env.working_dir) == (None, (), (), None)
    assert [(group.name, group.arguments) for group in job.groups] == [("data", ())]
    assert job.recovery.declared
