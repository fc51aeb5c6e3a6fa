"""`python -m submitter`: the `npurun` command, where its script is not at hand."""

from submitter.cli.main import run

run()
