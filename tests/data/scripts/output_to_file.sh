#!/bin/bash
# The output goes to a file, in the background
# with: NAME=n
LOG=train_${NAME:-base}.log
nohup python3 -m trainer.main a.b=1 > "$LOG" 2>&1 &
echo "started, see $LOG"
wait
