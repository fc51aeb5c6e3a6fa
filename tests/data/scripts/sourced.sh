#!/bin/bash
# source of a neighbour, whose variables, arrays and functions stay
# with: MODEL_PATH=/m BATCH=8
DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/files/lib"
source "$DIR/config.sh"
. "${DIR}/functions.sh"
add run.here "$HERE"
python3 -m trainer.main "${COMMON[@]}" model.path=$MODEL_PATH "${WORDS[@]}"
