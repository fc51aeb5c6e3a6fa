#!/bin/bash
# exec bash of another script: it gets what is exported and the arguments, and nothing comes after it
# arguments: first 'x.y=a b'
# with: SIZE=9
export SIZE=${SIZE:-3}
HIDDEN=1
exec bash "$(dirname "$0")/files/lib/train.sh" "$@" hidden=${HIDDEN}
python3 -m trainer.other a.b=1
