#!/bin/bash
# ~ behind = is the home folder in a command's words and in assignments, not in an array's elements
# with: X=1
ARGS=(dir=~/data ~/plain)
ARGS+=(more=~/more)
python3 -m trainer.main "${ARGS[@]}" word=~/word dotted.word=~/word
