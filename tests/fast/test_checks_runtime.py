"""Flags that belong to npurun, or that cannot be right for every node."""

from __future__ import annotations

import pytest

from submitter.checks.runtime import INTERFACES, OWN_IP, RANKS
from submitter.job.load import load_job
from submitter.job.model import Job
from tests.support.builders import FILE, job
from tests.support.checks import findings_of


def found(made: Job) -> list[tuple[str, str]]:
    return [(finding.id, finding.severity) for finding in findings_of(made)]


CASES = [
    *((name, "10.0.0.1", "NR421", "error") for name in sorted(OWN_IP)),
    *((name, "0", "NR422", "error") for name in sorted(RANKS)),
    *((name, "eth0", "NR423", "warning") for name in sorted(INTERFACES)),
    ("CPU_AFFINITY_CONF", "1,npu0:0-11", "NR424", "warning"),
    ("NPURUN_RUN", "x", "NR411", "error"),
    ("RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES", "0", "NR412", "error"),
    ("RAY_JOB_STOP_WAIT_TIME_S", "3", "NR413", "error"),
    ("RAY_JOB_STOP_WAIT_TIME_S", "long", "NR413", "error"),
    ("RAY_JOB_STOP_WAIT_TIME_S", "60.5", "NR413", "error"),
    ("ASCEND_RT_VISIBLE_DEVICES", "0,1", "NR414", "error"),
    ("ASCEND_RT_VISIBLE_DEVICES", ",".join(map(str, range(8))), "NR414", "error"),
    ("ASCEND_RT_VISIBLE_DEVICES", ",".join(map(str, reversed(range(16)))), "NR414", "error"),
    ("ASCEND_RT_VISIBLE_DEVICES", "", "NR414", "error"),
    ("PATH", "/opt/python/bin", "NR415", "warning"),
    ("PYTHONHOME", "/opt/python", "NR415", "warning"),
    ("CACHE", "$HOME/cache", "NR416", "warning"),
    ("CACHE", "/data/${USER}", "NR416", "error"),
]


@pytest.mark.parametrize(("name", "value", "rule", "severity"), CASES)
def test_each_flag_has_its_finding_at_its_line(name: str, value: str, rule: str, severity: str) -> None:
    made = job(flags={"FINE": "1", name: value})
    assert found(made) == [(rule, severity)]
    (finding,) = findings_of(made)
    assert (finding.place.file, finding.place.line) == (FILE, 2)
    assert name in finding.message()
    assert finding.fix()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CPU_AFFINITY_CONF", "1"),
        ("NCCL_SOCKET_IFNAME", "^docker0"),
        ("RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES", "1"),
        ("RAY_JOB_STOP_WAIT_TIME_S", "60"),
        ("HCCL_CONNECT_TIMEOUT", "1500"),
        ("MY_RANK", "0"),
        (
            "ASCEND_RT_VISIBLE_DEVICES",
            ", ".join(map(str, range(16))),
        ),  # as published scripts have it: nothing is hidden
    ],
)
def test_what_is_right_for_all_nodes_is_no_finding(name: str, value: str) -> None:
    assert found(job(flags={name: value})) == []


def test_on_one_node_an_interface_is_right_and_an_ip_may_be() -> None:
    flags = {"GLOO_SOCKET_IFNAME": "eth0", "HCCL_IF_IP": "10.0.0.1"}
    assert found(job(flags=flags, nodes=1)) == [("NR421", "warning")]


def test_a_secret_may_not_have_a_reserved_name_either() -> None:
    assert found(job(secrets={"NPURUN_ATTEMPT": ("env", "X")})) == [("NR411", "error")]


def test_a_value_pasted_into_the_wrong_flag_is_not_shown() -> None:
    secret = "hf_" + "Ab3" * 10
    (finding, *_) = findings_of(job(flags={"RANK": secret}))
    assert secret not in str(finding.as_json()) + finding.message("zh")
    assert finding.value == "***"


@pytest.mark.parametrize("stack", ["cann-8.5.0", "cann-9.0.0", "cann-9.1.0"])
def test_the_shipped_job_has_no_finding(stack: str) -> None:
    import dataclasses

    shipped = load_job("qwen3_5_122b_a10b_32k", environ={"HOME": "/root"})
    assert findings_of(dataclasses.replace(shipped, stack=stack)) == []
