"""The care for one run, from whatever the ledger says of it to its end.

It keeps nothing that matters: thrown away at any instant and begun anew, it goes on from the ledger.
"""

from __future__ import annotations

from submitter.supervise.act import go_on
from submitter.supervise.adopt import adopt
from submitter.supervise.endings import diagnosed
from submitter.supervise.lanes import Care
from submitter.supervise.observe import watch
from submitter.supervise.world import World


def care(world: World, name: str) -> Care[None]:
    """Until the run named `name` is over, or is gone from the ledger."""
    while (run := world.ledger.run(name)) is not None and run.state == "active":
        attempts = world.ledger.attempts(name)
        newest = attempts[-1]
        if newest.state is not None and newest.diagnosis is None:
            yield from diagnosed(world, run, newest)
        elif newest.state is not None:
            yield from go_on(world, run, attempts)
        elif newest.posted_ms is None:
            yield from adopt(world, run, newest)
        else:
            yield from watch(world, run, newest)
