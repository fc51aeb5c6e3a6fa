#!/bin/bash
# A line lacks its backslash: bash runs the short command
# with: LR=1e-5
# says: importer.cut_short:9
python3 -m trainer.main \
    data.train_files=/data/a.parquet \
    optim.lr=${LR:-1e-6} \
    trainer.epochs=3
    trainer.nnodes=2 \
    trainer.save=10
