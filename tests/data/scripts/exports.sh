#!/bin/bash
# export in all its forms; what is not exported is no flag
# with: LEVEL=3 VISIBLE=0,1
export PLAIN=1 QUOTED="a b" LEVEL=${LEVEL:-1}
export VISIBLE
LATER=first
export LATER
LATER=second
declare -x DECLARED=d
export "DYNAMIC=x y"
NOT_EXPORTED=1
export GONE=1
unset GONE
export TAKEN=1
export -n TAKEN
export EMPTY=
export SUM=$((2 * ${LEVEL:-1}))
export JOINED=/opt/lib:${JOINED:-}
set -a
AUTO=1
set +a
(export INNER=1)
python3 -m trainer.main a.b=1
