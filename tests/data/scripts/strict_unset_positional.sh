#!/bin/bash
# set -u: also at an argument that was not given
# with: X=1
# refused: importer.unset_positional
set -eu
ALGO=$1
python3 -m trainer.main algo=$ALGO
