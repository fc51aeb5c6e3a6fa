#!/bin/bash
# for over words, an array, a range, `((;;))`; while and until; break and continue
# with: STOP=2
for name in a "b c" d; do WORDS+=("w.$name=1"); done
LIST=(x y)
for name in "${LIST[@]}"; do WORDS+=("l.$name=1"); done
for i in {1..4}; do
    [ $i -eq ${STOP:-3} ] && continue
    for j in 1 2 3; do
        [ $j -eq 2 ] && continue 2
        WORDS+=("r.$i$j=1")
    done
done
for ((i = 0; i < 6; i += 2)); do WORDS+=(c.$i=1); done
n=0
while true; do n=$((n + 1)); if (( n >= 3 )); then break; fi; done
until [ $n -le 1 ]; do n=$((n - 1)); SUM=$SUM$n; done
python3 -m trainer.main "${WORDS[@]}" n=$n sum=$SUM i=$i
