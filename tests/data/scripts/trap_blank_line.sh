#!/bin/bash
# A blank line inside a continued command ends it
# with: LR=1e-5
# says: importer.cut_short:8
python3 -m trainer.main \
    optim.lr=${LR:-1e-6} \

    trainer.epochs=3 \
    trainer.nnodes=2
