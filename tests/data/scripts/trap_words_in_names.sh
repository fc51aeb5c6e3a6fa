#!/bin/bash
# An expansion before the `=` of an element
# with: ROLE=critic
ROLE=${ROLE:-actor}
ARGS=(${ROLE}.optim.lr=1e-6 "$ROLE".n=2)
ARGS+=(+${ROLE}.x=[1,2])
python3 -m trainer.main "${ARGS[@]}" ${ROLE}.last=1
