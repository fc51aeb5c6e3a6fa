"""One node's torchrun, `python3 -m npurun_gang.torchrun_agent OPTIONS…`: the same options, the same process tree.

It calls `torch.distributed.run.main` itself, because `python3 -m torch.distributed.run` exits with 1 whatever the
rank's code was, tells of a failed rank only after it has ended all others (up to 30 s), and prints a traceback per node
when it is stopped. Each rank's end is written to `DEATHS` in `RANK_DIR` as it happens; the exit code is the first
failed rank's (128 + n for a signal). torch is used by its public names only; seen with 2.13.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

RANK_DIR = "NPURUN_RANK_DIR"
"""Environment variable: the folder in which the ranks of this node and this agent leave their traces."""
DEATHS = "deaths"
"""File with one JSON object per ended rank."""

# Starts one rank: leaves process id and rank, then becomes the trainer with an output of its own.
# torchrun gives both streams of all ranks one pipe, and `python -u` writes a line and its end separately: lines mix.
RANK_SCRIPT = (
    'echo "$$ $RANK" >"$NPURUN_RANK_DIR/$LOCAL_RANK.pid" && exec "$@" >"$NPURUN_RANK_DIR/$LOCAL_RANK.out" 2>&1'
)


@dataclass(frozen=True)
class Death:
    """A rank that has ended."""

    rank: int
    local_rank: int
    code: int
    """Exit code; negative: a signal."""
    time: float
    """Seconds since the epoch by the clock of the rank's node."""


def parse_deaths(text: str) -> list[Death]:
    return [Death(**json.loads(line)) for line in text.splitlines()]


def main(argv: Sequence[str]) -> int:
    folder = Path(os.environ[RANK_DIR])
    ranks = Ranks(folder)
    signal.signal(signal.SIGCHLD, ranks.on_child)
    signal.siginterrupt(signal.SIGCHLD, False)  # torch's sockets need not cope with interrupted calls
    # Without a folder torchrun leaves one behind in /tmp at each start.
    return run_torchrun(["--log_dir", str(folder / "torchrun"), *argv], ranks)


def run_torchrun(argv: list[str], ranks: Ranks) -> int:
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    try:
        run.main(argv)
    except SignalException as stop:
        return 128 + int(stop.sigval)
    except ChildFailedError as failure:
        trainer = argv[argv.index("-u") + 1 :]  # instead of the shell that starts it
        failure.name = " ".join(trainer[: 2 if "-m" in trainer[:1] else 1])
        print(failure.format_msg(), file=sys.stderr, flush=True)
        ranks.complete({rank: (end.local_rank, end.exitcode) for rank, end in failure.failures.items()})
        return ranks.exit_code()
    return 0


class Ranks:
    """The ranks of this node: who has ended, when, and how."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._deaths: dict[int, Death] = {}
        """By local rank."""
        self._unread: dict[int, float] = {}
        """Time of the end of ranks whose code torchrun's own waiting has taken."""

    def on_child(self, number: int, frame: FrameType | None) -> None:
        now = time.time()
        for path in self._folder.glob("*.pid"):
            local_rank = int(path.stem)
            if local_rank not in self._deaths and local_rank not in self._unread:
                self._look(local_rank, path.read_text().split(), now)

    def complete(self, failures: Mapping[int, tuple[int, int]]) -> None:
        """Add what torchrun knows ({rank: (local rank, exit code)}) and this object has not seen."""
        for rank, (local_rank, code) in failures.items():
            if local_rank not in self._deaths:
                self._note(Death(rank, local_rank, code, self._unread.get(local_rank, time.time())))

    def exit_code(self) -> int:
        failed = [death for death in self._deaths.values() if death.code]
        if not failed:
            return 1
        code = min(failed, key=lambda death: death.time).code
        return code if code > 0 else 128 - code

    def _look(self, local_rank: int, written: Sequence[str], now: float) -> None:
        if len(written) != 2:
            return  # the shell is about to write it
        pid, rank = map(int, written)
        try:  # WNOWAIT: the code stays there for torchrun
            end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self._unread[local_rank] = now
            return
        if end is not None:
            code = end.si_status if end.si_code == os.CLD_EXITED else -end.si_status
            self._note(Death(rank, local_rank, code, now))

    def _note(self, death: Death) -> None:
        self._deaths[death.local_rank] = death
        with (self._folder / DEATHS).open("a") as file:
            file.write(json.dumps(asdict(death)) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
