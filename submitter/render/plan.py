"""Job -> the plan that the driver carries out in the cluster."""

from __future__ import annotations

from runtime_env.build import delivered_flags, secret_references
from submitter.arguments.assemble import command
from submitter.gang.plan import Plan, TorchrunPlan
from submitter.job.model import Job
from submitter.render.checkpoint import checkpoint_plan, hang_plan
from submitter.render.wish import wish


def plan(job: Job) -> Plan:
    """The same for every attempt of the job; holds references to secrets, never values."""
    return Plan(
        launcher=job.trainer.launcher,
        command=tuple(command(job)),
        nodes=job.cluster.nodes,
        npus_per_node=job.cluster.npus_per_node,
        labels=dict(job.cluster.labels),
        flags=delivered_flags(job),
        secrets=secret_references(job),
        place_wait_s=job.cluster.place_wait_s,
        torchrun=_torchrun(job),
        wish=wish(job),
        on_unfit=job.cluster.on_unfit,
        checkpoint=checkpoint_plan(job),
        hang=hang_plan(job),
    )


def _torchrun(job: Job) -> TorchrunPlan | None:
    options = job.trainer.torchrun
    if options is None:
        return None
    return TorchrunPlan(options.nproc_per_node, options.master_addr, options.master_port)
