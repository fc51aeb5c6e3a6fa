"""Parameters and commands whose answer is the machine's: `$PWD`, `$(date …)`, `$(nproc)`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from submitter.importer.model import Template
from submitter.importer.shell.template import literal

if TYPE_CHECKING:
    from submitter.importer.shell.state import Shell

_CONSTANT: dict[str, Callable[[Shell], str]] = {
    "#": lambda shell: str(len(shell.params)),
    "?": lambda shell: str(shell.status),
    "-": lambda shell: "".join(sorted(option for option in shell.options if len(option) == 1)) + "hB",
    "LINENO": lambda shell: str(shell.line),
    "BASH_SOURCE": lambda shell: shell.source or shell.path,
    "OSTYPE": lambda _: "linux-gnu",
    "BASH_VERSION": lambda _: "5.2.15(1)-release",
    "BASH": lambda _: "/bin/bash",
    "SHLVL": lambda _: "1",
    "OPTIND": lambda _: "1",
}
_MACHINE: dict[str, tuple[str, Callable[[Shell], str]]] = {
    "PWD": ("pwd", lambda shell: shell.cwd),
    "HOSTNAME": ("hostname", lambda shell: shell.record.machine.hostname),
    "UID": ("id -u", lambda shell: str(shell.record.machine.uid)),
    "EUID": ("id -u", lambda shell: str(shell.record.machine.uid)),
    "HOSTTYPE": ("uname -m", lambda _: os.uname().machine),
    "EPOCHSECONDS": ("date +%s", lambda shell: str(int(shell.record.machine.now.timestamp()))),
}
_UNKNOWN = {"RANDOM": "$RANDOM", "SRANDOM": "$SRANDOM", "$": "$$", "!": "$!", "PPID": "$PPID", "BASHPID": "$BASHPID",
            "SECONDS": "$SECONDS", "EPOCHREALTIME": "$EPOCHREALTIME"}  # fmt: skip
_NOT_READ = ("FUNCNAME", "BASH_LINENO", "_", "BASH_COMMAND")
_NAMES = {"$": "process_id", "!": "background_id"}
_STRFTIME = re.compile(r"%([-_0^#]?)([A-Za-z%])")
_PLAIN_CODES = "aAbBcdDeFgGHIjklmMnprRsStTuUVwWxXyYzZhC%"


def special(shell: Shell, name: str) -> Template | None:
    """A parameter that bash sets itself; None: an ordinary name, or one that the script has set."""
    if name in shell.variables:
        return None
    if name in _CONSTANT:
        return literal(_CONSTANT[name](shell))
    if name in _MACHINE:
        what, value = _MACHINE[name]
        return shell.from_machine(what, name, value(shell))
    if name in _NOT_READ:
        raise shell.fail("importer.unsupported", what=f"${name}")
    if name in _UNKNOWN:
        return shell.unknown(_UNKNOWN[name], _NAMES.get(name, name.lower()))
    return None


def date(shell: Shell, arguments: list[str]) -> Template:
    """`date +FORMAT`; anything else is not known."""
    what = " ".join(["date", *arguments])[:80]
    now = shell.record.machine.now
    utc = "-u" in arguments
    rest = [argument for argument in arguments if argument != "-u"]
    if len(rest) != 1 or not rest[0].startswith("+") or not _readable(rest[0]):
        return shell.unknown(what, "date")
    from datetime import timezone

    moment = now.astimezone(timezone.utc) if utc else now
    return shell.from_machine(what, "date", _formatted(rest[0][1:], moment))


def uname(shell: Shell, arguments: list[str]) -> Template:
    fields = {"-s": "sysname", "-n": "nodename", "-r": "release", "-m": "machine", "-p": "machine"}
    name = fields.get(arguments[0] if arguments else "-s")
    if name is None or len(arguments) > 1:
        return shell.unknown("uname " + " ".join(arguments), "uname")
    return shell.from_machine("uname " + " ".join(arguments), "uname", getattr(os.uname(), name))


def nproc(shell: Shell, arguments: list[str]) -> Template:
    if arguments:
        return shell.unknown("nproc " + " ".join(arguments), "nproc")
    return shell.from_machine("nproc", "nproc", str(shell.record.machine.cpus))


def hostname(shell: Shell, arguments: list[str]) -> Template:
    if arguments in ([], ["-s"]):
        text = shell.record.machine.hostname
        return shell.from_machine(
            " ".join(["hostname", *arguments]), "hostname", text if not arguments else text.partition(".")[0]
        )
    return shell.unknown(" ".join(["hostname", *arguments]), "hostname")


def identity(shell: Shell, arguments: list[str]) -> Template:
    if arguments in (["-u"], ["-un"], ["-u", "-n"]):
        machine = shell.record.machine
        text = str(machine.uid) if arguments == ["-u"] else machine.user
        return shell.from_machine(" ".join(["id", *arguments]), "user_id", text)
    return shell.unknown(" ".join(["id", *arguments]), "user_id")


def whoami(shell: Shell, _arguments: list[str]) -> Template:
    return shell.from_machine("whoami", "user", shell.record.machine.user)


def _readable(text: str) -> bool:
    return all(match[2] in _PLAIN_CODES for match in _STRFTIME.finditer(text)) and "%" not in _STRFTIME.sub("", text)


def _formatted(text: str, moment) -> str:  # type: ignore[no-untyped-def]
    text = text.replace("%s", str(int(moment.timestamp())))
    return str(moment.strftime(text))
