#!/bin/bash
# set -e does not count in conditions, in what stands before && and ||, nor behind !
# with: X=1
set -e
if false; then A=1; fi
false || B=1
! true
[ "${X:-0}" = 0 ] && C=1
D=$(true; false; echo d)
local_in_function() { local E=$(false); F=1; }
local_in_function
export G=$(false)
while false; do :; done
python3 -m trainer.main b=$B c=${C:-no} d=$D f=$F g="$G"
