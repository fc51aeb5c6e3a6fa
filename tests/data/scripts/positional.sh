#!/bin/bash
# $1 …, shift, $#, "$@", $@, "$*", ${@:2}
# arguments: grpo 8 'a.b=x y' c.d=*
# with: X=1
ALGO=$1
N=${2:-4}
COUNT=$#
shift 2
python3 -m trainer.main algo=$ALGO n=$N count=$COUNT left=$# "$@" $@ "all=$*" "${@:2}" "${@:1:1}" z=${9:-none}
