"""Versions of an attempt's nodes, by the log's head: compact, and whatever the trainer prints."""

from __future__ import annotations

import json

import pytest

from submitter.cluster.client import RayClient
from submitter.gang.record import FITNESS_PREFIX, fitness_line
from submitter.supervise.endings import read_ending
from submitter.supervise.versions import MOST_SHOWN, versions_in
from tests.support.fake_ray import FakeRay


def line(ip: str, versions: object, attempt: str = "r-a1") -> str:
    return fitness_line(attempt, {"ip": ip, "measured": {"versions": {"facts": versions, "why": None, "took_s": 0.1}}})


def test_one_value_where_all_agree_and_each_where_they_do_not() -> None:
    lines = [
        "(TaskRunner pid=1) step:1 - a:1",
        line("10.0.0.1", {"verl": "0.8.0", "cann": "9.0.0", "mindspeed": None}),
        line("10.0.0.2", {"verl": "0.8.0", "cann": "9.0.1", "mindspeed": None}),
        line("10.0.0.3", {"verl": "0.7.1"}, attempt="r-a2"),
    ]
    assert versions_in(lines, "r-a1") == {"cann": "9.0.0 | 9.0.1", "verl": "0.8.0"}


def test_the_newest_look_at_a_node_counts() -> None:
    assert versions_in([line("n", {"verl": "1"}), line("n", {"verl": "2"})], "r-a1") == {"verl": "2"}


@pytest.mark.parametrize(
    "measured", [{}, {"versions": None}, {"versions": {"facts": None}}, {"versions": {"facts": [1]}}]
)
def test_what_was_not_measured_is_not_there(measured: dict[str, object]) -> None:
    assert versions_in([fitness_line("r-a1", {"ip": "n", "measured": measured})], "r-a1") == {}


def test_what_a_trainer_forged_stays_small_and_can_be_kept() -> None:
    forged = {f"c{number}": "x" * 1_000_000 for number in range(20)} | {"\ud800": "\udfff"}
    lines = [line(f"n{number}", {**forged, "v": number}) for number in range(10)]
    found = versions_in(lines, "r-a1")
    assert len(json.dumps(found, ensure_ascii=False).encode()) < 20_000
    assert max(text.count("|") for text in found.values()) < MOST_SHOWN
    assert versions_in([f"{FITNESS_PREFIX}{{", FITNESS_PREFIX], "r-a1") == {}


def test_an_ending_has_them(ray: FakeRay) -> None:
    log = f"{line('10.0.0.1', {'verl': '0.8.0'})}\nstep:1 - a:1\n".encode()
    ray.add_job("r-a1", "RUNNING", log).end("FAILED", code=1)
    client = RayClient(ray.address)
    info = client.job("r-a1")
    assert info is not None
    assert read_ending(client, info, lambda _s: None, hung=False).versions == {"verl": "0.8.0"}
