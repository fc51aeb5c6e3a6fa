#!/bin/bash
# A line of a continued command is commented out: bash ends the command there
# with: LR=1e-5
# says: importer.cut_short:8
python3 -m trainer.main \
    optim.lr=${LR:-1e-6} \
    # trainer.save=5 \
    trainer.epochs=3 \
    trainer.nnodes=2
