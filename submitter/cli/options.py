"""The parameters that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import TRAINER_ARGS, Option
from submitter.errors import NpurunError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from submitter.cluster.client import RayClient
    from submitter.job.model import Job
    from submitter.ledger import Ledger

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(*names: str, **settings: Any) -> Decorator:
    return click.option(*names, cls=Option, **settings)


def job_parameters(function: Callable[..., Any]) -> Callable[..., Any]:
    """`JOB` and `--set`; what stands after `--` is in the context (see `load`)."""
    function = option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="cli.option.set")(function)
    return click.argument("job", metavar="JOB", shell_complete=_complete_job)(function)


def address_option(function: Callable[..., Any]) -> Callable[..., Any]:
    function = option("--ca", metavar="FILE", help="cli.option.ca")(function)
    return option("--address", metavar="URL", help="cli.option.address")(function)


def run_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("run", metavar="RUN", shell_complete=_complete_run)(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--json", "as_json", is_flag=True, help="cli.option.json")(function)


def load(job: str, sets: tuple[str, ...]) -> Job:
    """The job as the command line asks for it: file, environment, `--set`, trainer arguments after `--`."""
    from submitter.job.load import load_job

    extra = click.get_current_context().meta.get(TRAINER_ARGS, ())
    return load_job(job, environ=os.environ, sets=sets, extra=extra)


def client(address: str | None, ca: str | None) -> RayClient:
    from submitter.cluster.client import from_environment

    return from_environment(address, os.environ, ca_bundle=ca)


def ledger() -> Ledger:
    from submitter.ledger import Ledger, default_home

    return Ledger(default_home(os.environ))


def _complete_job(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from jobs import shipped

    names = [path.stem for path in shipped() if path.stem.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def _complete_run(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Of this machine's ledger only: a Tab waits for no cluster, makes no folder and tells no error."""
    from click.shell_completion import CompletionItem

    from submitter.ledger import default_home
    from submitter.ledger.home import FILE_NAME

    if not (default_home(os.environ) / FILE_NAME).is_file():
        return []
    try:
        runs = ledger().runs().values()
    except NpurunError:
        return []
    return [CompletionItem(run.run, help=run.job) for run in runs if run.run.startswith(incomplete)]
