"""HCCL's ports, time-outs and buffers; what is handed on of one machine's environment."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from submitter.checks.finding import Finding
from submitter.job.model import Trainer, Value
from tests.support.builders import job, number, raw, torchrun_job
from tests.support.checks import findings_of

HCCL = ("NR471", "NR472", "NR473", "NR474", "NR476", "NR477", "NR480", "NR481")
HOST, NPU, BASE = "HCCL_HOST_SOCKET_PORT_RANGE", "HCCL_NPU_SOCKET_PORT_RANGE", "HCCL_IF_BASE_PORT"


def found(flags: Mapping[str, str], *ids: str, nodes: int = 4) -> list[Finding]:
    return findings_of(job(flags=flags, nodes=nodes), *(ids or HCCL))


@pytest.mark.parametrize(
    ("flags", "ids"),
    [
        ({HOST: "auto", NPU: "auto"}, []),
        ({HOST: "61000-61050", NPU: "62000-62050"}, []),
        ({HOST: "60000-60050"}, ["NR472"]),
        ({HOST: "60999-61050"}, ["NR472"]),
        ({HOST: "61000,61050-61100,61150-61160"}, []),
        ({HOST: "61050-61000"}, ["NR471"]),
        ({HOST: "61000-61050,61050-61100"}, ["NR471"]),
        ({HOST: "0-100"}, ["NR471"]),
        ({HOST: "65000-65536"}, ["NR471"]),
        ({HOST: "61000:61050"}, ["NR471"]),
        ({HOST: ""}, ["NR471"]),
        ({HOST: "AUTO"}, ["NR471"]),
        ({NPU: "40000-40050"}, []),  # the NPU's own network, not Linux's
        ({NPU: "61000"}, ["NR474"]),
        ({NPU: "61000-61001"}, []),
        ({HOST: "61000-61014"}, ["NR474"]),
        ({HOST: "61000-61015"}, []),
        ({HOST: "61000-61050", NPU: "61040-61100"}, ["NR473"]),
        ({BASE: "50000"}, ["NR472"]),
        ({BASE: "61000"}, []),
        ({BASE: "32752"}, []),
        ({BASE: "32753"}, ["NR472"]),
        ({BASE: "65521"}, ["NR471"]),
        ({BASE: "auto"}, ["NR471"]),
        ({BASE: "61000", NPU: "61015-61050"}, ["NR473"]),
    ],
)
def test_ports(flags: Mapping[str, str], ids: list[str]) -> None:
    assert [one.id for one in found(flags)] == ids


def test_too_few_ports_are_counted() -> None:
    (one,) = found({HOST: "61000,61002-61004"})
    assert "has 4 ports" in one.message()
    assert "need 16" in one.message()


@pytest.mark.parametrize(
    ("name", "value", "ids"),
    [
        ("HCCL_CONNECT_TIMEOUT", "120", []),
        ("HCCL_CONNECT_TIMEOUT", "7200", []),
        ("HCCL_CONNECT_TIMEOUT", "119", ["NR476"]),
        ("HCCL_CONNECT_TIMEOUT", "7201", ["NR476"]),
        ("HCCL_CONNECT_TIMEOUT", "30m", ["NR476"]),
        ("HCCL_CONNECT_TIMEOUT", "", ["NR476"]),
        ("HCCL_CONNECT_TIMEOUT", "9" * 50, ["NR476"]),
        ("HCCL_EXEC_TIMEOUT", "1836", []),
        ("HCCL_EXEC_TIMEOUT", "60000", []),
        ("HCCL_EXEC_TIMEOUT", "-1", ["NR476"]),
        ("HCCL_EXEC_TIMEOUT", "long", ["NR476"]),
        ("HCCL_EXEC_TIMEOUT", "0", ["NR477"]),
        ("HCCL_EXEC_TIMEOUT", "59", ["NR477"]),
        ("HCCL_EXEC_TIMEOUT", "60", []),
        ("HCCL_EXEC_TIMEOUT", "86400", []),
        ("HCCL_EXEC_TIMEOUT", "86401", ["NR477"]),
        ("HCCL_BUFFSIZE", "300", []),
        ("HCCL_BUFFSIZE", "2048", []),
        ("HCCL_BUFFSIZE", "2049", ["NR481"]),
        ("HCCL_BUFFSIZE", "0", ["NR480"]),
        ("HCCL_BUFFSIZE", "-5", ["NR480"]),
        ("HCCL_BUFFSIZE", "300MB", ["NR480"]),
    ],
)
def test_time_outs_and_buffers(name: str, value: str, ids: list[str]) -> None:
    told = found({name: value})
    assert [one.id for one in told] == ids
    severities = {"NR476": "error", "NR480": "error"}
    assert all(one.severity == severities.get(one.id, "warning") and one.place.line == 1 for one in told)


@pytest.mark.parametrize(
    ("stack", "seconds", "group", "ids"),
    [
        ("cann-8.5.0", "1800", number("600"), ["NR478"]),
        ("cann-8.5.0", "600", number("600"), []),
        ("cann-8.5.0", "1800", raw("3600"), []),
        ("cann-8.5.0", "1800", "x", []),
        ("cann-9.0.0", "1800", number("600"), ["NR486"]),
        ("cann-9.1.0", "1800", number("7200"), ["NR486"]),
    ],
)
def test_verl_s_own_time_out(stack: str, seconds: str, group: Value, ids: list[str]) -> None:
    made = job(
        stack=stack, flags={"HCCL_EXEC_TIMEOUT": seconds}, groups={"a": {"actor_rollout_ref.nccl_timeout": group}}
    )
    assert [one.id for one in findings_of(made, "NR478", "NR486")] == ids


def test_verl_s_own_time_out_by_default() -> None:
    made = job(stack="cann-8.5.0", flags={"HCCL_EXEC_TIMEOUT": "1800"})
    assert ["600" in one.message() for one in findings_of(made, "NR478")] == [True]
    assert findings_of(job(stack="cann-9.0.0"), "NR478", "NR486") == []


@pytest.mark.parametrize(
    ("flags", "nodes", "ids"),
    [
        pytest.param({}, 2, ["NR479"], id="F121"),
        pytest.param({"HCCL_CONNECT_TIMEOUT": "900"}, 2, [], id="F121-set"),
        pytest.param({}, 1, [], id="F121-one-node"),
    ],
)
def test_the_time_to_connect(flags: Mapping[str, str], nodes: int, ids: list[str]) -> None:
    told = found(flags, "NR479", nodes=nodes)
    assert [one.id for one in told] == ids
    assert all(one.severity == "hint" for one in told)
    assert findings_of(torchrun_job(nodes=nodes), "NR479") == []


@pytest.mark.parametrize(
    ("module", "flags", "ids"),
    [
        pytest.param("my.trainer", {}, ["NR475"], id="F134"),
        pytest.param("my.trainer", {HOST: "auto", NPU: "auto"}, [], id="F134-set"),
        pytest.param("my.trainer", {HOST: "auto"}, ["NR475"], id="F134-half"),
        pytest.param("verl.trainer.main_ppo", {}, [], id="F134-verl-sets-them"),
    ],
)
def test_ports_of_processes_that_share_an_npu(module: str, flags: Mapping[str, str], ids: list[str]) -> None:
    told = findings_of(job(flags=flags, trainer=Trainer(module, "ray")), "NR475")
    assert [(one.id, one.severity) for one in told] == [(one, "hint") for one in ids]


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        pytest.param("PATH", "/usr/bin", "NR415", id="F084-path"),
        pytest.param("PYTHONPATH", "/Megatron-LM", "NR482", id="F084-pythonpath"),
        pytest.param("LD_LIBRARY_PATH", "/opt/lib", "NR482", id="F084-library-path"),
        pytest.param("HCCL_IF_IP", "10.0.0.1", "NR421", id="F084-ip"),
        pytest.param("VLLM_HOST_IP", "10.0.0.1", "NR421", id="F084-host-ip"),
        pytest.param("HCCL_SOCKET_IFNAME", "eth0", "NR423", id="F084-interface"),
        pytest.param("HOSTNAME", "node-0", "NR483", id="F084-shell"),
        pytest.param("LD_PRELOAD", "/usr/lib/libjemalloc.so.2", "NR484", id="F084-preload"),
        pytest.param("HCCL_LOGIC_SUPERPOD_ID", "0", "NR484", id="F084-super-node"),
    ],
)
def test_an_environment_of_one_machine(name: str, value: str, rule: str) -> None:
    assert rule in [one.id for one in found({name: value}, "NR4")]


def test_one_node_s_values_fit_one_node() -> None:
    assert found({"LD_PRELOAD": "/usr/lib/libjemalloc.so.2", "HCCL_LOGIC_SUPERPOD_ID": "0"}, "NR484", nodes=1) == []
    assert found({"OMP_NUM_THREADS": "1", "HCCL_BUFFSIZE": "300"}, "NR482", "NR483", "NR484") == []


def test_packages_that_nodes_install() -> None:
    (one,) = findings_of(job(pip=["math-verify==0.8"]), "NR485")
    assert (one.severity, one.value) == ("warning", "math-verify==0.8")  # F092
    assert findings_of(job(), "NR485") == []


@pytest.mark.parametrize(
    ("argument", "flags", "ids"),
    [
        pytest.param("NCCL_DEBUG", {"NCCL_DEBUG": "INFO"}, ["NR403"], id="F087"),
        pytest.param("NCCL_DEBUG", {}, [], id="F087-once"),
        pytest.param("HCCL_BUFFSIZE", {"HCCL_BUFFSIZE": "300"}, ["NR403"], id="F085"),
    ],
)
def test_a_variable_given_to_ray_init_and_to_the_job(argument: str, flags: Mapping[str, str], ids: list[str]) -> None:
    made = job(flags=flags, extra=[f"+ray_kwargs.ray_init.runtime_env.env_vars.{argument}=WARN"])
    assert [one.id for one in findings_of(made, "NR401", "NR403")] == ids


@pytest.mark.parametrize("id_", [pytest.param("working_dir", id="F087-working-dir")])
def test_a_field_given_to_ray_init_and_to_the_job(id_: str) -> None:
    made = job(working_dir="/tmp", extra=[f"+ray_kwargs.ray_init.runtime_env.{id_}=/tmp"])
    assert [one.id for one in findings_of(made, "NR404")] == ["NR404"]


@pytest.mark.parametrize("value", ["\n", "'", "$HOME", "a;b", "é" * 50, "9" * 400, "1-2-3", ",", "-", "٣"])
def test_hostile_values_end_in_findings(value: str) -> None:
    names = (HOST, NPU, BASE, "HCCL_CONNECT_TIMEOUT", "HCCL_EXEC_TIMEOUT", "HCCL_BUFFSIZE")
    told = found(dict.fromkeys(names, value))
    assert {one.id for one in told} >= {"NR471", "NR480"}
    assert all("\n" not in one.message() + one.fix("zh") for one in told)
