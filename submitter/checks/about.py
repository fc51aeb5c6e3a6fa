"""What a check is about, for people who look it up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

from submitter.checks.finding import Severity
from submitter.gang.fitness import SILENT
from submitter.gang.probes.catalogue import JUDGES
from submitter.texts import LANGUAGES, TABLE, text

_ONE_OF: Mapping[str, tuple[str, ...]] = {
    # texts that are a phrase which the finding chooses
    "NR101.fix": ("NR101.write", "NR101.drop"),
    "NR108.fix": ("NR108.choose", "NR108.megatron"),
    "NR205.fix": ("NR206.mini", "NR206.same"),
    "NR206.fix": ("NR206.batch", "NR206.same", "NR206.both"),
    "NR208.fix": ("NR206.either", "NR206.same", "NR206.both"),
    "NR209.fix": ("NR206.mini", "NR206.same", "NR206.both"),
    "NR210.fix": ("NR206.mini", "NR210.micro"),
    "NR212.fix": ("NR206.batch", "NR212.either"),
    "NR328": ("NR328.null", "NR328.lost"),
    "NR332": ("NR332.unread", "NR332.metric", "NR332.pool"),
    "NR332.fix": ("NR332.do_unread", "NR332.do_metric", "NR332.do_pool"),
    "NR380": ("NR380.unknown", "NR380.outcome", "NR380.fixed"),
    "NR380.fix": ("NR380.do_unknown", "NR380.do_outcome", "NR380.do_fixed"),
    "NR385.fix": ("NR385.recipe", "NR385.verl", "NR385.own"),
    "NR469.fix": ("NR469.do_allocator", "NR469.do_affinity", "NR469.do_threads", "NR469.do_level"),
    "NR453.fix": ("NR453.drop", "NR453.use"),
}

_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)\.\s+|(?<=。)")


@dataclass(frozen=True)
class NodeCheck:
    """What the nodes are judged by in the cluster, as it stands in the table of checks."""

    id: str
    source: str
    severities: tuple[Severity, ...] = ("error", "warning", "hint")
    """Those that it may come with: the judge decides by what it finds."""


_SILENCE = "the node's worker gave no answer within the bound (gang/fitness.py)"


def _node_checks() -> tuple[NodeCheck, ...]:
    """Every judge once; and silence, which no judge sees."""
    judges = {judge.id: _source(judge.judge.__doc__) for judge in JUDGES}
    return tuple(NodeCheck(name, source) for name, source in sorted({**judges, SILENT: _SILENCE}.items()))


def _source(doc: str | None) -> str:
    """What follows "Source: " in the docstring, on one line."""
    return " ".join((doc or "").split()).rpartition("Source: ")[2]


NODE_CHECKS = _node_checks()


def about(rule_id: str, language: str) -> str:
    """What it looks at, why that matters, when it is no problem."""
    return text(f"{rule_id}.about", language)


def title(rule_id: str, language: str) -> str:
    """The first sentence of `about`, without its full stop."""
    return _SENTENCE_END.split(about(rule_id, language), maxsplit=1)[0].rstrip(".。")


def pattern(text_id: str, language: str) -> str:
    """A text with `<name>` where a finding has a value; of several texts, all that a finding may choose from."""
    if text_id in _ONE_OF:
        return " / ".join(pattern(one, language) for one in _ONE_OF[text_id])
    pieces = Formatter().parse(TABLE[text_id][LANGUAGES.index(language)])
    return "".join(fixed + (f"<{name}>" if name else "") for fixed, name, _, _ in pieces)
