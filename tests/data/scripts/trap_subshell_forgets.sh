#!/bin/bash
# What a pipe, a subshell or $( ) sets is lost
# with: N=5
N=${N:-1}
echo 7 | read N
(N=8; cd data)
X=$(N=9; echo $N)
python3 -m trainer.main n=$N x=$X *.txt
