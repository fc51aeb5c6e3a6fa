#!/bin/bash
# ${A[*]} joins with the first sign of IFS
# with: LAST=c
FILES=(a.parquet b.parquet ${LAST:-z}.parquet)
joined=$(IFS=,; echo "${FILES[*]}")
join_by() { local IFS="$1"; shift; echo "$*"; }
python3 -m trainer.main data.a="[${joined}]" data.b="[$(join_by , "${FILES[@]}")]" data.c="${FILES[*]}" data.d=[${FILES[*]}]
