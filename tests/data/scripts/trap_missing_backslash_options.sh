#!/bin/bash
# The same before an option, and before a word that bash takes for an assignment
# with: LR=1e-5
# says: importer.cut_short:7
python3 -m trainer.main \
    a.b=1
    --config-name=x
python3 -m trainer.main \
    a.b=2 optim.lr=${LR:-1e-6}
    lonely=1
