"""What a page may do: wish for a stop, resume a run, take a node back. As the commands do it, without waiting."""

from __future__ import annotations

from dataclasses import dataclass

from submitter.errors import NpurunError
from submitter.supervise import nodes
from submitter.supervise.resume import resume as reopen
from submitter.texts import Phrase
from submitter.watch.web.site import Site


@dataclass(frozen=True)
class Done:
    ok: bool
    said: Phrase | NpurunError


def stop(site: Site, run: str) -> Done:
    noted = site.ledger.run(run)
    if noted is None:
        return Done(False, Phrase("resume.unknown", {"run": run}))
    if noted.state != "active":
        return Done(True, Phrase("stop.ended_before", {"run": run, "state": noted.state}))
    if not noted.supervised:
        return Done(False, Phrase("web.not_in_care", {"run": run}))
    site.ledger.want(run, "stop")
    return _cared(site, Phrase("web.stop_wished", {"run": run}))


def resume(site: Site, run: str) -> Done:
    try:
        reopen(run, site.ledger)
    except NpurunError as error:
        return Done(False, error)
    return _cared(site, Phrase("web.resumed", {"run": run}))


def release(site: Site, node: str, address: str | None) -> Done:
    try:
        nodes.release(site.ledger, node, site.wall_ms(), address)
    except NpurunError as error:
        return Done(False, error)
    return Done(True, Phrase("web.released", {"node": node}))


def _cared(site: Site, said: Phrase) -> Done:
    """The wish is written down; who fulfils it is a matter of its own."""
    try:
        site.care()
    except NpurunError as error:
        return Done(False, error)
    return Done(True, said)
