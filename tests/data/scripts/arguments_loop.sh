#!/bin/bash
# The script's own options, read in a loop
# arguments: --nodes 4 --model=/m/x --flag -- extra.a=1 'extra.b=x y'
# with: MODEL=/other
NODES=1
MODEL=${MODEL:-/models/base}
FLAG=false
usage() { echo "usage: $0 [--nodes N]"; exit 1; }
while [[ $# -gt 0 ]]; do
    case "$1" in
        -n|--nodes) NODES="$2"; shift 2 ;;
        --model=*) MODEL="${1#*=}"; shift ;;
        --flag) FLAG=true; shift ;;
        --) shift; break ;;
        -*) echo "unknown option $1" >&2; usage ;;
        *) break ;;
    esac
done
python3 -m trainer.main trainer.nnodes=$NODES model.path=$MODEL flag=$FLAG "$@"
