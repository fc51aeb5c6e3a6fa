#!/bin/bash
# set -u: also a name that only stands in a text which is evaluated
# with: N=absent+1
set -u
N=${N:-other}
other=3
python3 -m trainer.main n=$((N * 2)) m=$((${MORE:-N} + 1))
