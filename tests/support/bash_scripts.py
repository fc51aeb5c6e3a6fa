"""Random scripts of the grammar that the import supports, and what real bash makes of a script."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hypothesis import strategies as st

_RECORDER = """\
#!/bin/bash
{ printf '%s\\0' "${0##*/}" "$@"; printf '\\1\\0'; env -0; printf '\\2\\0'; } >> "$RECORD"
"""
TIMEOUT_S = 20


@dataclass(frozen=True)
class Launched:
    arguments: tuple[str, ...]
    environ: dict[str, str]


def run_in_bash(script: str, folder: Path, environ: Mapping[str, str], arguments: Sequence[str] = ()) -> list[Launched]:
    """What the script starts as `python3` or `torchrun`: stubs that only write down how they were called."""
    record = folder.parent / "record"
    record.write_bytes(b"")
    path = folder.parent / "script.sh"
    path.write_text(script)
    subprocess.run(
        ["/bin/bash", str(path), *arguments],
        env={"PATH": f"{_stubs(folder.parent)}:/usr/bin:/bin", "RECORD": str(record), **environ},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return [_launched(one) for one in record.read_bytes().decode().split("\2\0")[:-1]]


def _stubs(folder: Path) -> Path:
    stubs = folder / "stubs"
    if not stubs.is_dir():
        stubs.mkdir()
        for name in ("python3", "python", "torchrun", "ray", "uv"):
            (stubs / name).write_text(_RECORDER)
            (stubs / name).chmod(0o755)
    return stubs


def _launched(data: str) -> Launched:
    words, _, environ = data.partition("\1\0")
    pairs = (item.partition("=") for item in environ.split("\0")[:-1])
    own = ("_", "SHLVL", "PWD", "OLDPWD", "PATH", "RECORD")
    return Launched(tuple(words.split("\0")[:-1]), {name: value for name, _, value in pairs if name not in own})


# ── random scripts ───────────────────────────────────────────────────────────────────────────────────────────────────

_NAMES = ("a", "b", "c", "IN1", "IN2", "IN3", "num")
_TYPED = (
    "x", "y", "Ab", "data.k=1", "a/b.c", "a:b", "1e-6", "%", "x#y", "@", "l=[1,2]", "l=['x','y']", "{a,b}", "{1..3}",
    "{k:1}", "*", "?", "f*", "~", "~/x", "k=~/x", "\\ ", "\\$a", "\\\\", "'s q'", "'$a'", "''", '""', "$'t\\tb'",
    "\"q's\"",
)  # fmt: skip
_INSIDE = ("x", " ", "a b", '\\"', "\\$", "'", "*", '[\\"console\\"]', "{a}", "~", "\\\\", "\\x", "=")
_PATTERNS = ("*", "x", "a*", "*b", "?", "[a-c]", "[!x]*", '"*"', "*/", "\\*", "$a", '"$b"')
_DEPTH = 2


class Grammar:
    """Scripts of what the import supports; `random` chooses."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def script(self) -> str:
        head = self._one("", "set -x", "set -e", "set -u", "set -euo pipefail", "IFS=:")
        body = [self.statement(_DEPTH) for _ in range(self._random.randrange(6))]
        tail = self._one("", " | tee ../log", " 2>&1 | tee ../log", " &> ../log")
        first = ["#!/bin/bash", "A=() B=()", "f() { :; }", "g() { a=$((${num:-1} + 1)); }"]
        return "\n".join([*first, head, *body, f"python3 -m m x=1 {self.words(_DEPTH)}{tail}", ""])

    def statement(self, depth: int) -> str:
        if depth == 0 or self._random.random() < 0.5:
            return self._simple()
        condition, simple, word = self._condition, self._simple, self.word

        def body() -> str:
            return "\n".join(self.statement(depth - 1) for _ in range(self._random.randrange(1, 3)))

        return self._one(
            lambda: f"if {condition()}; then\n{body()}\nelse\n{body()}\nfi",
            lambda: f"{condition()} && {simple()}",
            lambda: f"{condition()} || {simple()}",
            lambda: f"case {word(1)} in\n{self._one(*_PATTERNS)}) {body()} ;;\n*)\n{body()}\n;;\nesac",
            lambda: f"for c in {self.words(1)}; do\n{body()}\ndone",
            lambda: f"f() {{\nlocal a=$1\n{body().replace('f x y', ':')}\n}}",
            lambda: f"( {body()}\n)",
            lambda: f"{{ {body()}\n}}",
        )

    def _simple(self) -> str:
        name, array, words = self._one(*_NAMES), self._one("A", "B"), self.words

        def word() -> str:
            return self.word(_DEPTH)

        return self._one(
            lambda: f"{name}={word()}", lambda: f"export {name}={word()}", lambda: f"{name}+={word()}",
            f"export {name}", f"unset {name}", lambda: f"num=$(({self._arithmetic(2)}))",
            "((num++))", "((num += 2))", "((num = 3)) || true", "let num=num*2", "shift", "shift || true",
            ":", "f x y", "g",
            lambda: f"{array}=({words(_DEPTH)})", lambda: f"{array}+=(\n  # a comment\n  {words(_DEPTH)}\n)",
            lambda: f"{array}[{self._random.randrange(4)}]={word()}", lambda: f"set -- {words(_DEPTH)}",
            lambda: f"read -r a b <<< {word()}", lambda: f"printf -v c '%s' {word()}",
            lambda: f"b=$(cat <<EOF\n{self._inside(1)}\nEOF\n)",
        )  # fmt: skip

    def _condition(self) -> str:
        name = self._one(*_NAMES)
        return self._one(
            lambda: f'[ "${{{name}:-}}" {self._one("=", "!=")} {self._one("x", "env", "5")} ]',
            lambda: f'[ {self._one("-z", "-n")} "${{{name}:-}}" ]',
            lambda: f"[[ ${{{name}:-}} == {self._one(*_PATTERNS)} ]]",
            lambda: f"(({self._arithmetic(1)}))",
            lambda: f"[ $(({self._arithmetic(1)})) {self._one('-eq', '-lt')} 3 ]",
            "true", "false", "! true", '[ -n "${1:-}" ] && true', "[[ -z ${c:-} || -n ${a:-} ]]",
        )  # fmt: skip

    def words(self, depth: int) -> str:
        lists = ('"$@"', "$@", '"${A[@]}"', "${B[@]}", '"${A[*]}"', '"${A[@]:1}"')
        count = self._random.randrange(4)
        return " ".join(self._one(lambda: self.word(depth), lambda: self._one(*lists)) for _ in range(count))

    def word(self, depth: int) -> str:
        def inside() -> str:
            return f'"{self._inside(depth)}"'

        count = self._random.randrange(1, 4)
        return "".join(
            self._one(lambda: self._one(*_TYPED), lambda: self._expansion(depth), inside) for _ in range(count)
        )

    def _inside(self, depth: int) -> str:
        """Of double quotes, or of a here-document."""
        count = self._random.randrange(4)
        nested = max(depth - 1, 0)
        return "".join(
            self._one(
                lambda: self._one(*_INSIDE),
                lambda: self._expansion(0),
                lambda: self._expansion(nested, quoted=True),
                "$@",
                "${A[*]}",
            )
            for _ in range(count)
        )  # fmt: skip

    def _expansion(self, depth: int, *, quoted: bool = False) -> str:
        name = self._one(*_NAMES)
        if depth == 0 or self._random.random() < 0.3:
            return self._one(f"${{{name}}}", "${1:-}", "${2:-p}", "$#", "${3:-d}", "${A[1]:-}", "${#B[@]}")

        def word() -> str:
            return self.word(depth - 1)

        def default() -> str:
            return self._one("d", "", "a b", "$b", "${IN2:-e}") if quoted else word()

        def pattern() -> str:
            return self._one(*_PATTERNS)

        return self._one(
            lambda: f"${{{name}{self._one(':-', '-', ':+', '+', ':=')}{default()}}}",
            lambda: f"${{{name}{self._one('#', '##', '%', '%%')}{pattern()}}}",
            lambda: f"${{{name}{self._one('/', '//', '/#', '/%')}{pattern().replace('/', '')}/y}}",
            lambda: f"${{{name}{self._one(',,', '^^', ',', '^', ':1', ':0:2', ': -1')}}}",
            lambda: f"$(({self._arithmetic(2)}))",
            lambda: f"$(echo {word()})",
            lambda: f"$(basename -- {word()} .c)",
            lambda: f"$(printf '%s-' {word()})",
        )

    def _arithmetic(self, depth: int) -> str:
        if depth == 0 or self._random.random() < 0.3:
            number = str(self._random.randrange(40))
            return self._one(number, "num", "$num", "${num}", "${IN3:-4}", "010", "0x1f", "${#a}", "${#A[@]}")

        def operand() -> str:
            return self._arithmetic(depth - 1)

        def binary() -> str:
            sign = self._one(" + ", " - ", " * ", " / ", " % ", "**", "<", "==", "&&", "||", "<<")
            return f"{operand()}{sign}{2 if sign == '**' else operand()}"

        return self._one(binary, binary, lambda: f"({operand()})", lambda: f"{operand()} ? {operand()} : {operand()}")

    def _one(self, *choices: str | Callable[[], str]) -> str:
        chosen = choices[self._random.randrange(len(choices))]
        return chosen if isinstance(chosen, str) else chosen()


def scripts() -> st.SearchStrategy[str]:
    return st.randoms(use_true_random=False).map(lambda random: Grammar(random).script())
