"""Every script comes to an end, none of it is run, and an import takes as long as a few starts of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from submitter.errors import UsageError
from submitter.importer import bounds
from submitter.importer.bounds import bounded
from tests.support.cli import cold
from tests.support.importer_reading import HOME, scene

LAUNCH = "python3 -m trainer.main a.b=1"

BOMBS = {
    "array": f'A=(x)\nfor i in {{1..60}}; do A=("${{A[@]}}" "${{A[@]}}"); done\n{LAUNCH}',
    "arguments": f'set -- x\nfor i in {{1..60}}; do set -- "$@" "$@"; done\n{LAUNCH}',
    "replaced": f"V=aaaaaaaa\nfor i in {{1..20}}; do V=${{V//a/$V}}; done\n{LAUNCH}",
    "nested braces": f"echo {'{,' * 900}{'}' * 900}\n{LAUNCH}",
    "open braces": f"echo {'{' * 3000}\n{LAUNCH}",
    "range": f"echo {{1..99999999999999}}\n{LAUNCH}",
    "pattern": f"case {'a' * 200} in {'*a' * 12}*b) ;; esac\n{LAUNCH}",
    "prefix": f"V={'a' * 3000}\nX=${{V##*a*a*a*b}}\n{LAUNCH}",
    "sed": f'X=$(echo {"a" * 60}b | sed -E "s/^(a+)+$/x/")\n{LAUNCH}',
    "printf": f'X=$(printf "%99999999999999d" 1)\n{LAUNCH}',
    "fork": f": () {{ : | : & }}; :\nf() {{ f | f & }}; f\n{LAUNCH}",
    "fan": f"f() {{ [ $1 -gt 40 ] || {{ f $(($1+1)); f $(($1+1)); }}; }}\nf 0\n{LAUNCH}",
    "parentheses": f"X=$(({'(' * 2000}1{')' * 2000}))\n{LAUNCH}",
    "ifs": f"{'if true; then ' * 400}:{'; fi' * 400}\n{LAUNCH}",
    "defaults": "\n".join(f"V{i}=${{A{i}:-$V{i - 1}$V{i - 1}}}" for i in range(1, 60)) + f"\n{LAUNCH} x=$V59",
    "empty doubled": "\n".join(f"V{i}=$V{i - 1}$V{i - 1}" for i in range(1, 60)) + f"\n{LAUNCH} x=$V59",
    "sums": "V0=${N:-0}\n" + "\n".join(f"V{i}=$((V{i - 1}+V{i - 1}))" for i in range(1, 60)) + f"\n{LAUNCH} x=$V59",
    "long sum": "n=1\n" + "n=$((n+1))\n" * 1500 + f"{LAUNCH} x=$n",
    "long text": f'for i in {{1..400}}; do A="$A,$i"; done\n{LAUNCH} "x=$A"',
    "digits": f"X={'9' * 6000}\n[ $X -eq 1 ]\nY=$((X))\n{LAUNCH}",
    "device": f"X=$(cat /dev/zero)\nread Y < fifo\nsource fifo\n{LAUNCH}",
    "sleep": f"sleep 1000\nread X\ncat\n{LAUNCH}",
}
BOUND_S = 0.4
"""What the tests set in place of the ten seconds."""


@pytest.mark.parametrize("bomb", BOMBS)
def test_every_script_comes_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bomb: str) -> None:
    """It is imported, or there is an error; and the clock that ends it is looked at everywhere."""
    monkeypatch.setattr(bounds, "SECONDS", BOUND_S)
    where = scene(BOMBS[bomb], tmp_path)
    os.mkfifo(where.folder / "fifo")
    begun = time.process_time()
    try:
        with bounded("script.sh"):
            where.imported(HOME)
    except UsageError as error:
        assert error.place is not None
    assert time.process_time() - begun < BOUND_S + 2


LINES = 10_000
LONG = {
    "variables": "".join(f"V{i}=${{V{i}:-{i}}}\n" for i in range(LINES)) + f"{LAUNCH} x=$V7 y=$V8",
    "commands": "echo hi\n" * LINES + LAUNCH,
    "comments": "# why\n" * LINES + LAUNCH,
    "array": "A=(\n" + "".join(f"  a.b{i}={i}\n" for i in range(LINES)) + ')\npython3 -m trainer.main "${A[@]}"',
    "document": "X=$(cat <<END\n" + "line $HOME\n" * LINES + f"END\n)\n{LAUNCH}",
    "command": "python3 -m trainer.main \\\n" + "".join(f"  a.b{i}={i} \\\n" for i in range(LINES)) + "  x=1",
}


@pytest.mark.parametrize("kind", LONG)
def test_ten_thousand_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """An import, or an error that says what is too much; in seconds of a processor, since machines are busy."""
    monkeypatch.setattr(bounds, "SECONDS", 60.0)
    begun = time.process_time()
    try:
        with bounded("script.sh"):
            imported = scene(LONG[kind], tmp_path).imported(HOME)
    except UsageError as error:
        assert error.text_id.startswith("job.")
        assert error.place is not None
        assert error.place.line
    else:
        assert imported.job.trainer.module == "trainer.main"
    assert time.process_time() - begun < 8


# ── nothing is run ───────────────────────────────────────────────────────────────────────────────────────────────────

TOUCHES = r"""
touch {}
echo x > {}
echo x >> {}
> {}
mkdir {}
cp /bin/sh {}
X=$(touch {})
X=`touch {}`
: ${X:-$(touch {})}
(touch {})
touch {} &
true | tee {}
exec > {}
trap 'touch {}' EXIT
eval 'touch {}'
bash -c 'touch {}'
sh -c 'touch {}'
source <(echo touch {})
python3 -c 'open("{}", "w")'
perl -e 'open(F, q(>{}))'
env touch {}
command touch {}
\touch {}
/usr/bin/touch {}
X=$((a[$(touch {})0]))
[[ -v 'a[$(touch {})]' ]]
a[$(touch {})0]=1
printf -v 'a[$(touch {})]' x
find / -maxdepth 0 -exec touch {} +
awk 'BEGIN { print > "{}" }'
sed -n 'w {}' /etc/passwd
ln -s /etc {}
git init {}
f() { touch {}; }; f
alias x='touch {}'; x
read X < <(touch {})
mkfifo {}
set > {}
dd if=/dev/zero of={} count=1
PROMPT_COMMAND='touch {}'
case $(touch {}) in *) ;; esac
tar cf {} /etc/passwd
for i in $(touch {}); do :; done
if touch {}; then :; fi
test $(touch {})
python3 -m trainer.first a=$(touch {}) > {}
"""


def test_nothing_is_run(tmp_path: Path) -> None:
    """Neither by the import nor by what it starts."""
    lines = TOUCHES.strip().splitlines(keepends=True)
    scripts = [line.replace("{}", str(tmp_path / f"marker{number}")) for number, line in enumerate(lines)]
    for script in (*scripts, "".join(scripts)):
        with suppress(UsageError):
            scene(script + LAUNCH, tmp_path).imported({**HOME, "BASH_ENV": str(tmp_path / "script.sh")})
    assert {path.name for path in tmp_path.rglob("*")} <= {"work", "script.sh"}


def test_the_parser_alone_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    popen = subprocess.Popen.__init__

    def seen(self: Any, command: Any, *arguments: Any, **options: Any) -> None:
        started.append(Path(command[0]).name)
        popen(self, command, *arguments, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", seen)
    monkeypatch.setattr(os, "system", lambda _: pytest.fail("a shell"))
    scene("X=$(date) Y=$(hostname)$(nproc)$(whoami)$(uname -m)\nnpu-smi info\n" + LAUNCH, tmp_path).imported(HOME)
    assert set(started) == {"shfmt"}


# ── how long it takes ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_import_takes_as_long_as_a_few_starts_of_the_interpreter(tmp_path: Path) -> None:
    """Half a second on a machine that starts it in 50 ms. Machines are noisy: the best of three counts, of both."""
    script = Path(__file__).parents[1] / "data" / "scripts" / "full_megatron_arrays.sh"

    def best(run: Callable[[], object]) -> float:
        return min(timeit.repeat(run, number=1, repeat=3))

    start = best(lambda: subprocess.run([sys.executable, "-c", "import yaml, click"], check=True))
    taken = best(lambda: cold("import", str(script), home=tmp_path))
    assert cold("import", str(script), home=tmp_path).code == 0
    assert taken < 8 * start
