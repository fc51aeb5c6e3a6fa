#!/bin/bash
# [[ =~ ]] and BASH_REMATCH
# with: NAME=llama-70b-chat
NAME=${NAME:-qwen-7b}
pattern='^([a-z]+)-([0-9]+)b'
if [[ $NAME =~ $pattern ]]; then FAMILY=${BASH_REMATCH[1]} BILLION=${BASH_REMATCH[2]}; fi
[[ $NAME =~ [[:digit:]]+b$ ]] && PLAIN=1
[[ a.c =~ "a.c" && ! abc =~ "a.c" ]] && QUOTED=1
python3 -m trainer.main family=$FAMILY billion=$BILLION plain=${PLAIN:-0} quoted=$QUOTED
