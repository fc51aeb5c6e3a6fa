"""A job's groups → the trainer's arguments and the whole command. Lists of arguments only: no shell reads them."""

from __future__ import annotations

from submitter.arguments.values import value_text
from submitter.job.hydra_grammar import OPTIONS
from submitter.job.model import Argument, Job, Torchrun


def arguments(job: Job) -> list[str]:
    """All arguments of all groups in the order of the file, then those from after `--`."""
    return [*(argument_text(argument) for argument in own_arguments(job)), *job.extra_arguments]


def own_arguments(job: Job) -> list[Argument]:
    """Those of the groups. Hydra's options go first: its parser refuses them between overrides."""
    own = [argument for group in job.groups for argument in group.arguments]
    return sorted(own, key=lambda argument: not is_option(argument))


def is_option(argument: Argument) -> bool:
    """Hydra's, as a key of a group; words of a list stay where they are."""
    return argument.word is None and argument.key in OPTIONS


def argument_text(argument: Argument) -> str:
    """`key=value`; `~key` for a deletion whose value is null; an option's text as it is, since no grammar reads it."""
    if argument.word is not None:
        return argument.word
    if argument.key in OPTIONS:
        return f"{argument.key}={getattr(argument.value, 'text', argument.value)}"
    if argument.value is None and argument.key.startswith("~"):
        return argument.key
    return f"{argument.key}={value_text(argument.value)}"


def command(job: Job) -> list[str]:
    """Launcher ray: the whole command. Launcher torchrun: what follows torchrun's own options."""
    script = job.trainer.script
    program = ["-m", job.trainer.module] if script is None else [script]
    python = [] if job.trainer.launcher == "torchrun" else ["python3"]
    return [*python, *program, *arguments(job)]


def argv(job: Job) -> list[str]:
    """The command as a person would type it; with torchrun, each node's `--node_rank` is chosen in the cluster."""
    if job.trainer.torchrun is None:
        return command(job)
    return ["torchrun", *_torchrun_options(job.cluster.nodes, job.trainer.torchrun), *command(job)]


def flags(job: Job) -> dict[str, str]:
    """The job's own flags, sorted by name."""
    return {flag.name: flag.value for flag in sorted(job.flags, key=lambda flag: flag.name)}


def _torchrun_options(nodes: int, torchrun: Torchrun) -> list[str]:
    options = [f"--nnodes={nodes}", f"--nproc_per_node={torchrun.nproc_per_node}"]
    if torchrun.master_addr is not None:
        options.append(f"--master_addr={torchrun.master_addr}")
    if torchrun.master_port is not None:
        options.append(f"--master_port={torchrun.master_port}")
    return options
