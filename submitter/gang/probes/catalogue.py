"""Every probe and every judge, once; a new file of them adds its table here."""

from __future__ import annotations

from . import devices, host, inside, network, paths, start, versions
from .measure import Probe
from .verdict import Judge

_FAMILIES = (devices, versions, network, host, paths, start)

PROBES: tuple[Probe, ...] = tuple(probe for family in _FAMILIES for probe in family.PROBES)
JUDGES: tuple[Judge, ...] = tuple(rule for family in (*_FAMILIES, inside) for rule in family.JUDGES)
