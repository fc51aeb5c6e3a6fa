"""`npurun jobs`: the job files that ship, with what each trains; options pick by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import Command
from submitter.cli.options import Decorator, json_option, option
from submitter.cli.output import print_json, tell
from submitter.cli.table import Column, fits, print_table

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from submitter.checks.recipe import Recipe

_KILO = 1024
_MODEL_ROOM = 24
"""Columns of a model below its job's name; what follows takes the rest of 80."""
_COLUMNS = ("job", "model", "algorithm", "engine", "rollout", "npus", "context")


@dataclass(frozen=True)
class _Shipped:
    name: str
    summary: str
    path: Path
    stack: str | None
    recipe: Recipe

    def fact(self, name: str) -> str:
        """What an option picks by, as it is shown; empty: not known."""
        found = self.stack if name == "stack" else getattr(self.recipe, name)
        return "" if found is None else str(found)

    def as_json(self) -> dict[str, Any]:
        own = {"name": self.name, "summary": self.summary, "file": str(self.path), "stack": self.stack}
        return {**own, **asdict(self.recipe)}


def _pick_option(name: str, metavar: str = "TEXT") -> Decorator:
    return option(f"--{name}", metavar=metavar, shell_complete=_complete, help=f"cli.jobs.{name}")


def _complete(_ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    facts = _facts(_shipped(), str(param.name))
    return [CompletionItem(fact) for fact in facts if fact.lower().startswith(incomplete.lower())]


@click.command(cls=Command, help="cli.jobs.help")
@_pick_option("model")
@_pick_option("algorithm")
@_pick_option("engine")
@_pick_option("rollout")
@_pick_option("nodes", "N")
@_pick_option("stack")
@json_option
def jobs(as_json: bool, **asked: str | None) -> None:
    every, wanted = _shipped(), {name: text for name, text in asked.items() if text is not None}
    found = [job for job in every if all(_matches(job, name, text) for name, text in wanted.items())]
    if not found:
        _tell_none(every, wanted)
    if as_json:
        print_json([job.as_json() for job in found])
    elif found:
        _print(found)


def _shipped() -> list[_Shipped]:
    """As the files have them: a variable of this environment changes none of it."""
    from jobs import shipped
    from submitter.checks.recipe import recipe
    from submitter.job.load import load_job

    loaded = [(path, load_job(str(path), environ={"HOME": "~", "USER": "-"})) for path in shipped()]
    return [_Shipped(job.name, job.summary, path, job.stack, recipe(job)) for path, job in loaded]


def _matches(job: _Shipped, name: str, text: str) -> bool:
    """A part of it, in any case; of a number the whole: 1 is not 16."""
    fact = job.fact(name)
    return fact == text if fact.isdecimal() else text.lower() in fact.lower()


def _facts(every: Sequence[_Shipped], name: str) -> list[str]:
    """Each once, numbers by size."""
    facts = {job.fact(name) for job in every} - {""}
    return sorted(facts, key=lambda fact: (int(fact) if fact.isdecimal() else 0, fact))


def _tell_none(every: Sequence[_Shipped], wanted: dict[str, str]) -> None:
    """With what there is, of the first option that no job meets even by itself."""
    for name, text in wanted.items():
        if not any(_matches(job, name, text) for job in every):
            tell("cli.jobs.none_such", option=f"--{name}", value=text, known=", ".join(_facts(every, name)))
            return
    tell("cli.jobs.none", options=" ".join(f"--{name} {text}" for name, text in wanted.items()))


def _print(found: Sequence[_Shipped]) -> None:
    """Where a row is too wide, the model stands below the name, which stays whole so that it can be copied."""
    columns = [Column(name) for name in _COLUMNS]
    rows = [_row(job) for job in found]
    if not fits(columns, rows):
        room = max(_MODEL_ROOM, *(len(job.name) for job in found))
        columns, rows = [columns[0], *columns[2:]], [half for row in rows for half in _halves(row, room)]
    print_table(columns, rows)


def _row(job: _Shipped) -> tuple[str | None, ...]:
    one = job.recipe
    return (
        job.name,
        one.model,
        one.algorithm,
        one.engine,
        one.rollout,
        f"{one.nodes} × {one.npus_per_node}",
        _context(one),
    )


def _halves(row: tuple[str | None, ...], room: int) -> list[tuple[str | None, ...]]:
    name, model, *rest = row
    below = f"  {model or '-'}"
    return [(name, *rest), (below if len(below) <= room else f"{below[: room - 1]}…", *[""] * len(rest))]


def _context(recipe: Recipe) -> str | None:
    """`4K + 32K`: prompt and response."""
    lengths = [recipe.max_prompt_length, recipe.max_response_length]
    known = [_tokens(length) for length in lengths if length is not None]
    return " + ".join(known) if len(known) == len(lengths) else None


def _tokens(count: int) -> str:
    return str(count) if count % _KILO else f"{count // _KILO}K"
