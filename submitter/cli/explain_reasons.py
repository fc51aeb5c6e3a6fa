"""What `npurun explain` shows of reasons: what one means, what helps, and which lines tell of it."""

from __future__ import annotations

from typing import Any

from submitter.cli.language import say
from submitter.cli.output import emit, print_json
from submitter.cli.table import Column, print_block, print_table
from submitter.recovery.reasons import FAMILIES, REASONS, Reason


def show_all(as_json: bool) -> None:
    if as_json:
        print_json([_document(reason) for reason in REASONS.values()])
        return
    columns = (Column("reason"), Column("title", wraps=True))
    for family in FAMILIES:
        emit(say(f"reason.family.{family}"))
        rows = [(f"  {one.id}", say(f"reason.{one.id}")) for one in REASONS.values() if one.family == family]
        print_table(columns, rows, head=False)


def show(reason: Reason, as_json: bool) -> None:
    told = _document(reason)
    if as_json:
        print_json(told)
        return
    block = [("reason", reason.id), ("family", say(f"reason.family.{reason.family}"))]
    block += [("about", told["summary"]), ("means", told["means"]), ("fix", told["fix"])]
    block.append(("retry", say(f"diagnose.retry.{reason.retry}")))
    print_block(block)
    if told["signatures"]:
        emit("")
        emit(say("explain.lines"))
        for line in told["signatures"]:
            emit(f"  {line}")


def _document(reason: Reason) -> dict[str, Any]:
    from submitter.recovery.signatures import signatures

    return {
        "reason": reason.id,
        "family": reason.family,
        "retry": reason.retry,
        "blames_node": reason.blames_node,
        "summary": say(f"reason.{reason.id}"),
        "means": say(f"reason.{reason.id}.means"),
        "fix": say(f"reason.{reason.id}.fix"),
        "signatures": list(dict.fromkeys(one.literal for one in signatures() if one.reason == reason.id)),
    }
