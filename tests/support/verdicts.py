"""Judging nodes made by hand, with every verdict said in both languages."""

from __future__ import annotations

from collections.abc import Sequence

from submitter.gang.probes.verdict import Judge, Node, Verdict
from submitter.gang.probes.wish import Wish
from submitter.texts import LANGUAGES, text


def judged(judges: Sequence[Judge], nodes: Sequence[Node], wish: Wish | None = None) -> list[Verdict]:
    """Of all `judges`; fails when one has no words for what it found, or names no node of `nodes`."""
    found = [verdict for rule in judges for verdict in _of(rule, nodes, wish or Wish())]
    for verdict in found:
        assert verdict.node in {node.ip for node in nodes}
        for language in LANGUAGES:
            values = {"node": verdict.node, "value": verdict.value, "limit": verdict.limit, **verdict.values}
            said = text(verdict.id, language, **values)
            assert "None" not in said, said
            assert text(f"{verdict.id}.fix", language, **values)
            assert text(f"{verdict.id}.about", language)
    return found


def brief(verdicts: Sequence[Verdict]) -> list[tuple[str, str, str]]:
    """(id, last part of the node's IP, severity)."""
    return [(verdict.id, verdict.node.rpartition(".")[2], verdict.severity) for verdict in verdicts]


def _of(rule: Judge, nodes: Sequence[Node], wish: Wish) -> Sequence[Verdict]:
    found = rule.judge(nodes, wish)
    assert {verdict.id for verdict in found} <= {rule.id}
    return found
