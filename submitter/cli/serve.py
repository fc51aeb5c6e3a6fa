"""`npurun serve`: the supervisor in the foreground, or as `submit` and `resume` start it."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import nullcontext
from datetime import datetime

import click

from submitter.cli.commands import Command
from submitter.cli.language import language, say
from submitter.cli.options import json_option, option
from submitter.cli.output import OutputLostError, emit, without_secrets
from submitter.cli.serve_pages import pages
from submitter.cli.usage import PortNumber
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode
from submitter.gang.secret_like import redacted
from submitter.texts import Phrase, Tell

PORT = 8266
"""Beside Ray's dashboard, 8265."""


@click.command(cls=Command, help="cli.serve.help")
@option("--host", metavar="ADDRESS", default="127.0.0.1", help="cli.option.web_host")
@option("--port", metavar="PORT", type=PortNumber(), default=PORT, help="cli.option.web_port")
@option("--allow-host", "allowed", metavar="NAME", multiple=True, help="cli.option.allow_host")
@option("--no-web", is_flag=True, help="cli.option.no_web")
@option("--until-idle", is_flag=True, help="cli.option.until_idle")
@json_option
def serve(host: str, port: int, allowed: tuple[str, ...], no_web: bool, until_idle: bool, as_json: bool) -> int:
    from submitter.ledger import default_home
    from submitter.supervise.serve import keep_log_small
    from submitter.supervise.serve import serve as care_for_all

    home = default_home(os.environ).absolute()
    line = _json_line if as_json else _line
    lock = threading.Lock()

    def tell(text_id: str, /, **values: object) -> None:
        with lock:  # lanes tell as well
            keep_log_small(home)
            try:
                emit(line(text_id, values), at_once=True)
            except OutputLostError:  # nobody reads it: no reason to leave runs alone
                return

    told: Tell = tell
    with nullcontext(False) if no_web or until_idle else pages(home, host, port, allowed, told) as serves_pages:
        care_for_all(
            home,
            until_idle=until_idle,
            say=told,
            environ=os.environ,
            language=language(),
            stand_by=serves_pages,
        )
    return ExitCode.DONE


def _line(text_id: str, values: dict[str, object]) -> str:
    return redacted(f"{datetime.now():%m-%d %H:%M:%S} {say(text_id, **values)}")


def _json_line(text_id: str, values: dict[str, object]) -> str:
    """{time, event, run, text, values}: `time` in Unix seconds, `run` null for what is about all of them."""
    plain = {name: _plain(value) for name, value in values.items()}
    document = {
        "time": round(time.time(), 3),
        "event": text_id,
        "run": values.get("run"),
        "text": say(text_id, **values),
        "values": plain,
    }
    return json.dumps(without_secrets(document), ensure_ascii=False, default=str)


def _plain(value: object) -> object:
    if isinstance(value, Phrase):
        return say(value.id, **value.values)
    return str(value) if isinstance(value, NpurunError) else value
