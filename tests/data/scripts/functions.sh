#!/bin/bash
# Functions: arguments, local, return, output, and what they change outside
# with: SIZE=large
N=1
scale() {
    local base=$1 factor=${2:-2}
    N=$((N + 1))
    [ "$base" -gt 100 ] && return 1
    echo $((base * factor))
}
function add { WORDS+=("$1=$2"); shift 2; [ $# -eq 0 ] || add "$@"; }
pick() { case $1 in large) echo 64 ;; *) echo 8 ;; esac }
outer() { local hidden=in; inner; }
inner() { SEEN=$hidden; }
outer
scale 200 || BIG=1
add a.b 1 c.d "x y"
python3 -m trainer.main "${WORDS[@]}" n=$N big=$BIG s=$(scale 5) t=$(scale 5 3) p=$(pick ${SIZE:-small}) h=${hidden:-out} s=$SEEN m=$N
