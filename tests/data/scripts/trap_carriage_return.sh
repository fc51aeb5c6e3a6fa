#!/bin/bash
# tr -d of a control character, head and tail with signs
# with: NAME=bar
CLEAN=$(echo "${NAME:-rubber}" | tr -d '\r')
LINES=$(printf '1\n2\n3\n' | tail -n 2 | tr '\n' ',')
python3 -m trainer.main name=$CLEAN lines=$LINES
