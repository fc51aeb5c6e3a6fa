#!/bin/bash
# Everything that launch scripts do around a launch, none of which is carried over
# with: X=1
ulimit -n 65535
mkdir -p checkpoints/a
trap 'echo ended' EXIT
ray stop --force
sleep 0
python3 files/prepare_data.py --out data
echo "starting"
python3 -m trainer.main a.b=1 dir=checkpoints
