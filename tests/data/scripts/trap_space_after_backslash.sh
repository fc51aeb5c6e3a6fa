#!/bin/bash
# A space behind the backslash: it quotes the space, which is a word, and the command ends there
# with: LR=1e-5
# says: importer.cut_short:7
python3 -m trainer.main \
    optim.lr=${LR:-1e-6} \ 
    trainer.epochs=3 \
    trainer.nnodes=2
