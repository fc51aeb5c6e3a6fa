"""New samples of an attempt's nodes, from the file that its driver writes beside its log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.gang.telemetry.devices import EVERY_S
from submitter.gang.telemetry.sample import TELEMETRY_FILE, parse_sample

LINES_FIRST = 32
LINES_MOST = 4096
"""64 nodes for ten minutes: 10 MB."""
ROUNDS = 3
"""Lines asked for, per node: those of half a minute."""
ABSENT_EVERY_S = 60.0
"""An attempt that has not begun to train, or whose driver keeps no file."""


class Telemetry:
    """In a lane's thread, one call at a time."""

    def __init__(self, submission_id: str, clock: Callable[[], float]) -> None:
        self._file = TELEMETRY_FILE.format(attempt=submission_id)
        self._clock = clock
        self._due_s = clock()
        self._lines = LINES_FIRST
        self._newest: dict[str, float] = {}
        """Unix seconds, by node."""

    def read(self, client: RayClient, info: JobInfo) -> list[dict[str, Any]]:
        """Those that were not read before; none where there is no file, or the cluster does not hand it out."""
        if self._clock() < self._due_s:
            return []
        try:
            data = b"".join(client.beside_log(info, self._file, self._lines))
        except RayError:  # not measured: the cluster's word on the job stands without it
            data = b""
        lines = data.decode("utf-8", "replace").splitlines()
        fresh = [one for line in lines if (one := parse_sample(line)) and self._is_new(one)]
        missed = bool(self._newest) and len(lines) >= self._lines and len(fresh) == len(lines)
        for one in fresh:
            self._newest[one["node"]] = max(one["at"], self._newest.get(one["node"], 0.0))
        self._lines = min(LINES_MOST, self._lines * 4 if missed else max(LINES_FIRST, ROUNDS * len(self._newest)))
        self._due_s = self._clock() + (EVERY_S if lines else ABSENT_EVERY_S)
        return fresh

    def _is_new(self, sample: Mapping[str, Any]) -> bool:
        return bool(sample["at"] > self._newest.get(sample["node"], 0.0))
