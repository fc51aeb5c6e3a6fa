"""What `npurun explain` shows of flags: who reads one, how, and whether a stack does."""

from __future__ import annotations

from typing import Any

from runtime_env.flags import FlagState, KnownFlag, Reader, flags, state
from runtime_env.stacks import Stack
from submitter.cli.language import language, say
from submitter.cli.output import print_json
from submitter.cli.table import Column, print_block, print_table
from submitter.texts import LANGUAGES

_ANSWERS = {"read": "cli.flag.read", "not read": "cli.flag.not_read", "unknown": "cli.flag.unknown"}


def show_all(stack: Stack | None, as_json: bool) -> None:
    """Without a stack: who reads each; with one: whether it does, and what to use instead."""
    known = sorted(flags().values(), key=lambda one: one.name)
    if as_json:
        print_json([_document(one, stack) for one in known])
    elif stack is None:
        columns = (Column("flag"), Column("read_by", wraps=True), Column("about", wraps=True))
        print_table(columns, [(one.name, _readers(one), _what(one)) for one in known])
    else:
        columns = (Column("flag"), Column("on_stack", wraps=True), Column("instead", wraps=True))
        states = [(one, state(one.name, stack)) for one in known]
        print_table(columns, [(one.name, _state(found), found.successor) for one, found in states])


def show(known: KnownFlag, stack: Stack | None, as_json: bool) -> None:
    if as_json:
        print_json(_document(known, stack))
        return
    told = [
        ("flag", known.name),
        ("owner", known.owner),
        ("about", _what(known)),
        ("values", known.values),
        ("default", known.default),
        ("read_by", _readers(known)),
        ("when", say(f"cli.flag.at.{known.at}")),
        ("on_stack", None if stack is None else f"{stack.name}: {_state(state(known.name, stack))}"),
        ("instead", known.successor),
        ("conflicts", ", ".join(known.conflicts)),
        ("per_node", say("cli.flag.node_dependent") if known.node_dependent else None),
        ("evidence", known.evidence),
    ]
    print_block([(name, value) for name, value in told if value])


def _document(known: KnownFlag, stack: Stack | None) -> dict[str, Any]:
    shown = {
        "flag": known.name,
        "owner": known.owner,
        "about": _what(known),
        "values": known.values,
        "default": known.default,
        "read_by": [{"component": reader.component, "versions": reader.span or None} for reader in known.readers],
        "when": known.at,
        "instead": known.successor,
        "conflicts": list(known.conflicts),
        "node_dependent": known.node_dependent,
        "evidence": known.evidence,
    }
    if stack is None:
        return shown
    found = state(known.name, stack)
    return {**shown, "stack": stack.name, "state": found.answer, "version": found.version or None}


def _what(known: KnownFlag) -> str:
    return known.what[LANGUAGES.index(language())]


def _readers(known: KnownFlag) -> str:
    return ", ".join(_reader(reader) for reader in known.readers) or say("cli.flag.nobody")


def _reader(reader: Reader) -> str:
    return f"{reader.component} {reader.span}".strip()


def _state(found: FlagState) -> str:
    """`read (vllm_ascend 0.18.0)`, `not read (vllm_ascend 0.23.0; it was <= 0.17.0)`."""
    answer = say(_ANSWERS[found.answer])
    if found.reader is None:
        return answer
    version = f"{found.reader.component} {found.version}".strip()
    if found.answer == "read" or not found.reader.span:
        return f"{answer} ({version})"
    return say("cli.flag.state_span", answer=answer, version=version, span=found.reader.span)
