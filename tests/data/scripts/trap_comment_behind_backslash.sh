#!/bin/bash
# A comment at the end of a continued line takes the backslash with it
# with: LR=1e-5
# says: importer.cut_short:7
python3 -m trainer.main \
    optim.lr=${LR:-1e-6} # as published \
    trainer.epochs=3
