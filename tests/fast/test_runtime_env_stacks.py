"""The published version sets."""

import pytest

from runtime_env.stacks import stack, stack_of, stacks
from submitter.errors import UsageError
from tests.support.builders import FILE, job


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
