#!/bin/bash
# Positional parameters that were not given have defaults
# with: NODES=4
NODES=${1:-${NODES:-2}}
MODEL="${2:-/models/base}"
shift $(( $# > 2 ? 2 : $# ))
python3 -m trainer.main trainer.nnodes=$NODES model.path="$MODEL" "$@" ${@}
