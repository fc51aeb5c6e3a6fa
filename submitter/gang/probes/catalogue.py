"""Every probe and every judge, once; a new file of them adds its table here."""

from __future__ import annotations

from .measure import Probe
from .verdict import Judge

PROBES: tuple[Probe, ...] = ()
JUDGES: tuple[Judge, ...] = ()
