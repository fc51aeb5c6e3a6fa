#!/bin/bash
# Single elements, lengths, slices, indices, patterns on every element
# with: SECOND=b2
FILES=(one.py ${SECOND:-two}.py "thr ee.py")
FILES[4]=five.py
LAST=${FILES[-1]}
python3 -m trainer.main n=${#FILES[@]} l=${#FILES[0]} first=$FILES last=$LAST "i=${!FILES[*]}" "${FILES[@]:1:2}" \
    "${FILES[@]%.py}" "${FILES[@]/#/f=}" "${FILES[@]: -1}"
