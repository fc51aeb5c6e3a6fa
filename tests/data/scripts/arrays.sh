#!/bin/bash
# Arrays become groups in the order of the call
# with: BATCH=64 LR=1e-5
DATA=(
    data.train_files=/data/train.parquet
    data.train_batch_size=${BATCH:-512}
)
ACTOR=(actor.optim.lr=${LR:-1e-6} actor.strategy=fsdp)
TRAINER=(
    trainer.nnodes=1
    'trainer.logger=["console","wandb"]'
)
python3 -m trainer.main "${ACTOR[@]}" "${DATA[@]}" "${TRAINER[@]}" "$@"
