#!/bin/bash
# A variable that is readonly keeps its value
# with: N=5
readonly N=${N:-3}
N=9
python3 -m trainer.main n=$N
