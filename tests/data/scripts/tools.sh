#!/bin/bash
# Tools that work on text alone
# with: MODEL=Org/Some-Model LIST=x,y
MODEL=${MODEL:-org/model-7B}
NAME=$(basename "$MODEL")
LOWER=$(echo "$NAME" | tr 'A-Z' 'a-z')
SAFE=$(echo $MODEL | sed 's/\//_/g')
FIRST=$(echo "${LIST:-a,b,c}" | cut -d, -f1)
COUNT=$(echo "${LIST:-a,b,c}" | tr ',' '\n' | wc -l)
FOLDER=$(dirname "$MODEL")
PADDED=$(printf '%03d' 7)
printf -v LINE '%s-%s' "$NAME" "$FIRST"
SORTED=$(printf '%s\n' b a | head -n 1)
python3 -m trainer.main name=$NAME c=$(basename .c .c) cc=$(basename /x/y.c.c .c) lower=$LOWER safe=$SAFE first=$FIRST count=$COUNT folder=$FOLDER pad=$PADDED line=$LINE s=$SORTED
