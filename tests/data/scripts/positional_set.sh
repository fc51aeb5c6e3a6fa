#!/bin/bash
# set -- makes arguments, shift takes them, functions have their own
# with: FIRST=z
set -- ${FIRST:-a} "b c" d
shift
f() { shift; INNER="$*"; }
f 1 2 3
set -- "$@" e.f=1
python3 -m trainer.main n=$# inner="$INNER" "$@" second=$2
