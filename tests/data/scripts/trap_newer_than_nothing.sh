#!/bin/bash
# A file is newer than one that is not there; printf -v sets an element
# with: X=1
[ pairs.txt -nt not_there ] && NEW=1
[ not_there -ot pairs.txt ] && OLD=1
printf -v 'A[1]' '%s' q
python3 -m trainer.main new=${NEW:-0} old=${OLD:-0} a=${A[1]}
