#!/bin/bash
# 08 is no number, 010 is 8
# with: DAY=010
DAY=${DAY:-07}
NEXT=$((DAY + 1))
TEN=$((10#$DAY + 1))
python3 -m trainer.main next=$NEXT ten=$TEN
