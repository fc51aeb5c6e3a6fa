#!/bin/bash
# Several trainings one after another
# with: LR=1e-5
# says: importer.several:5
python3 -m trainer.main stage.n=1 optim.lr=${LR:-1e-6}
for n in 2 3; do
    python3 -m trainer.main stage.n=$n optim.lr=${LR:-1e-6}
done
STAGE=4 python3 -m trainer.main stage.n=4
