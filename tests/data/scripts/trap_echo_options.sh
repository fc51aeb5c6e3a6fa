#!/bin/bash
# echo takes a first word such as -n for an option
# with: FLAGS=-n LIST=-e
X=$(echo $FLAGS a)
Y=$(echo "${LIST:-p,q}" | cut -d, -f1)
python3 -m trainer.main x="$X" y="$Y"
