#!/bin/bash
# unset: a variable, an element, a function, and what the environment has
# with: HTTP_PROXY=http://p RANK=5
RANK_WAS=${RANK:-none}
unset RANK HTTP_PROXY
A=(x.a=1 x.b=2 x.c=3)
unset 'A[1]'
f() { B=1; }
f=kept
unset -f f
python3 -m trainer.main "${A[@]}" rank=${RANK:-0} was=$RANK_WAS proxy="${HTTP_PROXY-none}" f=$f n=${#A[@]}
