#!/bin/bash
# export, local and declare expand all their words first; plain assignments go one by one
# with: A=5
A=${A:-0}
export A=1 B=$A
f() { local A=2 C=$A; SEEN=$C; }
f
declare D=3 E=${D:-none}
G=7 H=$G
python3 -m trainer.main a=$A b=$B seen=$SEEN d=$D e=$E h=$H
