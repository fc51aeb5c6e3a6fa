#!/bin/bash
# torchrun with its own options
# with: NPROC=4 MASTER_ADDR=10.0.0.1
torchrun --nnodes=${NNODES:-1} --nproc_per_node ${NPROC:-8} --master_addr=${MASTER_ADDR:-localhost} --master-port 29500 \
    --node_rank=${RANK:-0} -m trainer.sft data.a=1 "model.b=[1,2]" 2>&1 | tee sft.log
