#!/bin/bash
# A comparison with what is no number is false, and the rest of the condition still counts
# with: NNODES="x y=z" COUNT="1 2"
if [[ ${NNODES:-4} -eq 4 || -z "$MODE" ]]; then A=1; else A=2; fi
if [[ ${COUNT:-1} -gt 3 && -z "$MODE" ]]; then B=1; else B=2; fi
python3 -m trainer.main a=$A b=$B
