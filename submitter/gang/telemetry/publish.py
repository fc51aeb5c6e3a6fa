"""What the driver does with samples and steps: a line in the telemetry file, and Ray's metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..say import warn
from ..step_lines import Step
from ..steps import OWN_LOG
from .file import TelemetryFile, path_beside
from .gauges import RayGauges, of_sample, of_step
from .sample import parse_sample, sample_line


class Publisher:
    def __init__(self, run: str, attempt: str, log: Path = OWN_LOG, gauges: RayGauges | None = None) -> None:
        path = path_beside(log, attempt)
        if path is None:
            warn("telemetry: not kept: the driver's own log is no file that others could lie beside")
        self._file = None if path is None else TelemetryFile(path, warn)
        self._gauges = gauges or RayGauges(run, warn)

    def samples(self, samples: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """(IP of the node, what its worker measured) each. What is no sample is left out."""
        found = [one for node, sample in samples if (one := parse_sample(sample_line({**sample, "node": node})))]
        if self._file is not None:
            self._file.add(map(sample_line, found))
        for one in found:
            self._gauges.set(of_sample(one))

    def step(self, step: Step, total: int | None) -> None:
        self._gauges.set(of_step(step, total))
