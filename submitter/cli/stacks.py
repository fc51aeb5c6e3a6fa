"""`npurun stacks`: the version sets; `npurun stacks fetch`: verl's config trees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import Command, LazyGroup
from submitter.cli.language import say
from submitter.cli.options import json_option, option, trees
from submitter.cli.output import print_json, tell
from submitter.cli.table import Column, print_table

if TYPE_CHECKING:
    from runtime_env.stacks import Stack

_SHOWN = ("cann", "torch_npu", "vllm_ascend", "verl", "megatron_core", "mindspeed")


@click.group(
    cls=LazyGroup,
    lazy={"fetch": "submitter.cli.stacks:fetch"},
    help="cli.stacks.help",
    invoke_without_command=True,
)
@json_option
@click.pass_context
def stacks(context: click.Context, as_json: bool) -> None:
    if context.invoked_subcommand is not None:
        context.obj = as_json
        return
    from runtime_env.stacks import stacks as known

    found = [(stack, _at_hand(stack)) for stack in known().values()]
    if as_json:
        print_json([_as_json(stack, at_hand) for stack, at_hand in found])
        return
    columns = [Column("stack"), *(Column(name, wraps=True) for name in _SHOWN), Column("tree")]
    print_table(columns, [(stack.name, *_versions(stack), _tree_cell(stack, at_hand)) for stack, at_hand in found])


@click.command(cls=Command, help="cli.fetch.help")
@click.argument("versions", nargs=-1, metavar="[VERSION]…")
@option("--to", "target", metavar="DIR", help="cli.option.to")
@option("--from", "source", metavar="DIR", help="cli.option.from")
@json_option
def fetch(versions: tuple[str, ...], target: str | None, source: str | None, as_json: bool) -> None:
    from submitter.arguments.fetch import carry_from
    from submitter.arguments.fetch import fetch as fetched
    from submitter.arguments.trees import DEFAULT_RELEASES
    from submitter.errors import UsageError

    if target is not None and source is not None:
        raise UsageError("trees.both")
    folder = trees() if target is None else Path(target).expanduser()
    if source is not None:
        got = carry_from(Path(source).expanduser(), versions, folder, tell)
    else:
        got = fetched(versions or DEFAULT_RELEASES, folder, tell, at_hand=trees() if target is not None else None)
    if as_json or click.get_current_context().obj:
        print_json([{"version": one.release, "folder": str(folder / one.release), "from": one.origin} for one in got])


def _at_hand(stack: Stack) -> bool:
    from submitter.arguments.trees import find_tree

    return find_tree(trees(), stack.verl_tree) is not None


def _versions(stack: Stack) -> list[str]:
    return [getattr(stack, name) for name in _SHOWN]


def _tree_cell(stack: Stack, at_hand: bool) -> str:
    return say("cli.stacks.at_hand" if at_hand else "cli.stacks.missing", release=stack.verl_tree)


def _as_json(stack: Stack, at_hand: bool) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(stack), "tree": {"version": stack.verl_tree, "at_hand": at_hand}}
