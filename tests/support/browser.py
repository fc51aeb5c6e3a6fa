"""A page of the system's Chromium, without a window. What it complains of, and whom it asks, is kept."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from submitter.watch.web.guard import COOKIE
from tests.support.processes import wait_for
from tests.support.web import Web

ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage")
"""As root, and in a container with a small /dev/shm."""
SEEN_S = 10.0
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 400, "height": 860}


@dataclass
class Heard:
    """Of a page, from its opening on."""

    complaints: list[str] = field(default_factory=list)
    """Errors and warnings of its console, and what no script caught."""
    asked: list[str] = field(default_factory=list)
    """URLs."""


@contextmanager
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path is not None, "no chromium on this machine: make browser"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        try:
            yield browser
        finally:
            browser.close()


def new_context(browser: Browser, *, dark: bool = False, size: Mapping[str, int] = WIDE, **more: Any) -> BrowserContext:
    """A browser of its own: no cookies, nothing cached."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport=dict(size), color_scheme=scheme, **more)  # type: ignore[arg-type]
    context.set_default_timeout(SEEN_S * 1000)
    return context


def listened(page: Page) -> Heard:
    heard = Heard()
    page.on("console", lambda said: heard.complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: heard.complaints.append(str(error)))
    page.on("request", lambda request: heard.asked.append(request.url))
    return heard


def until(page: Page, script: str, what: str) -> Any:
    """The first true value of the expression in the page; playwright's own way needs `eval`, which pages forbid."""

    def value() -> Any:
        with suppress(Error):  # in the midst of a navigation
            return page.evaluate(script)
        return None

    return wait_for(value, bound_s=SEEN_S, what=what)


@contextmanager
def signed_in(context: BrowserContext, pages: Web) -> Iterator[Page]:
    """A page of somebody who has given the token."""
    session = {"name": COOKIE, "value": pages.session(), "url": pages.origin, "httpOnly": True, "sameSite": "Strict"}
    context.add_cookies([session])  # type: ignore[list-item]
    try:
        yield context.new_page()
    finally:
        context.close()
