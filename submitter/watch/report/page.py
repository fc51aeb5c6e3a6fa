"""The report's page: gathered, put into words, and closed against everything outside it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any

from submitter.errors import UsageError
from submitter.gang.secret_like import redacted, shown
from submitter.ledger import Ledger
from submitter.watch.live import LiveRun, UnknownRunError
from submitter.watch.report.charts import charts, names_shown
from submitter.watch.report.sections import SECTIONS, alerts, attempts, nodes, spent, tiles
from submitter.watch.report.words import Words
from submitter.watch.uplot import SCRIPT, STYLE, vendored
from submitter.watch.view import RunView
from submitter.watch.web.facts import of_attempt

if TYPE_CHECKING:
    from jinja2 import Template


def report(ledger: Ledger, run: str, *, now_ms: int, language: str) -> str:
    """A whole HTML document. UsageError: no such run, or what makes the page is not installed."""
    template, library = _template(), _chart_library()
    try:
        live = LiveRun(ledger, run)
    except UnknownRunError as error:
        raise UsageError("resume.unknown", run=run) from error
    words, view = Words(language), live.view(now_ms)
    names, facts = names_shown(live, view), {one.attempt: of_attempt(one, ledger) for one in ledger.attempts(run)}
    return template.render(
        w=words,
        view=view,
        now_ms=now_ms,
        tiles=tiles(view, words),
        spent=spent(view.goodput),
        attempts=attempts(view, words, facts),
        nodes=nodes(view, words),
        alerts=alerts(view, words),
        groups=_groups(view, names),
        left_out=len(live.names()) - len(names),
        facts={words.t(f"report.facts.{name}"): found for name, found in _newest(facts.values()).items()},
        **_closed(library, charts(live, view)),
    )


def _newest(attempts: Iterable[Mapping[str, Any]]) -> Mapping[str, Mapping[str, str]]:
    """By section, the facts of the newest attempt of which anything is known."""
    found: dict[str, Mapping[str, str]] = {}
    for facts in attempts:
        found |= {name: facts[name] for name in SECTIONS if facts[name]}
    return {name: _masked(found[name]) for name in SECTIONS if name in found}


def _masked(facts: Mapping[str, str]) -> dict[str, str]:
    return {key: shown(key, str(value)) for key, value in sorted(facts.items())}


def _groups(view: RunView, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The names that are not among the curves shown first, by what stands before their first slash."""
    others = names[len(view.curves) :]
    return [(prefix, list(alike)) for prefix, alike in groupby(others, lambda name: name.partition("/")[0])]


def _closed(library: tuple[str, str], data: Mapping[str, Any]) -> dict[str, Any]:
    """The page's own scripts and style, and a policy by which a browser runs these alone and asks nobody for more."""
    from markupsafe import Markup

    (charts_script, charts_style), script = library, _file("page.js")
    allowed = " ".join(f"'sha256-{_digest(one)}'" for one in (charts_script, script))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    document = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return {
        "policy": policy,
        "style": Markup(charts_style + _file("page.css")),
        "library": Markup(charts_script),
        "script": Markup(script),
        "data": Markup(document),
    }


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _template() -> Template:
    try:
        from jinja2 import Environment, StrictUndefined
    except ModuleNotFoundError as error:
        raise UsageError("report.not_installed", missing=error.name) from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_finalize, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_file("page.html"))


def _finalize(value: object) -> object:
    """All that the page says passes here, and no secret that it quotes."""
    return redacted(value) if type(value) is str else value


def _chart_library() -> tuple[str, str]:
    """Its script and its style."""
    try:
        return vendored(SCRIPT).read_text("utf-8"), vendored(STYLE).read_text("utf-8")
    except ModuleNotFoundError as error:
        raise UsageError("report.not_installed", missing=error.name) from error


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
