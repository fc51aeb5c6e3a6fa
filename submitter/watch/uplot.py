"""uPlot, the chart library of the pages and of reports, out of the wheel that it came in."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

WHEEL = "youplot"
SCRIPT, STYLE = "uplot.iife.min.js", "uplot.min.css"


def vendored(name: str) -> Path:
    """`SCRIPT` or `STYLE`: found, not imported, so that nothing of the wheel runs here. ModuleNotFoundError."""
    spec = find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {WHEEL!r}", name=WHEEL)
    return Path(spec.origin).parent / "vendor" / name
