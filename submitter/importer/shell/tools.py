"""Tools that only work on text or names: what they print can be known without running them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from submitter.importer.model import Defined, Lit, Template
from submitter.importer.shell import files, machine
from submitter.importer.shell.arithmetic import BINARY
from submitter.importer.shell.patterns import CLASSES
from submitter.importer.shell.quoting import ansi_c
from submitter.importer.shell.state import Element, Shell, shown
from submitter.importer.shell.template import EMPTY, joined, leaves, lines_of, literal, text_of

Arguments = Sequence[Element]
_NUMBER = re.compile(r"-?\d{1,18}")
_MAX_SEQUENCE = 10_000


def _texts(arguments: Arguments) -> list[str]:
    return [argument.text for argument in arguments]


def _answers(answer: Callable[[Shell, list[str]], Template]) -> Callable[[Shell, Arguments], int]:
    """A tool whose answer the machine has, on one line."""

    def tool(shell: Shell, arguments: Arguments) -> int:
        shell.write(joined([answer(shell, _texts(arguments)), literal("\n")]))
        return 0

    return tool


def _basename(shell: Shell, arguments: Arguments) -> int:
    if _no_option(shell, arguments):
        return 1
    rest = [argument for argument in arguments if argument.text != "--"]
    if not rest:
        return 1
    if len(rest) > 2:
        return 1
    name = shell.decide(rest[0].template)
    suffix = rest[1].text if len(rest) > 1 else ""
    base = os.path.basename(name.rstrip("/")) or ("/" if name.startswith("/") else "")  # noqa: PTH119
    if suffix and base != suffix and base.endswith(suffix):
        base = base[: -len(suffix)]
    shell.write(literal(base + "\n"))
    return 0


def _no_option(shell: Shell, arguments: Arguments) -> bool:
    """A name that begins with a dash is taken for an option that the tool does not have."""
    wrong = bool(arguments) and re.match(r"-(?!-$).", arguments[0].text) is not None
    if wrong:
        shell.depends(arguments[0].template)
    return wrong


def _dirname(shell: Shell, arguments: Arguments) -> int:
    if _no_option(shell, arguments):
        return 1
    for argument in arguments:
        if argument.text == "--":
            continue
        given = shell.decide(argument.template)
        name = given.rstrip("/") or given[:1]
        folder = os.path.dirname(name).rstrip("/") or ("/" if name.startswith("/") else ".")  # noqa: PTH120
        shell.write(literal(folder + "\n"))
    return 0


def _realpath(shell: Shell, arguments: Arguments) -> int:
    options = [argument.text for argument in arguments if argument.text.startswith("-") and argument.text != "--"]
    rest = [argument for argument in arguments if not argument.text.startswith("-")]
    if len(rest) != 1 or set(options) - {"-f", "-e", "-m", "-s", "-q"}:
        return _unknown(shell, "realpath", arguments)
    path = shell.decide(rest[0].template)
    full = os.path.realpath(os.path.join(shell.cwd, path))  # noqa: PTH118
    needed = full if "-e" in options else os.path.dirname(full)  # noqa: PTH120
    if not path or ("-m" not in options and not files.exists(shell, needed)):
        return 1
    shell.write(joined([shell.from_machine(f"realpath {path}"[:80], "path", full), literal("\n")]))
    return 0


def _readlink(shell: Shell, arguments: Arguments) -> int:
    if any(argument.text in ("-f", "-e", "-m") for argument in arguments):
        return _realpath(shell, arguments)
    path = shell.decide(arguments[-1].template) if arguments else ""
    try:
        target = os.readlink(os.path.join(shell.cwd, path))  # noqa: PTH115, PTH118
    except OSError:
        return 1
    shell.write(joined([shell.from_machine(f"readlink {path}"[:80], "path", target), literal("\n")]))
    return 0


def _cat(shell: Shell, arguments: Arguments) -> int:
    status = 0
    for argument in [one for one in arguments if one.text != "--"] or [Element(literal("-"))]:
        path = shell.decide(argument.template)
        found = shell.piped if path == "-" else files.content(shell, path)
        if found is None:
            shell.note("importer.no_such_file", path=path[:120])
            status = 1
        else:
            shell.write(found)
    return status


def _tee(shell: Shell, arguments: Arguments) -> int:
    status = 0
    for argument in arguments:
        path = argument.text
        if path.startswith("-") or path.startswith("/dev/"):
            continue
        folder = path.rpartition("/")[0]
        if folder and not files.is_folder(shell, folder):
            shell.note("importer.tee_no_folder", path=path[:120], folder=folder[:120])
            status = 1
        else:
            shell.note("importer.tee", "note", path=path[:120])
            files.write(shell, path, None)
    shell.write(shell.piped)
    return status


def _mkdir(shell: Shell, arguments: Arguments) -> int:
    parents = any(text.startswith("-") and "p" in text for text in _texts(arguments))
    status = 0
    for argument in arguments:
        path = argument.text
        if path.startswith("-"):
            continue
        above = os.path.dirname(path.rstrip("/")) or "."  # noqa: PTH120
        if not parents and (files.exists(shell, path) or not files.is_folder(shell, above)):
            status = 1
        files.make_folder(shell, path)
    _carried(shell, "mkdir", arguments)
    return status


def _rm(shell: Shell, arguments: Arguments) -> int:
    force = any(text.startswith("-") and "f" in text for text in _texts(arguments))
    status = 0
    for argument in arguments:
        if not argument.text.startswith("-"):
            status = status if force or files.exists(shell, argument.text) else 1
            files.remove(shell, argument.text)
    _carried(shell, "rm", arguments)
    return status


def _copy(name: str) -> Callable[[Shell, Arguments], int]:
    def tool(shell: Shell, arguments: Arguments) -> int:
        paths = [argument.text for argument in arguments if not argument.text.startswith("-")]
        if len(paths) == 2 and not files.is_folder(shell, paths[1]) and files.is_file(shell, paths[0]):
            files.write(shell, paths[1], files.content(shell, paths[0]))
            if name == "mv":
                files.remove(shell, paths[0])
        _carried(shell, name, arguments)
        return 0

    return tool


def _touch(shell: Shell, arguments: Arguments) -> int:
    for argument in arguments:
        if not argument.text.startswith("-") and not files.exists(shell, argument.text):
            files.write(shell, argument.text, EMPTY)
    _carried(shell, "touch", arguments)
    return 0


def _seq(shell: Shell, arguments: Arguments) -> int:
    texts = [shell.decide(argument.template) for argument in arguments]
    between = "\n"
    if texts and texts[0].startswith("-s"):
        between = texts.pop(0)[2:] or (texts.pop(0) if texts else "")
    if not texts or len(texts) > 3 or not all(_NUMBER.fullmatch(text) for text in texts):
        return _unknown(shell, "seq", arguments)
    numbers = [int(text) for text in texts]
    first, step, last = {1: (1, 1, numbers[0]), 2: (numbers[0], 1, numbers[-1]), 3: tuple(numbers)}[len(numbers)]
    if step == 0 or abs(last - first) // abs(step) > _MAX_SEQUENCE:
        raise shell.fail("importer.endless_loop", limit=_MAX_SEQUENCE)
    found = between.join(str(number) for number in range(first, last + (1 if step > 0 else -1), step))
    shell.write(literal(f"{found}\n" if found else ""))
    return 0


def _tr(shell: Shell, arguments: Arguments) -> int:
    texts = _texts(arguments)
    options = "".join(text[1:] for text in texts if text.startswith("-") and len(text) > 1)
    sets = [_character_set(text) for text in texts if not (text.startswith("-") and len(text) > 1)]
    if set(options) - set("ds") or not sets or any(one is None for one in sets):
        return _unknown(shell, "tr", arguments)
    return _filter(shell, "tr", arguments, lambda text: _translated(text, options, [one or "" for one in sets]))


def _translated(text: str, options: str, sets: list[str]) -> str:
    if "d" in options:
        return "".join(char for char in text if char not in sets[0])
    if len(sets) > 1:
        to = sets[1] + sets[1][-1:] * (len(sets[0]) - len(sets[1]))
        text = text.translate({ord(a): b for a, b in reversed(list(zip(sets[0], to, strict=False)))})
    if "s" in options:
        text = re.sub(f"([{re.escape(sets[-1])}])\\1+", r"\1", text)
    return text


def _character_set(text: str) -> str | None:
    text = ansi_c(text)
    for name, low, high in (("[:upper:]", "A", "Z"), ("[:lower:]", "a", "z"), ("[:digit:]", "0", "9")):
        text = text.replace(name, f"{low}-{high}")
    text = text.replace("[:space:]", " \t\n\r\v\f")
    if "[:" in text:
        return None
    return re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), text, flags=re.DOTALL)


def _cut(shell: Shell, arguments: Arguments) -> int:
    found = re.fullmatch(
        r"-d(.)\0?-f(\d+)(-?)", "\0".join(_texts(arguments)).replace("-d\0", "-d").replace("-f\0", "-f")
    )
    if found is None:
        return _unknown(shell, "cut", arguments)
    sign, first = found[1], int(found[2]) - 1

    def one(line: str) -> str:
        pieces = line.split(sign)
        if len(pieces) == 1:
            return line
        return sign.join(pieces[first:] if found[3] else pieces[first : first + 1])

    return _filter(shell, "cut", arguments, lambda text: "".join(f"{one(line)}\n" for line in lines_of(text)))


def _head_or_tail(name: str, *, tail: bool) -> Callable[[Shell, Arguments], int]:
    def tool(shell: Shell, arguments: Arguments) -> int:
        found = re.fullmatch(r"(?:-n ?|-)(\d+)|", " ".join(_texts(arguments)))
        if found is None:
            return _unknown(shell, name, arguments)
        count = int(found[1] or 10)

        def cut(text: str) -> str:
            lines = lines_of(text, ends=True)
            return "".join(lines[-count:] if tail and count else [] if tail else lines[:count])

        return _filter(shell, name, arguments, cut)

    return tool


def _awk(shell: Shell, arguments: Arguments) -> int:
    """`awk '{print $1}'`, of what comes through a pipe or from one file."""
    texts = _texts(arguments)
    separator = None
    if texts and texts[0].startswith("-F"):
        separator = texts.pop(0)[2:] or (texts.pop(0) if texts else "")
    field = re.fullmatch(r"\s*\{\s*print\s+\$(\d+);?\s*\}\s*", texts[0]) if texts else None
    if (
        field is None
        or len(texts) > 2
        or (separator is not None and not re.fullmatch(r"[^\\^$.|?*+()\[{ ]", separator))
    ):
        return _unknown(shell, "awk", arguments)
    source = files.content(shell, texts[1]) if len(texts) > 1 else shell.piped
    if source is None:
        shell.note("importer.no_such_file", path=texts[1][:120])
        return 2
    if _is_unknown(shell, source):
        return _unknown(shell, "awk", arguments)

    def one(line: str) -> str:
        words = [line, *(line.split() if separator is None else line.split(separator))]
        return words[int(field[1])] if int(field[1]) < len(words) else ""

    shell.write(literal("".join(f"{one(line)}\n" for line in lines_of(shell.decide(source)))))
    return 0


def _wc(shell: Shell, arguments: Arguments) -> int:
    if _texts(arguments) != ["-l"]:
        return _unknown(shell, "wc", arguments)
    return _filter(shell, "wc", arguments, lambda text: f"{text.count(chr(10))}\n")


def _xargs(shell: Shell, arguments: Arguments) -> int:
    if arguments or re.search(r"[\\'\"]", text_of(shell.piped)):
        return _unknown(shell, "xargs", arguments)
    return _filter(shell, "xargs", arguments, lambda text: " ".join(text.split()) + "\n")


def _expr(shell: Shell, arguments: Arguments) -> int:
    texts = [shell.decide(argument.template) for argument in arguments]
    if len(texts) != 3 or texts[1] not in ("+", "-", "*", "/", "%") or not all(map(_NUMBER.fullmatch, texts[::2])):
        return _unknown(shell, "expr", arguments)
    if texts[1] in ("/", "%") and int(texts[2]) == 0:
        return 2
    value = BINARY[texts[1]](int(texts[0]), int(texts[2]))
    shell.write(literal(f"{value}\n"))
    return int(value == 0)


def _sed(shell: Shell, arguments: Arguments) -> int:
    """`sed 's/a/b/g'` on what comes through a pipe; a file is never changed."""
    texts = [text for text in _texts(arguments) if text != "-e"]
    extended = bool({"-E", "-r"} & set(texts))
    rest = [text for text in texts if text not in ("-E", "-r")]
    part = r"((?:\\.|(?!\1).)*)"
    found = re.fullmatch(rf"s(.){part}\1{part}\1(g?)", rest[0], re.DOTALL) if len(rest) == 1 else None
    expression = _python_expression(found[2].replace(f"\\{found[1]}", found[1]), extended) if found else None
    if (
        found is None
        or expression is None
        or (found[4] and re.match(expression, ""))
        or re.search(r"\\[^/&.\-1-9]", found[3])
    ):
        return _unknown(shell, "sed", arguments)
    replacement = _python_replacement(found[3])
    count = 0 if found[4] else 1

    def change(text: str) -> str:
        return "".join(re.sub(expression, replacement, line, count=count) + "\n" for line in lines_of(text))

    return _filter(shell, "sed", arguments, change)


def _python_replacement(text: str) -> Callable[[re.Match[str]], str]:
    """sed's: `&` is what was found, `\1` a group of it."""

    def made(match: re.Match[str]) -> str:
        def one(part: re.Match[str]) -> str:
            sign = part[1] or part[0]
            if sign.isdigit():
                return match[int(sign)] or "" if int(sign) <= len(match.groups()) else ""
            return match[0] if part[0] == "&" else sign

        return re.sub(r"\\(.)|&", one, text)

    return made


def _python_expression(text: str, extended: bool) -> str | None:
    """An expression that sed, grep and Python read the same way; None: it is not known to be one."""
    outside = re.sub(r"\[\^?\]?[^\]]*\]", "", re.sub(r"\[:[a-z]+:\]", "", text))
    outside = re.sub(r"\\[./-]", "", outside)
    if re.search(r"[(){}|+?\\]" if not extended else r"\\|\|", outside) or "\\" in re.sub(r"\\[./-]", "", text):
        return None
    for name, inside in CLASSES.items():
        text = text.replace(f"[:{name}:]", inside)
    try:
        re.compile(text)
    except re.error:
        return None
    return None if "[:" in text else text


def _grep(shell: Shell, arguments: Arguments) -> int:
    """`grep -q text`, `grep -c`, `grep -o`, on what comes through a pipe or from one file."""
    texts = _texts(arguments)
    options = "".join(text[1:] for text in texts if text.startswith("-"))
    rest = [text for text in texts if not text.startswith("-")]
    expression = _python_expression(rest[0], "E" in options) if rest and "F" not in options else None
    if rest and "F" in options:
        expression = re.escape(rest[0])
    if set(options) - set("qciEoFv") or len(rest) not in (1, 2) or expression is None:
        return _unknown(shell, "grep", arguments)
    source = files.content(shell, rest[1]) if len(rest) > 1 else shell.piped
    if source is None or _is_unknown(shell, source):
        return _unknown(shell, "grep", arguments)
    pattern = re.compile(expression, re.IGNORECASE if "i" in options else 0)
    lines = [line for line in lines_of(shell.decide(source)) if bool(pattern.search(line)) != ("v" in options)]
    if "q" not in options:
        shell.write(literal(_grepped(lines, options, pattern)))
    return int(not lines)


def _grepped(lines: list[str], options: str, pattern: re.Pattern[str]) -> str:
    if "c" in options:
        return f"{len(lines)}\n"
    if "o" in options:
        return "".join(f"{one[0]}\n" for line in lines for one in pattern.finditer(line) if one[0])
    return "".join(f"{line}\n" for line in lines)


def _sleep(_shell: Shell, _arguments: Arguments) -> int:
    return 0


def _mktemp(shell: Shell, arguments: Arguments) -> int:
    what = " ".join(["mktemp", *_texts(arguments)])[:80]
    shell.write(joined([shell.from_machine(what, "temporary", f"/tmp/tmp.{shell.record.steps:010d}"), literal("\n")]))
    return 0


def _filter(shell: Shell, name: str, arguments: Arguments, change: Callable[[str], str]) -> int:
    """What comes through a pipe, changed; of an unknown text nothing is known."""
    if _is_unknown(shell, shell.piped):
        return _unknown(shell, name, arguments)
    dates = _machine_only(shell.piped)
    text = change(shell.decide(shell.piped))
    if dates is not None:
        stripped = text.rstrip("\n")
        what = f"{dates} | {' '.join([name, *_texts(arguments)])}"[:80]
        shell.write(joined([shell.from_machine(what, name, stripped), literal(text[len(stripped) :])]))
    else:
        shell.write(literal(text))
    return 0


def _machine_only(template: Template) -> str | None:
    """What the text is of the machine's, where it is nothing else."""
    notes = [part.definition.note for part in template if isinstance(part, Defined) and part.definition.note]
    return notes[0] if len(notes) == 1 and all(isinstance(part, (Defined, Lit)) for part in template) else None


def _is_unknown(shell: Shell, template: Template) -> bool:
    return any(leaf in shell.record.unknown for leaf in leaves(template))


def _unknown(shell: Shell, name: str, arguments: Arguments) -> int:
    told = " ".join([name, *_texts(arguments)])[:60]
    before = next((shell.record.unknown[leaf] for leaf in leaves(shell.piped) if leaf in shell.record.unknown), "")
    if shell.out is not None:
        for argument in arguments:
            shell.depends(argument.template)
        shell.depends(shell.piped)
        shell.write(shell.unknown(f"{before} | {told}"[:80] if before else told, name))
    else:
        shell.note("importer.not_carried", "note", command=shown([name, *_texts(arguments)]))
    return 0


def _carried(shell: Shell, name: str, arguments: Arguments) -> None:
    shell.note("importer.not_carried", "note", command=shown([name, *_texts(arguments)]))


TOOLS: dict[str, Callable[[Shell, Arguments], int]] = {
    "date": _answers(machine.date), "uname": _answers(machine.uname), "nproc": _answers(machine.nproc),
    "hostname": _answers(machine.hostname), "whoami": _answers(machine.whoami), "id": _answers(machine.identity),
    "basename": _basename, "dirname": _dirname, "realpath": _realpath, "readlink": _readlink, "cat": _cat, "tee": _tee,
    "mkdir": _mkdir, "rm": _rm, "touch": _touch, "cp": _copy("cp"), "mv": _copy("mv"), "seq": _seq, "tr": _tr,
    "cut": _cut,
    "head": _head_or_tail("head", tail=False), "tail": _head_or_tail("tail", tail=True), "wc": _wc, "xargs": _xargs,
    "expr": _expr, "awk": _awk, "sed": _sed, "grep": _grep, "sleep": _sleep, "mktemp": _mktemp,
}  # fmt: skip
