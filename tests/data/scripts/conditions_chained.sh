#!/bin/bash
# && and ||, negation, groups, and the status that is left
# with: FAST=1
[ -n "$FAST" ] && STEPS=10 || STEPS=100
! true || WRONG=1
{ false; true; } && OK=1
( exit 3 ) || CODE=$?
true && false || LATE=1
: "${FAST:-}"; LAST=$?
python3 -m trainer.main steps=$STEPS ok=$OK code=$CODE late=$LATE wrong=${WRONG:-no} last=$LAST
