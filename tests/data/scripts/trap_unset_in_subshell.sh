#!/bin/bash
# set -u ends a subshell alone
# with: NAME=n
set -u
X="$(echo "$NAME")" || true
python3 -m trainer.main x="$X"
