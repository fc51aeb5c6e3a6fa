"""What a launch says of its size and its purpose: the job file's `cluster`, `torchrun` and `summary`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from submitter.gang.secret_like import redacted
from submitter.importer.grouping import Word
from submitter.importer.model import Launch, Lit, Template
from submitter.importer.shell.template import text_of
from submitter.job.sections import MAX_NODES, MAX_NPUS_PER_NODE, MAX_PORT
from submitter.texts import one_line, text

DEFAULT_NODES = 1
DEFAULT_NPUS = 8
"""A node of the most common kind, where the script does not say it."""

_LARGEST_NODE = 16
"""NPUs of an A3 server."""
_POOLS = ("rollout", "actor_rollout_ref.rollout", "distillation")
"""What takes NPUs beside the trainer's: a rollout of its own (fully async, one step off), a teacher."""
_COUNT = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9.:_-]*", re.ASCII)
_ALGORITHMS = {
    "gae": "PPO",
    "reinforce_plus_plus": "REINFORCE++",
    "reinforce_plus_plus_baseline": "REINFORCE++ baseline",
}
"""`algorithm.adv_estimator` -> what people call it; the others go by their own name."""
_MODEL_KEYS = ("actor_rollout_ref.model.path", "model.path", "model.partial_pretrain")
_MAX_SUMMARY_CHARS = 110


@dataclass(frozen=True)
class Size:
    """None: the script does not say it, or not as a number in range."""

    nodes: Template | None
    npus: Template | None


def size(launch: Launch, words: Sequence[Word]) -> Size:
    given = {word.key.lstrip("+"): word.value for word in words if word.key is not None and word.value is not None}
    nodes, npus = given.get("trainer.nnodes"), given.get("trainer.n_gpus_per_node")
    if launch.launcher == "torchrun":
        nodes, npus = _option(launch, "nnodes") or nodes, _option(launch, "nproc_per_node") or npus
    elif pools := _pools(given):
        return _with_pools(pools)
    return Size(_within(nodes, MAX_NODES), _within(npus, MAX_NPUS_PER_NODE))


def _pools(given: Mapping[str, Template]) -> list[tuple[int, int]]:
    """Nodes and NPUs a node of the trainer and of what has a pool of its own beside it; empty: nothing has."""
    found = []
    for prefix in ("trainer", *_POOLS):
        nodes, npus = given.get(f"{prefix}.nnodes"), given.get(f"{prefix}.n_gpus_per_node")
        if _within(nodes, MAX_NODES) and _within(npus, MAX_NPUS_PER_NODE):
            found.append((int(text_of(nodes or ())), int(text_of(npus or ()))))
    return found if len(found) > 1 else []


def _with_pools(pools: Sequence[tuple[int, int]]) -> Size:
    """Parts of a node share nodes, as far as they fill one; whole nodes are others."""
    together = sum(npus for _, npus in pools)
    alike = len({nodes for nodes, _ in pools}) == 1
    parts = any(npus % DEFAULT_NPUS for _, npus in pools) and together <= _LARGEST_NODE
    if alike and parts:
        return Size((Lit(str(pools[0][0])),), (Lit(str(together)),))
    most = max(npus for _, npus in pools)
    return Size((Lit(str(sum(nodes for nodes, _ in pools))),), (Lit(str(most)),))


def torchrun_options(launch: Launch) -> dict[str, Template]:
    """Those that a job file has and that it would take; the rendezvous of the others is its own."""
    options = {
        "nproc_per_node": _within(_option(launch, "nproc_per_node"), MAX_NPUS_PER_NODE),
        "master_addr": _matching(_option(launch, "master_addr"), _HOST),
        "master_port": _within(_option(launch, "master_port"), MAX_PORT),
    }
    return {name: template for name, template in options.items() if template is not None}


def summary(launch: Launch, words: Sequence[Word], name: str, language: str) -> str:
    """From the arguments that are there; else the script's name."""
    texts = {word.key.lstrip("+"): text_of(word.value) for word in words if word.key and word.value is not None}
    about = [_algorithm(launch, texts), _model(texts), _lengths(texts, language), _extent(launch, words, language)]
    said = ", ".join(one for one in about if one)
    return redacted(one_line(said or name))[:_MAX_SUMMARY_CHARS]


def _algorithm(launch: Launch, texts: Mapping[str, str]) -> str:
    if "sft" in launch.target.text.lower():
        return "SFT"
    estimator = texts.get("algorithm.adv_estimator", "")
    return _ALGORITHMS.get(estimator, estimator.upper())


def _model(texts: Mapping[str, str]) -> str:
    path = next((texts[key] for key in _MODEL_KEYS if key in texts), "")
    return path.rstrip("/").rpartition("/")[2]


def _lengths(texts: Mapping[str, str], language: str) -> str:
    prompt, response = texts.get("data.max_prompt_length", ""), texts.get("data.max_response_length", "")
    if not (_COUNT.fullmatch(prompt) and _COUNT.fullmatch(response)):
        return ""
    return text("importer_write.lengths", language, prompt=_tokens(prompt), response=_tokens(response))


def _extent(launch: Launch, words: Sequence[Word], language: str) -> str:
    found = size(launch, words)
    if found.nodes is None or found.npus is None:
        return ""
    nodes, npus = text_of(found.nodes), text_of(found.npus)
    if nodes == "1":
        return text("importer_write.extent_one", language, npus=npus)
    return text("importer_write.extent", language, nodes=nodes, npus=npus)


def _tokens(count: str) -> str:
    return count if int(count) % 1024 else f"{int(count) // 1024}K"


def _option(launch: Launch, name: str) -> Template | None:
    value = launch.torchrun.get(name)
    return None if value is None else value.template


def _within(template: Template | None, high: int) -> Template | None:
    fitting = _matching(template, _COUNT)
    return fitting if fitting is not None and int(text_of(fitting)) <= high else None


def _matching(template: Template | None, pattern: re.Pattern[str]) -> Template | None:
    return template if template is not None and pattern.fullmatch(text_of(template)) else None
