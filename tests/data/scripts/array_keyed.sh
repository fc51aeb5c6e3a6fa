#!/bin/bash
# An array with keys, looked up by name
# with: SIZE=7b
declare -A LAYERS=([1b]=16 [7b]=28)
LAYERS[70b]=80
SIZE=${SIZE:-1b}
python3 -m trainer.main model.size=$SIZE model.layers=${LAYERS[$SIZE]} model.more=${LAYERS[none]:-0} n=${#LAYERS[@]}
