#!/bin/bash
# env NAME=value command, nohup, time, timeout: they run what stands behind them
# with: LEVEL=2
export DROPPED=1 KEPT=1
nohup env -u DROPPED OMP_NUM_THREADS=${LEVEL:-1} "SPACED=a b" timeout 3600 python3 -m trainer.main a=1 > train.log 2>&1 &
wait
