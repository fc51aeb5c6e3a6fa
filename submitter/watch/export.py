"""All steps of a run as CSV or JSON, in pieces: 100,000 steps need no more memory than a few hundred."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from submitter.errors import UsageError
from submitter.ledger import Ledger, Step
from submitter.metrics.joined import Joined

PAGE_STEPS = 500
"""Read at once; a MB or two."""
FIXED = ("step", "attempt", "seen", "counts")
"""Columns before the metrics: `seen` in Unix seconds; `counts` is false for a step that was trained again later."""


@dataclass(frozen=True)
class Exported:
    step: Step
    counts: bool
    """False: a later attempt has trained the step again, or it was validated once more."""


@dataclass(frozen=True)
class Export:
    run: str
    names: Sequence[str]
    """Of all metrics that the run logged, in the order of their coming."""
    rows: Iterator[Exported]


def export(ledger: Ledger, run: str, *, every: bool = False) -> Export:
    """By step. `every`: also the rows that do not count. UsageError for a run that this ledger does not have."""
    if ledger.run(run) is None:
        raise UsageError("resume.unknown", run=run)
    return Export(run, ledger.metric_names(run), _rows(ledger, run, every))


def as_csv(found: Export) -> Iterator[str]:
    """Pieces of a file with a heading. What a step lacks is empty; nan and the infinities are "nan", "inf", "-inf"."""
    yield _csv_line([*FIXED, *found.names])
    for row in found.rows:
        metrics = row.step.metrics
        values = ["" if (value := metrics.get(name)) is None else repr(value) for name in found.names]
        yield _csv_line([row.step.step, row.step.attempt, row.step.seen_ms / 1000, _word(row.counts), *values])


def as_json(found: Export) -> Iterator[str]:
    """Pieces of one document: `{"run", "names", "steps": [{"step", "attempt", "seen", "counts", "metrics": {}}]}`.

    nan and the infinities, which JSON does not have, are null; what a step lacks is not there.
    """
    yield f'{{"run": {json.dumps(found.run)}, "names": {json.dumps(list(found.names))}, "steps": ['
    for number, row in enumerate(found.rows):
        yield ("," if number else "") + "\n" + json.dumps(_document(row))
    yield "\n]}\n"


FORMS: Mapping[str, Callable[[Export], Iterator[str]]] = {"csv": as_csv, "json": as_json}


def _rows(ledger: Ledger, run: str, every: bool) -> Iterator[Exported]:
    counted, steps = _counted(ledger, run)
    for begin in range(0, len(steps), PAGE_STEPS):
        page = steps[begin : begin + PAGE_STEPS]
        for step in ledger.steps(run, after=page[0] - 1, until=page[-1]):
            counts = counted.get(step.step) == step.attempt
            if counts or every:
                yield Exported(step, counts)


def _counted(ledger: Ledger, run: str) -> tuple[dict[int, int], Sequence[int]]:
    """The attempt of each step that counts, and all steps that there are, ascending."""
    columns = ledger.columns(run, ())
    joined = Joined()
    joined.add(columns.steps, columns.attempts, {one.attempt: one.resumed_from for one in ledger.attempts(run)})
    attempts = (columns.attempts[row] for row in joined.rows)
    return dict(zip(joined.steps, attempts, strict=True)), sorted(set(columns.steps))


def _document(row: Exported) -> dict[str, object]:
    metrics = {name: value if math.isfinite(value) else None for name, value in row.step.metrics.items()}
    step = row.step
    return {
        "step": step.step,
        "attempt": step.attempt,
        "seen": step.seen_ms / 1000,
        "counts": row.counts,
        "metrics": metrics,
    }


def _csv_line(values: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _word(value: bool) -> str:
    return "true" if value else "false"
