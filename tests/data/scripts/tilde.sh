#!/bin/bash
# ~ at the start of a word and in assignments, not in quotes
# with: X=1
P=~/a:~/b
export CACHE=~/cache
python3 -m trainer.main ~/x k=~/y "q=~/z" p=$P d=${D:-~/d} ~nobody_at_all/x e='~' x~/y
