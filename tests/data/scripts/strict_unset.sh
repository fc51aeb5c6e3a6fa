#!/bin/bash
# set -u: bash stops at a variable that is not set
# with: MODEL=/m
# refused: importer.unset
set -u
python3 -m trainer.main model.path=$MODEL
