"""A seeded campaign of faults against real runs: `python -m tests.chaos --faults 10 --seed 1`."""
