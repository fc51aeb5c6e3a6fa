"""What the pages' scripts, and programs with the token, read as JSON. None is "not measured", never 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from submitter.cluster.client import JobInfo, RayClient
from submitter.errors import NpurunError
from submitter.ledger import Attempt
from submitter.metrics.phases import TIMING_NAMES
from submitter.texts import text
from submitter.watch.live import LiveRun, LiveRuns, UnknownRunError
from submitter.watch.view import as_json
from submitter.watch.web import facts, logs
from submitter.watch.web.language import language_of
from submitter.watch.web.series import NAMES_MOST, POINTS, POINTS_MOST, series
from submitter.watch.web.site import Site
from submitter.watch.web.stack import stack

FIND_CHARS = 500
LINES_MOST = 5_000


class Api:
    """Handlers run in threads; each reads the ledger, or asks a cluster with a bound."""

    def __init__(self, site: Site, runs: LiveRuns) -> None:
        self._site = site
        self._runs = runs

    def routes(self) -> list[Route]:
        return [
            Route("/api/runs", self.all_runs),
            Route("/api/run/{run}", self.run),
            Route("/api/run/{run}/metrics", self.metrics),
            Route("/api/run/{run}/series", self.series),
            Route("/api/run/{run}/phases", self.phases),
            Route("/api/run/{run}/attempts/{number:int}/facts", self.attempt_facts),
            Route("/api/run/{run}/attempts/{number:int}/log", self.log),
            Route("/api/cluster", self.cluster),
            Route("/metrics", self.prometheus),
        ]

    def all_runs(self, _request: Request) -> Response:
        """`[RunRow]`, the newest first."""
        return JSONResponse([as_json(row) for row in self._runs.rows(self._site.wall_ms())])

    def run(self, request: Request) -> Response:
        """RunView without its curves, and `dashboard`: links to the Ray dashboard's pages."""
        return JSONResponse(run_document(self._live(request), self._site))

    def metrics(self, request: Request) -> Response:
        """Names of all metrics."""
        return JSONResponse(self._live(request).names())

    def series(self, request: Request) -> Response:
        """As `series.series`; `?name=…&name=…&points=2000&after=0`, `?from=100&to=200`: only these steps.

        Without a name: the curves that are shown first.
        """
        live = self._live(request)
        names = request.query_params.getlist("name")[:NAMES_MOST] or live.curve_names()
        points = max(2, min(_number(request, "points", POINTS), POINTS_MOST))
        first, last = _number(request, "from", 0), _number(request, "to", -1)
        within = None if last < 0 else range(first, last + 1)
        columns = live.columns(names)
        return JSONResponse(series(columns, points, _number(request, "after", 0), within))

    def phases(self, request: Request) -> Response:
        """As `stack.stack`."""
        return JSONResponse(stack(self._live(request).columns(TIMING_NAMES)))

    def attempt_facts(self, request: Request) -> Response:
        """As `facts.of_attempt`."""
        return JSONResponse(facts.of_attempt(self._attempt(request), self._site.ledger))

    def log(self, request: Request) -> Response:
        """`{"lines": [[number or null, text]], "cut": bool}` or `{"error": why}`; `?tail=9`, `?line=8`, `?find=x`."""
        attempt = self._attempt(request)
        read = _reader(request)
        run = self._site.ledger.run(attempt.run)
        assert run is not None
        try:
            client = self._site.connect(run.address)
            info = client.job(attempt.submission_id)
            if info is None:
                return JSONResponse({"error": text("web.log_forgotten", language_of(request, self._site))})
            piece = read(client, info)
        except NpurunError as error:
            return JSONResponse({"error": error.render(language_of(request, self._site))})
        return JSONResponse({"lines": piece.lines, "cut": piece.cut})

    def cluster(self, request: Request) -> Response:
        """As `facts.of_cluster`."""
        now_ms, language = self._site.wall_ms(), language_of(request, self._site)
        return JSONResponse(facts.of_cluster(self._site.ledger, now_ms, language))

    def prometheus(self, _request: Request) -> Response:
        body = self._site.exporter.text(self._site.wall_ms())
        return Response(body, media_type="text/plain; version=0.0.4")

    def _live(self, request: Request) -> LiveRun:
        try:
            return self._site.runs.fresh(request.path_params["run"])
        except UnknownRunError:
            raise HTTPException(404) from None

    def _attempt(self, request: Request) -> Attempt:
        run, number = request.path_params["run"], request.path_params["number"]
        found = next((one for one in self._site.ledger.attempts(run) if one.attempt == number), None)
        if found is None:
            raise HTTPException(404)
        return found


def run_document(live: LiveRun, site: Site) -> dict[str, Any]:
    view = live.view(site.wall_ms())
    document: dict[str, Any] = as_json(replace(view, curves={}))
    newest = view.attempts[-1].submission_id if view.attempts else ""
    pages = {"job": f"jobs/{newest}", "cluster": "cluster", "logs": "logs"}
    return {**document, "dashboard": {name: facts.dashboard(view.address, page) for name, page in pages.items()}}


def _reader(request: Request) -> Callable[[RayClient, JobInfo], logs.Piece]:
    wanted, line = request.query_params.get("find", "")[:FIND_CHARS], _number(request, "line", 0)
    if wanted:
        return lambda client, info: logs.find(client, info, wanted)
    if line:
        return lambda client, info: logs.around(client, info, line)
    lines = max(1, min(_number(request, "tail", logs.TAIL_LINES), LINES_MOST))
    return lambda client, info: logs.tail(client, info, lines)


def _number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 16 else default
