#!/bin/bash
# VAR=x command: for this command alone
# with: LEVEL=2
A=outer
A=1 B=${LEVEL:-0} : ignored
A=1 HYDRA_FULL_ERROR=1 B="$A ${LEVEL:-0}" python3 -m trainer.main a=$A b=${B:-none}
