#!/bin/bash
# `expr`, seq, and a list that a loop builds
# with: COUNT=2
TOTAL=`expr ${COUNT:-3} \* 8`
GPUS=$(seq -s, 0 $((${COUNT:-3} - 1)))
for i in $(seq 1 ${COUNT:-3}); do FILES="$FILES,f$i"; done
python3 -m trainer.main total=$TOTAL gpus="$GPUS" files=[${FILES#,}]
