"""Every probe and every judge, once; a new file of them adds its table here."""

from __future__ import annotations

from . import devices, host
from .measure import Probe
from .verdict import Judge

PROBES: tuple[Probe, ...] = (*devices.PROBES, *host.PROBES)
JUDGES: tuple[Judge, ...] = (*devices.JUDGES, *host.JUDGES)
