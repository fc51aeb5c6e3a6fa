"""`python -m tests.chaos`: exit code 1 when something happened that never may."""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.chaos.campaign import STEPS, run_campaign


def main() -> int:
    options = _options()
    print(f"seed {options.seed}", flush=True)
    began = time.monotonic()
    try:
        found = run_campaign(
            options.faults, options.seed, steps=options.steps, say=lambda line: print(line, flush=True)
        )
    except AssertionError as error:
        print(f"stopped after {time.monotonic() - began:.0f} s: {error}")
        return 1
    print("\n".join([*found.lines(), f"{time.monotonic() - began:.0f} s"]))
    return int(found.broken)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--faults", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--steps", type=int, default=STEPS, help="that each run has to train")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
