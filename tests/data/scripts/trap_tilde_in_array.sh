#!/bin/bash
# ~ behind = is the home folder in a command's words and in assignments, not in an array's elements
# with: X=1
ARGS=(data.dir=~/data ~/plain)
ARGS+=(more.dir=~/more)
python3 -m trainer.main "${ARGS[@]}" word.dir=~/word
