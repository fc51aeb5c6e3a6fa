#!/bin/bash
# set -euo pipefail, with everything set
# with: N=4
set -euo pipefail
set -x
N=${N:-2}
EMPTY=()
if [ "$N" -gt 3 ]; then BIG=1; else BIG=0; fi
[ -n "${NOT_THERE:-}" ] && X=1
X=${X:-0}
f() { false; true; }
f || true
python3 -m trainer.main n=$N big=$BIG x=$X "${EMPTY[@]}" $@ | tee train.log
