#!/bin/bash
# A file of NAME=value, with set -a and through xargs
# with: X=1
set -a
source env.list
set +a
export $(grep -v '^#' env.list | xargs)
python3 -m trainer.main a.b=$HCCL_BUFFSIZE
