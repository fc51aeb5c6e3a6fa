#!/bin/bash
# $(( )) stays arithmetic as long as a job file can say it
# with: NNODES=4 NPUS=16 PROMPT=2048 RESPONSE=8192
NNODES=${NNODES:-2}
NPUS=${NPUS:-8}
WORLD=$((NNODES * NPUS))
PROMPT=${PROMPT:-$((1024 * 2))}
RESPONSE=${RESPONSE:-$((1024*4))}
TOTAL=$(( PROMPT + RESPONSE ))
MINI=$((WORLD / 4 > 0 ? WORLD / 4 : 1))
python3 -m trainer.main trainer.nnodes=$NNODES trainer.n_gpus_per_node=$NPUS data.max=$TOTAL data.twice=$((TOTAL*2)) \
    data.mini=$MINI data.rest=$((TOTAL % 1000)) data.neg=$((-NPUS)) data.rem=$((-7 % 4)) data.quot=$((-7 / 2)) data.bits=$((1 << 4 | 1)) data.hex=$((0x10 + 010)) \
    data.len=$(( (PROMPT + RESPONSE) * 2 / 3 )) data.pow=$((2 ** 10)) data.and=$((NPUS > 4 && NNODES > 1))
