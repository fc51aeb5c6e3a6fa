#!/bin/bash
# set -o pipefail: a pipe fails where one of its commands does
# with: N=3
false | true && A=passed
set -o pipefail
false | true || B=failed
( exit 3 ) | ( exit 5 ) | true || C=$?
if echo ${N:-2} | false | cat; then D=1; else D=2; fi
set +o pipefail
! false | true || E=1
python3 -m trainer.main a=$A b=$B c=$C d=$D e=${E:-0}
