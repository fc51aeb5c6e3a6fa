"""Which language a page is in: as its reader chose, else as the browser asks, else as the server was started."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from submitter.texts import LANGUAGES
from submitter.watch.web.site import Site

COOKIE = "npurun-lang"


def language_of(call: HTTPConnection, site: Site) -> str:
    chosen = call.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    for part in call.headers.get("accept-language", "").split(",")[:10]:
        asked = part.strip()[:2].lower()
        if asked in LANGUAGES:
            return asked
    return site.language
