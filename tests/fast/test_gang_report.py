"""What the job's log says of the nodes."""

from __future__ import annotations

import pytest

from submitter.gang.fitness import Fitness
from submitter.gang.report import tell_fitness
from tests.support.nodes import node


def test_what_could_not_be_measured_is_counted_in_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = (node("10.0.0.1", why={"npus": "slow", "hccn": "none"}), node("10.0.0.2", why={"npus": "slow"}))
    tell_fitness("run-a1", Fitness(nodes, (), 0.1))
    told = [line for line in capsys.readouterr().out.splitlines() if "not measured" in line]
    assert told == [
        "[npurun]   not measured: npus (2 nodes): slow",
        "[npurun]   not measured: hccn (1 node): none",
    ]
