"""The parameters that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import TRAINER_ARGS, Option
from submitter.cli.language import language
from submitter.errors import NpurunError, Place

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
    return job_argument()(set_option(function))


def set_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="cli.option.set")(function)


def job_argument(required: bool = True) -> Decorator:
    shown = "JOB" if required else "[JOB]"
    return click.argument("job", metavar=shown, required=required, shell_complete=_complete_job)


def address_option(function: Callable[..., Any]) -> Callable[..., Any]:
    function = option("--ca", metavar="FILE", help="cli.option.ca")(function)
    return option("--address", metavar="URL", help="cli.option.address")(function)


def run_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("run", metavar="RUN", shell_complete=_complete_run)(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--json", "as_json", is_flag=True, help="cli.option.json")(function)


def stack_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--stack", metavar="STACK", shell_complete=_complete_stack, help="cli.option.stack")(function)


def force_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--force", multiple=True, metavar="IDS", shell_complete=_complete_forcible, help="cli.option.force")(
        function
    )


def load(job: str, sets: tuple[str, ...], stack: str | None = None) -> Job:
    """The job as the command line asks for it: file, environment, `--set`, `--stack`, trainer arguments after `--`."""
    from runtime_env.stacks import override
    from submitter.job.load import load_job

    extra = click.get_current_context().meta.get(TRAINER_ARGS, ())
    loaded = load_job(job, environ=os.environ, sets=sets, extra=extra)
    return loaded if stack is None else replace(loaded, stack=override(loaded.stack, stack, Place(key="--stack")))


def client(address: str | None, ca: str | None) -> RayClient:
    from submitter.cluster.client import from_environment

    return from_environment(address, os.environ, ca_bundle=ca)


def ledger() -> Ledger:
    from submitter.ledger import Ledger, default_home

    return Ledger(default_home(os.environ))


def supervisor(book: Ledger, *, ca: str | None = None, wait: bool = True) -> bool:
    """Makes sure that the home's one supervisor is at work (or soon will be); True when it had to be started.

    It believes the CA bundle of the command that starts it, by the variable that it reads.
    """
    from submitter.cli.output import tell
    from submitter.supervise.serve import ensure_running

    environ = {**os.environ, **({"REQUESTS_CA_BUNDLE": ca} if ca else {})}
    return ensure_running(book.path.parent, book, tell=tell, environ=environ, wait=wait)


def trees() -> Path:
    """Where verl's config trees are."""
    from submitter.arguments.trees import trees_folder
    from submitter.ledger.home import default_home

    return trees_folder(default_home(os.environ))


def _complete_job(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from jobs import shipped

    names = [path.stem for path in shipped() if path.stem.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def _complete_stack(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from runtime_env.stacks import stacks

    return [CompletionItem(name) for name in stacks() if name.startswith(incomplete)]


def _complete_forcible(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The last of the ids that commas part."""
    from click.shell_completion import CompletionItem

    from submitter.checks.about import title
    from submitter.checks.registry import RULES

    before, comma, last = incomplete.rpartition(",")
    names = [rule.id for rule in RULES if rule.forcible and rule.id.startswith(last.upper())]
    return [CompletionItem(f"{before}{comma}{name}", help=title(name, language())) for name in names]


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
