"""Telling people where they are: a JSON POST to a webhook, and whatever apprise reaches where it is installed.

The addresses are secrets (a chat's webhook is its password): they are read from a private file or a variable, and only
their scheme and host are ever told.
"""

from __future__ import annotations

import http.client
import json
import os
import queue
import stat
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from submitter.errors import Place, UsageError
from submitter.texts import Phrase, Tell

VARIABLE = "NPURUN_NOTIFY"
FILE_NAME = "notify"
"""In the ledger's home: one address a line, `#` starts a comment."""
FILE_LIMIT_BYTES = 65536
POST_TIMEOUT_S = 10.0
PAUSES_S = (0.0, 2.0, 8.0)
"""Before each try: a proxy that restarts is back within seconds; a longer outage must not pile messages up."""
WAITING_LIMIT = 200
"""Messages; a run has a handful."""
_WEB = ("http", "https")
_OTHERS = 0o077

Event = Literal["failed", "recovered", "stopped", "finished", "alert"]


@dataclass(frozen=True)
class Message:
    """What a webhook gets as JSON; what is not known is null."""

    event: Event
    run: str
    job: str
    attempt: int | None
    reason: str | None
    """Of an end; of an alert its id."""
    step: int | None
    total_steps: int | None
    node: str | None
    """IP, as Ray shows it, of the node that is blamed."""
    time: float
    """Unix seconds."""
    text: str
    """The same for people."""


@dataclass(frozen=True)
class Targets:
    webhooks: tuple[str, ...] = field(default=(), repr=False)
    apprise: tuple[str, ...] = field(default=(), repr=False)


def read_targets(home: Path, environ: Mapping[str, str]) -> Targets:
    """Of `$NPURUN_NOTIFY` and the home's file. UsageError: others can read the file, or a line is no address."""
    lines = [*environ.get(VARIABLE, "").split(), *_file_lines(home / FILE_NAME)]
    schemes = [(_scheme(line), line) for line in lines]
    if not all(scheme for scheme, _ in schemes):
        raise UsageError("notify.no_address", Place(key=VARIABLE), file=home / FILE_NAME)
    return Targets(
        tuple(line for scheme, line in schemes if scheme in _WEB),
        tuple(line for scheme, line in schemes if scheme not in _WEB),
    )


class Notifier:
    """`send` never blocks and never raises; a thread of its own delivers, each message to each target."""

    def __init__(self, targets: Targets, tell: Tell, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._targets = targets
        self._tell = tell
        self._sleep = sleep
        self._waiting: queue.Queue[Message] = queue.Queue(WAITING_LIMIT)
        self._thread = threading.Thread(target=self._deliver, name="notify", daemon=True)
        if targets.webhooks or targets.apprise:
            self._thread.start()

    def send(self, message: Message) -> None:
        if not self._thread.is_alive():
            return
        try:
            self._waiting.put_nowait(message)
        except queue.Full:
            self._tell("notify.too_many", run=message.run, event=message.event, limit=WAITING_LIMIT)

    def flush(self, bound_s: float) -> None:
        """Until all is delivered or given up, at most so long."""
        deadline = time.monotonic() + bound_s
        while self._waiting.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.05)

    def _deliver(self) -> None:
        while True:
            message = self._waiting.get()
            for url in self._targets.webhooks:
                self._try(_by_post, url, message)
            for url in self._targets.apprise:
                self._try(_by_apprise, url, message)
            self._waiting.task_done()

    def _try(self, deliver: Callable[[str, Message], str | Phrase | None], url: str, message: Message) -> None:
        why: str | Phrase | None = None
        for pause in PAUSES_S:
            self._sleep(pause)
            why = deliver(url, message)
            if why is None:
                return
        self._tell("notify.failed", target=shown(url), tries=len(PAUSES_S), reason=why)


def shown(url: str) -> str:
    """Scheme and host: path, query and login are the secret part. Other schemes have it even in the host's place."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" if parts.scheme in _WEB else f"{parts.scheme}://…"


def _scheme(url: str) -> str:
    """Empty for what is no address."""
    try:
        return urlsplit(url).scheme
    except ValueError:  # half of an IPv6 address; its text repeats the line
        return ""


def _by_post(url: str, message: Message) -> str | None:
    """None when the server took it, else why not, without the address."""
    body = json.dumps(asdict(message), ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "npurun"}
    try:
        request = urllib.request.Request(url, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=POST_TIMEOUT_S):
            return None
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}"
    except urllib.error.URLError as error:
        return type(error.reason).__name__ if isinstance(error.reason, Exception) else "URLError"
    # HTTPException, ValueError: an address that is none; their texts repeat it.
    except (OSError, http.client.HTTPException, ValueError) as error:
        return type(error).__name__


def _by_apprise(url: str, message: Message) -> str | Phrase | None:
    try:
        import apprise
    except ImportError:
        return "pip install 'npurun[notify]'"
    try:
        sender = apprise.Apprise()
        if not sender.add(url):
            return Phrase("notify.not_apprise")
        taken = sender.notify(title=f"npurun {message.run}: {message.event}", body=message.text)
    except Exception as error:  # a plugin's own; its text may repeat the address
        return type(error).__name__
    return None if taken else Phrase("notify.refused")


def _file_lines(path: Path) -> Sequence[str]:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if stat.S_IMODE(found.st_mode) & _OTHERS or found.st_uid != os.geteuid():
                raise UsageError("notify.not_private", Place(file=str(path)), mode=f"{stat.S_IMODE(found.st_mode):04o}")
            text = file.read(FILE_LIMIT_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UsageError("notify.unreadable", Place(file=str(path)), reason=error.strerror) from error
    lines = (line.split(" #")[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))
