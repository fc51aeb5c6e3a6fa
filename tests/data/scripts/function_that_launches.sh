#!/bin/bash
# The launch stands in a function, with the function's own arguments
# with: LR=1e-5
run() {
    local name=$1
    shift
    local lr=${LR:-1e-6}
    python3 -m trainer.main run.name="$name" optim.lr=$lr "$@"
}
main() { run "exp-$1" trainer.epochs=3 "${@:2}"; }
main one k.a=1 k.b="x y"
