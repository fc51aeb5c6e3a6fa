#!/bin/bash
# bash -c with a text and arguments
# with: N=3
export N=${N:-2}
bash -ec 'python3 -m trainer.main n=$N first="$1" zero="$0" "${@:2}"' name "a b" "c.d=e f"
