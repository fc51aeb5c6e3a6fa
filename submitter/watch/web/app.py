"""The application: guard, pages, API, sockets, static files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from submitter.watch.live import LiveRuns
from submitter.watch.uplot import SCRIPT, STYLE, vendored
from submitter.watch.web.api import Api
from submitter.watch.web.guard import COOKIE, Guard
from submitter.watch.web.hub import Hub
from submitter.watch.web.language import language_of
from submitter.watch.web.pages import Pages
from submitter.watch.web.site import Site
from submitter.watch.web.subjects import subject_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

CHARTS = {
    "/static/charts.js": (SCRIPT, "text/javascript"),
    "/static/charts.css": (STYLE, "text/css"),
}
"""The chart library: six curves are drawn in a quarter of the time that plotly's 5 MB take to be read."""


def make_app(site: Site) -> ASGIApp:
    runs = LiveRuns(site.ledger)
    pages, api = Pages(site), Api(site, runs)
    hub = Hub(lambda key, language: subject_of(key, site, runs, language))

    async def live(socket: WebSocket) -> None:
        session = socket.cookies.get(COOKIE)
        is_open = (lambda: site.sessions.is_open(session)) if session is not None else (lambda: True)
        await hub.serve(socket, language_of(socket, site), is_open)

    app = Starlette(
        routes=[
            *pages.routes(),
            *api.routes(),
            WebSocketRoute("/live", live),
            *(Route(path, _charts) for path in CHARTS),
            Mount("/static", StaticFiles(directory=_static())),
        ],
        exception_handlers={404: pages.not_found, HTTPException: _plain, Exception: pages.failed},
    )
    return Guard(app, site.keys, site.sessions, site.hosts)


def _charts(request: Request) -> Response:
    name, kind = CHARTS[request.url.path]
    return FileResponse(vendored(name), media_type=kind)


def _static() -> Path:
    return Path(str(files(__package__).joinpath("static")))


def _plain(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return Response(status_code=status)
