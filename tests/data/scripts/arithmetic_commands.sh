#!/bin/bash
# (( )), let, declare -i, and what they change
# with: N=3
n=${N:-5}
(( n += 2 ))
((n++))
let "m = n * 2"
declare -i k=4
k+=3
if (( n > 7 )); then size=large; else size=small; fi
a=(1 2)
(( a[1] += n ))
python3 -m trainer.main n=$n m=$m k=$k size=$size i=$((n++)) j=$((++n)) a=${a[1]} b=$((a[0] + ${a[1]} * 2))
