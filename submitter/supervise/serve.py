"""The one supervisor process of a ledger: the lock, signals, and how a command starts it without waiting for it."""

from __future__ import annotations

import os
import queue
import random
import signal
import site
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import submitter
from submitter.cluster.auth import find_token
from submitter.cluster.client import RayClient
from submitter.errors import NpurunError, UsageError
from submitter.ledger import Holder, Ledger, held, is_stale, this_process
from submitter.supervise.clusters import Connect
from submitter.supervise.lanes import Lanes
from submitter.supervise.notify import Message, Notifier, read_targets
from submitter.supervise.world import World, poll_max_s
from submitter.texts import Phrase, Tell

if TYPE_CHECKING:
    from submitter.supervise.supervisor import Leave

LOG_NAME = "supervisor.log"
LOG_BYTES = 10 << 20
"""Then it becomes `supervisor.log.1`, in the place of the one before."""
STAND_BY_S = 1.0
"""Between two looks at the lock, which is a file here."""
START_BOUND_S = 30.0
"""Half a second on a quiet machine; imports from a network file system can take many."""
SAY_AFTER_S = 3.0
LOOK_EVERY_S = 0.05
FLUSH_S = 3.0
"""What people are notified of at the very end is still sent, if that is quick."""
_PATHS = ("RAY_AUTH_TOKEN_PATH", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
"""Variables that name files: the supervisor stands in another folder."""


class NotStartedError(NpurunError):
    """The supervisor does not run; what was submitted goes on."""


def serve(
    home: Path,
    *,
    until_idle: bool,
    say: Tell,
    environ: Mapping[str, str],
    language: str = "en",
    stand_by: bool = False,
) -> Leave:
    """Cares for all runs of the home until it is told to leave, or (`until_idle`) until none is active.

    LockHeldError: another one serves it. `until_idle`, that is no error: two commands have started one each.
    `stand_by`: then it waits until that one has gone, and takes over.
    """
    from submitter.supervise.supervisor import Supervisor  # brings the diagnosis; who only starts a process needs none

    most_s = poll_max_s(environ)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    ledger = Ledger(home)
    identity = _identity(ledger.path)
    try:
        # Who has the lock can be told to leave.
        with _signals(lambda: inbox.put(None), detached=until_idle):
            holder = this_process(_now_ms())
            other = ledger.take(holder, _now_ms())
            if other is not None and until_idle:
                return "idle"
            if other is not None and not stand_by:
                raise held(other, home, _now_ms())
            if other is not None and not _stood_by(ledger, holder, other, inbox, say):
                return "told"
            say("supervise.serving", pid=holder.pid, home=home)
            if (warning := ledger.journal.warning) is not None:
                say(warning.id, **warning.values)
            with _notified(home, environ, say) as notify:
                supervisor = Supervisor(
                    _world(ledger, holder, say, notify, environ, most_s, language),
                    Lanes(inbox),
                    inbox,
                    home_there=lambda: _is_same(ledger.path, identity),
                    until_idle=until_idle,
                )
                left = supervisor.run()
        say(f"supervise.left.{left}")
        return left
    finally:
        ledger.close()


def _stood_by(ledger: Ledger, holder: Holder, other: Holder, inbox: queue.SimpleQueue[Any], say: Tell) -> bool:
    """Whether the lock is ours now; False: told to leave."""
    said = ""
    while True:  # until the other one has gone, or a signal comes
        if said != other.token:
            said = other.token
            say("supervise.standing_by", pid=other.pid, host=other.host)
        try:
            inbox.get(timeout=STAND_BY_S)
            return False
        except queue.Empty:
            found = ledger.take(holder, _now_ms())
        if found is None:
            return True
        other = found


def ensure_running(home: Path, ledger: Ledger, *, tell: Tell, environ: Mapping[str, str], wait: bool = True) -> bool:
    """Makes sure that the ledger has its supervisor; True when one had to be started. Call it after the intent.

    NotStartedError: none came within START_BOUND_S; without `wait`, the process could not even be started.
    """
    if _living(ledger) is not None:
        return False
    log = home / LOG_NAME
    try:
        process = start_detached(home, environ)
    except OSError as error:  # no processes left, a home that cannot be written
        raise _not_started(log, 0, str(error.strerror)) from error
    if wait:
        _wait_for_lock(process, home, ledger, tell, environ)
    return True


def _wait_for_lock(
    process: subprocess.Popen[bytes], home: Path, ledger: Ledger, tell: Tell, environ: Mapping[str, str]
) -> None:
    log = home / LOG_NAME
    began = said = time.monotonic()
    while _living(ledger) is None:
        now = time.monotonic()
        if process.poll() == 0:  # another one had the lock, and has left since
            process = start_detached(home, environ)
        elif process.poll() is not None:
            raise _not_started(log, now - began, Phrase("supervise.exited", {"code": process.returncode}))
        if now - began > START_BOUND_S:
            raise _not_started(log, now - began, Phrase("supervise.no_lock"))
        if now - said >= SAY_AFTER_S:
            said = now
            tell("supervise.starting", pid=process.pid, log=log, seconds=f"{now - began:.0f}")
        time.sleep(LOOK_EVERY_S)


def start_detached(home: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """`npurun serve --until-idle` in a session of its own: neither Ctrl-C nor a closed terminal reaches it."""
    with _open_log(home) as log:
        return subprocess.Popen(
            [sys.executable, "-m", submitter.__name__, "serve", "--until-idle"],
            env=_environment(home, environ),
            cwd="/",  # a folder that is removed or unmounted later would be in the way
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def keep_log_small(home: Path, most_bytes: int = LOG_BYTES) -> None:
    """Of a detached supervisor, whose output goes to the home's log: begins a new file when that is full."""
    path = home / LOG_NAME
    try:
        found, there = os.fstat(1), path.stat()
        if not os.path.samestat(found, there) or found.st_size < most_bytes:
            return
        path.replace(path.with_suffix(".log.1"))
        with _open_log(home) as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
    except OSError:  # an output that is no file, a folder that is gone: no reason to end
        return


def connection(environ: Mapping[str, str]) -> Connect:
    """Clients with what this process knows: tokens in files are read anew for each."""
    return lambda address: RayClient(address, token=find_token(environ), environ=environ)


def _world(
    ledger: Ledger,
    holder: Holder,
    say: Tell,
    notify: Callable[[Message], None],
    environ: Mapping[str, str],
    most_s: float | None,
    language: str,
) -> World:
    return World(
        ledger=ledger,
        connect=connection(environ),
        holder=holder,
        clock=time.monotonic,
        wall_ms=_now_ms,
        sleep=time.sleep,
        rng=random.Random(),
        say=say,
        notify=notify,
        language=language,
        poll_max_s=most_s,
    )


@contextmanager
def _notified(home: Path, environ: Mapping[str, str], say: Tell) -> Iterator[Callable[[Message], None]]:
    """A bad address is told, and nobody is notified: no reason to leave runs alone."""
    try:
        targets = read_targets(home, environ)
    except UsageError as error:
        say("supervise.no_notifier", error=error)
        yield lambda _message: None
        return
    notifier = Notifier(targets, say)
    yield notifier.send
    notifier.flush(FLUSH_S)


@contextmanager
def _signals(stop: Callable[[], None], *, detached: bool) -> Iterator[None]:
    """SIGTERM and Ctrl-C let the loop leave; a terminal that closes ends only one that stands in it."""
    handlers: dict[signal.Signals, Any] = {signal.SIGTERM: lambda *_: stop(), signal.SIGINT: lambda *_: stop()}
    handlers[signal.SIGHUP] = signal.SIG_IGN if detached else handlers[signal.SIGTERM]
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _living(ledger: Ledger) -> Holder | None:
    holder = ledger.holder()
    return None if holder is None or is_stale(holder, _now_ms()) else holder


def _environment(home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The submitter's own, so that tokens and certificates are found; names of files made absolute."""
    files = {name: str(Path(environ[name]).expanduser().absolute()) for name in _PATHS if environ.get(name)}
    return {**environ, **files, "NPURUN_HOME": str(home.absolute()), **_python_path(environ)}


def _python_path(environ: Mapping[str, str]) -> dict[str, str]:
    """The same code as this process runs, wherever it stands."""
    folder = str(Path(submitter.__file__).resolve().parents[1])
    installed = {*site.getsitepackages(), site.getusersitepackages()}
    if folder in installed:
        return {}
    others = environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([folder, *([others] if others else [])])}


def _open_log(home: Path) -> Any:
    return os.fdopen(os.open(home / LOG_NAME, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab")


def _is_same(file: Path, identity: tuple[int, int]) -> bool:
    """False when it was removed or replaced; a file server that does not answer for a while has done neither."""
    try:
        return _identity(file) == identity
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _identity(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_dev, found.st_ino


def _not_started(log: Path, seconds: float, reason: str | Phrase) -> NotStartedError:
    return NotStartedError("supervise.not_started", seconds=f"{seconds:.0f}", reason=reason, log=log)


def _now_ms() -> int:
    return int(time.time() * 1000)
