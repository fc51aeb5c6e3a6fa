#!/bin/bash
# What is not quoted is split at white space, what is quoted is not; IFS changes that
# with: OPTS=o.p=2 LIST=p,q
OPTS=${OPTS:-"o.a=1 o.b=2"}
KEPT="k.a=x  y"
LIST=${LIST:-a,b}
IFS=,
PARTS=($LIST)
unset IFS
python3 -m trainer.main $OPTS "$KEPT" "${PARTS[@]/%/=1}" n=${#PARTS[@]} x$OPTS "x.y=$OPTS" $NONE "$NONE" z=$NONE
