"""Flags whose value has a form of its own."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.checks import flag_forms
from submitter.job.model import Trainer
from tests.support.builders import job
from tests.support.checks import findings_by, findings_of

ALLOC, CORES, THREADS, LEVEL = "PYTORCH_NPU_ALLOC_CONF", "CPU_AFFINITY_CONF", "OMP_NUM_THREADS", "VERL_LOGGING_LEVEL"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (ALLOC, ""),
        (ALLOC, "expandable_segments:True"),
        (ALLOC, "expandable_segments: False, max_split_size_mb: 256,"),
        (ALLOC, "garbage_collection_threshold:0.8"),
        (ALLOC, "page_size:1g,base_addr_aligned_kb:0"),
        (ALLOC, "roundup_power2_divisions:[256:1,512:2,>:4],expandable_segments:True"),
        ("PYTORCH_ALLOC_CONF", "expandable_segments:True"),
        ("PYTORCH_CUDA_ALLOC_CONF", "whatever"),
        (CORES, ""),
        (CORES, "0"),
        (CORES, "1"),
        (CORES, "mode:2"),
        (CORES, "1,npu0:0-23,npu1:24,force:1"),
        (THREADS, "1"),
        (THREADS, " 16 "),
        (THREADS, "4,2"),
        (LEVEL, "INFO"),
        (LEVEL, "WARN"),
        ("HCCL_WHITELIST_DISABLE", "1"),
    ],
)
def test_what_the_readers_take(name: str, value: str) -> None:
    assert findings_of(job(flags={name: value}, stack="cann-9.0.0"), "NR469", "NR456") == []


@pytest.mark.parametrize(
    ("name", "value", "severity", "word"),
    [
        (ALLOC, "expandable_segment:True", "error", "expandable_segment"),
        (ALLOC, "expandable_segments:true", "error", "True, False"),
        (ALLOC, "expandable_segments=True", "error", "expandable_segments=True"),
        (ALLOC, "expandable_segments", "error", "no value"),
        (ALLOC, "expandable_segments:", "error", "no value"),
        (ALLOC, ",expandable_segments:True", "error", "''"),
        (ALLOC, "banana", "error", "banana"),
        (ALLOC, "max_split_size_mb:19", "error", "≥ 20"),
        (ALLOC, "max_split_size_mb:1g", "error", "1g"),
        (ALLOC, "garbage_collection_threshold:1", "error", "0 < x < 1"),
        (ALLOC, "garbage_collection_threshold:80%", "error", "80%"),
        (ALLOC, "base_addr_aligned_kb:17", "error", "0–16"),
        (ALLOC, "page_size:2m", "error", "1g"),
        ("PYTORCH_ALLOC_CONF", "banana", "warning", "banana"),
        (CORES, "3", "warning", "0, 1, 2"),
        (CORES, "on", "warning", "on"),
        (CORES, "1,npu0:a-b", "warning", "npu0"),
        (CORES, "1,gpu0:0-1", "warning", "gpu0"),
        (THREADS, "", "warning", "threads"),
        (THREADS, "0", "warning", "threads"),
        (THREADS, "many", "warning", "threads"),
        (LEVEL, "debug", "error", "level"),
        (LEVEL, "10", "error", "level"),
        (LEVEL, "", "error", "level"),
    ],
)
def test_what_they_refuse_or_leave_aside(name: str, value: str, severity: str, word: str) -> None:
    (finding,) = findings_of(job(flags={name: value}, stack="cann-9.0.0"), "NR469")
    assert (finding.severity, finding.place.line, finding.place.key) == (severity, 1, f"env.{name}")
    assert word in finding.message() and name in finding.message("zh") and finding.fix() and finding.fix("zh")


def test_the_levels_are_those_of_python() -> None:
    for level in flag_forms.LEVELS:
        logging.getLogger("npurun.levels").setLevel(level)


def test_trainers_that_are_not_verls_may_never_read_its_level() -> None:
    made = job(flags={LEVEL: "debug"}, trainer=Trainer("my.trainer", "ray"))
    assert [one.severity for one in findings_of(made, "NR469")] == ["warning"]


def test_a_list_of_trusted_hosts_is_on_or_off() -> None:
    found = findings_of(job(flags={"HCCL_WHITELIST_DISABLE": "yes"}, stack="cann-9.0.0"), "NR456")
    assert [one.severity for one in found] == ["warning"]


@given(st.sampled_from([ALLOC, CORES, THREADS, LEVEL]), st.text(max_size=40))
def test_any_text_gives_one_finding_at_most(name: str, value: str) -> None:
    found = findings_by(flag_forms.RULES, job(flags={name: value}))
    assert len(found) <= 1
    assert all("\n" not in one.message() for one in found)
