"""The pages themselves: server-rendered frames, which the scripts fill and keep up to date."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from submitter.errors import NpurunError
from submitter.metrics.names import CURVES
from submitter.texts import LANGUAGES, TABLE, text
from submitter.watch.web import actions
from submitter.watch.web.guard import COOKIE
from submitter.watch.web.keys import SESSION_S
from submitter.watch.web.language import COOKIE as LANGUAGE_COOKIE
from submitter.watch.web.language import language_of
from submitter.watch.web.site import Site

REFUSED_S = 0.5
"""Before a wrong token is told: nobody tries many."""
LOGINS_AT_ONCE = 8
FIELDS_MOST = 20
YEAR_S = 365 * 86_400
SCRIPT_ROOMS = ("web.", "phase.", "decide.", "reason.", "NR9")
"""Texts whose ids begin so go to the scripts."""


class Pages:
    def __init__(self, site: Site) -> None:
        import jinja2

        self._site = site
        self._logins = asyncio.Semaphore(LOGINS_AT_ONCE)
        loader = jinja2.DictLoader(_templates())
        self._templates = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
        self._templates.policies["json.dumps_kwargs"] = {}  # as they are: the order of curves is meant

    def routes(self) -> list[Route]:
        return [
            Route("/login", self.login_form),
            Route("/login", self.login, methods=["POST"]),
            Route("/logout", self.logout, methods=["POST"]),
            Route("/", self.runs),
            Route("/cluster", self.cluster),
            Route("/run/{run}", self.run),
            Route("/language", self.language, methods=["POST"]),
            Route("/texts.json", self.texts),
            Route("/run/{run}/stop", self._action(self._stop), methods=["POST"]),
            Route("/run/{run}/resume", self._action(self._resume), methods=["POST"]),
            Route("/nodes/release", self._action(self._release), methods=["POST"]),
        ]

    def login_form(self, request: Request) -> Response:
        return self._page(request, "login.html", refused=False)

    async def login(self, request: Request) -> Response:
        form = await _fields(request)
        async with self._logins:
            if not self._site.keys.is_token(form.get("token", "").strip()):
                await asyncio.sleep(REFUSED_S)
                return self._page(request, "login.html", 403, refused=True)
        answer = RedirectResponse("/", 303)
        session = self._site.sessions.new()
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, session, max_age=SESSION_S, httponly=True, samesite="strict", secure=secure)
        return answer

    async def logout(self, request: Request) -> Response:
        await self._form(request)
        self._site.sessions.end(request.cookies.get(COOKIE, ""))
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    async def language(self, request: Request) -> Response:
        form = await self._form(request)
        answer = RedirectResponse(_own_path(form.get("back", "/")), 303)
        if form.get("language") in LANGUAGES:
            answer.set_cookie(LANGUAGE_COOKIE, form["language"], max_age=YEAR_S, httponly=True, samesite="strict")
        return answer

    def runs(self, request: Request) -> Response:
        return self._page(request, "runs.html")

    def cluster(self, request: Request) -> Response:
        return self._page(request, "cluster.html")

    def run(self, request: Request) -> Response:
        name = request.path_params["run"]
        if self._site.ledger.run(name) is None:
            raise HTTPException(404)
        return self._page(request, "run.html", run=name, curves=CURVES)

    def texts(self, request: Request) -> Response:
        """The scripts' words, by id."""
        number = 1 if language_of(request, self._site) == "zh" else 0
        found = {name: pair[number] for name, pair in TABLE.items() if name.startswith(SCRIPT_ROOMS)}
        return JSONResponse(found)

    def not_found(self, request: Request, _error: Exception) -> Response:
        if request.url.path.startswith(("/api/", "/metrics")):
            return JSONResponse({"error": "not found"}, 404)
        return self._page(request, "not_found.html", 404)

    def failed(self, request: Request, error: Exception) -> Response:
        """A ledger that cannot be read is told; of anything else, that it happened."""
        language = language_of(request, self._site)
        said = error.render(language) if isinstance(error, NpurunError) else text("web.failed", language)
        if request.url.path.startswith(("/api/", "/metrics")):
            return JSONResponse({"error": said}, 500)
        return self._page(request, "failed.html", 500, said=said)

    def _page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        language = language_of(request, self._site)
        session = request.cookies.get(COOKIE, "")
        html = self._templates.get_template(template).render(
            t=lambda text_id, **said: text(text_id, language, **said),
            language=language,
            other_language="en" if language == "zh" else "zh",
            csrf=self._site.keys.form_token(session),
            path=request.url.path,
            **values,
        )
        return HTMLResponse(html, status)

    def _action(self, act: Callable[[dict[str, str], dict[str, str]], actions.Done]) -> Callable[[Request], Any]:
        async def handler(request: Request) -> Response:
            form = await self._form(request)
            done = await run_in_threadpool(act, form, request.path_params)
            if "application/json" not in request.headers.get("accept", ""):
                return RedirectResponse(_own_path(form.get("back", "/")), 303)
            language = language_of(request, self._site)
            said = done.said.render(language) if isinstance(done.said, NpurunError) else _said(done.said, language)
            return JSONResponse({"ok": done.ok, "message": said})

        return handler

    async def _form(self, request: Request) -> dict[str, str]:
        """Of a page of this session; 403 for any other."""
        found = await _fields(request)
        if not self._site.keys.is_form_token(found.get("csrf", ""), request.cookies.get(COOKIE, "")):
            raise HTTPException(403)
        return found

    def _stop(self, _form: dict[str, str], path: dict[str, str]) -> actions.Done:
        return actions.stop(self._site, path["run"])

    def _resume(self, _form: dict[str, str], path: dict[str, str]) -> actions.Done:
        return actions.resume(self._site, path["run"])

    def _release(self, form: dict[str, str], _path: dict[str, str]) -> actions.Done:
        return actions.release(self._site, form.get("node", ""), form.get("address") or None)


async def _fields(request: Request) -> dict[str, str]:
    """Of a form that is sent as its address would be; anything else has none."""
    try:
        return dict(parse_qsl((await request.body()).decode(), max_num_fields=FIELDS_MOST))
    except (ValueError, ClientDisconnect):  # too many, no UTF-8, or cut off
        return {}


def _said(phrase: Any, language: str) -> str:
    return text(phrase.id, language, **phrase.values)


def _own_path(given: str) -> str:
    """A path of this server; never another one's address."""
    return given if given.startswith("/") and not given.startswith(("//", "/\\")) and given.isprintable() else "/"


def _templates() -> dict[str, str]:
    folder = files(__package__).joinpath("templates")
    return {one.name: one.read_text("utf-8") for one in folder.iterdir() if one.name.endswith(".html")}
