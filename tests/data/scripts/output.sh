#!/bin/bash
# | tee, 2>&1, >>, &>, tee into a folder that was made before
# with: NAME=n
mkdir -p logs/${NAME:-base}
python3 -m trainer.main a.b=1 run.name=${NAME:-base} 2>&1 | tee -a logs/${NAME:-base}/train.log
