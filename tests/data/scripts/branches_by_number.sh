#!/bin/bash
# Comparison of numbers, files and texts; what is no number makes the condition false
# with: NNODES=4 MODE=eval
NNODES=${NNODES:-1}
if [ $NNODES -gt 1 ] && [ "$NNODES" -le 64 ]; then SHAPE=multi; else SHAPE=single; fi
if [[ $NNODES -eq 4 || -z "$MODE" ]]; then EXTRA=x; fi
[ ! -d data ] && DATA=missing || DATA=there
[ -f data/train_0.parquet -a -e data ] && FILE=there
[[ -n ${MODE:-} && ! $MODE =~ ^train ]] && EVAL=1
python3 -m trainer.main shape=$SHAPE extra=$EXTRA data=$DATA file=$FILE eval=${EVAL:-0}
