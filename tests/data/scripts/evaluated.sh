#!/bin/bash
# A command held in a variable, in an array, in eval
# with: LR=2e-6
CMD="python3 -m trainer.main a.b=1 optim.lr=${LR:-1e-6} 'q=1'"
eval "export FROM_EVAL=1 SECOND='x y'"
$CMD c.d=2
