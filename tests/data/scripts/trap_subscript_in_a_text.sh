#!/bin/bash
# Text that is evaluated may hold a subscript
# with: N=A[1]
# beyond: importer.unsupported
A=(3 4)
N=${N:-5}
python3 -m trainer.main n=$((N * 2))
