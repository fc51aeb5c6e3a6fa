"""The published version sets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime_env.stacks import COMPONENTS, override, parse_stack, stack, stack_of, stacks
from submitter.errors import Place, UsageError
from tests.support.builders import FILE, job
from tests.support.job_files import HEAD, load_text


def test_the_three_published_stacks() -> None:
    assert {name: (each.verl_minor, each.torch_npu, each.vllm_ascend) for name, each in stacks().items()} == {
        "cann-8.5.0": ((0, 7), "2.8.0", "0.13.0"),
        "cann-9.0.0": ((0, 8), "2.9.0.post2", "0.18.0"),
        "cann-9.1.0": ((0, 10), "2.10.0.post4", "0.23.0"),
    }


def test_every_version_is_text_as_published() -> None:
    assert all(isinstance(version, str) for each in stacks().values() for version in vars(each).values())


def test_an_unknown_stack_names_the_nearest_and_the_job_s_file() -> None:
    with pytest.raises(UsageError) as refused:
        stack_of(job(stack="cann-9.0"))
    assert str(refused.value).startswith(f"{FILE}: ")
    assert "nearest is cann-9.0.0" in str(refused.value)


def test_a_job_without_a_stack_has_none() -> None:
    assert stack_of(job()) is None
    assert stack_of(job(stack="cann-9.0.0")) == stack("cann-9.0.0")


def test_a_version_of_a_stack_can_be_replaced() -> None:
    changed = parse_stack("cann-9.1.0, verl=0.9.1, torch-npu=2.10.0.post5")
    assert (changed.verl, changed.verl_release, changed.verl_tree, changed.verl_minor) == ("0.9.1",) * 3 + ((0, 9),)
    assert changed.torch_npu == "2.10.0.post5"
    assert changed.vllm_ascend == stack("cann-9.1.0").vllm_ascend
    assert changed.name == "cann-9.1.0,verl=0.9.1,torch_npu=2.10.0.post5"
    assert parse_stack(changed.name) == changed
    assert stack_of(job(stack="cann-9.1.0,verl=0.9.1")) == parse_stack("cann-9.1.0,verl=0.9.1")


def test_the_configuration_of_main_has_a_stand_in() -> None:
    assert {name: each.verl_tree for name, each in stacks().items()} == {
        "cann-8.5.0": "0.7.1",
        "cann-9.0.0": "0.8.0",
        "cann-9.1.0": "0.9.0",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cann-9.1,verl=0.9.1", "nearest is cann-9.1.0"),
        ("cann-9.1.0,vrel=0.9.1", "nearest is verl"),
        ("cann-9.1.0,verl_tree=0.9.1", "no version of verl_tree"),
        ("cann-9.1.0,verl", "verl changes no version"),
        ("cann-9.1.0,", "changes no version"),
        ("cann-9.1.0,verl=", "'' is no version of verl"),
        ("cann-9.1.0,verl=main", "'main' is no version of verl"),
        ("cann-9.1.0,verl=0.9.1,verl=0.9.0", "replaced twice"),
        ("cann-9.1.0,vllm-ascend=banana", "'banana' is no version of vllm_ascend"),
        ("cann-9.1.0,cann=v9", "'v9' is no version of cann"),
        ("verl=0.9.1", "no stack verl=0.9.1"),
        ("", "no stack"),
    ],
)
def test_what_is_no_stack_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_stack(text)
    assert said in str(refused.value)


@pytest.mark.parametrize("change", ["vllm=main", "megatron_core=core_v0.12.1", "mindspeed=2.3.0_core_r0.12.1"])
def test_what_versions_look_like(change: str) -> None:
    assert parse_stack(f"cann-9.1.0,{change}").name == f"cann-9.1.0,{change}"


@pytest.mark.parametrize(
    ("own", "given", "name"),
    [
        ("cann-9.0.0", "cann-9.1.0", "cann-9.1.0"),
        (None, "cann-9.1.0,verl=0.9.1", "cann-9.1.0,verl=0.9.1"),
        ("cann-9.0.0", "verl=0.9.1", "cann-9.0.0,verl=0.9.1"),
        ("cann-9.0.0,verl=0.9.0,vllm=0.20.0", "verl=0.9.1", "cann-9.0.0,vllm=0.20.0,verl=0.9.1"),
        ("cann-9.0.0", "vllm-ascend=0.20.0, verl=0.9.1", "cann-9.0.0,vllm_ascend=0.20.0,verl=0.9.1"),
    ],
)
def test_versions_alone_replace_those_of_the_jobs_own_stack(own: str | None, given: str, name: str) -> None:
    assert override(own, given) == name == parse_stack(name).name


@pytest.mark.parametrize(
    ("own", "given", "said"),
    [
        (None, "verl=0.9.1", "the job names none"),
        ("cann-9.0.0", "verl=banana", "'banana' is no version of verl"),
        ("cann-9.0.0", "vrel=0.9.1", "nearest is verl"),
        ("cann-9.0.0", "verl=0.9.1,verl=0.9.0", "replaced twice"),
        ("cann-9.0.0", "cann-9.2.0", "there is no stack cann-9.2.0"),
    ],
)
def test_a_stack_of_the_command_line_that_is_none(own: str | None, given: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        override(own, given, Place(key="--stack"))
    assert str(refused.value).startswith("--stack: ") and said in str(refused.value)


@given(st.lists(st.sampled_from([*COMPONENTS, "verl-release", ",", "=", "cann-9.1.0", "0.9", "9.x", " ", ""])))
def test_any_text_is_a_stack_or_refused(parts: list[str]) -> None:
    try:
        assert parse_stack("".join(parts)).name.startswith("cann-9.1.0")
    except UsageError as refused:
        assert "\n" not in str(refused)


def test_a_job_file_names_a_changed_stack(tmp_path: Path) -> None:
    made = load_text(HEAD + "stack: cann-9.1.0, verl=0.9.1\narguments: {}\n", tmp_path)
    changed = stack_of(made)
    assert changed is not None
    assert changed.verl_release == "0.9.1"
