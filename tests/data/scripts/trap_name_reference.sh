#!/bin/bash
# A reference to the name of an array
# with: V=2
append() {
    local -n target=$1
    shift
    target+=("$@")
}
ARGS=()
append ARGS a.b=${V:-1} c.d="x y"
name=V_${V:+set}
V_set=yes
python3 -m trainer.main "${ARGS[@]}" v=${!name:-no}
