#!/bin/bash
# getopts
# arguments: -n 4 -m /m/x -v rest.a=1
# with: X=1
while getopts ":n:m:v" option; do
    case $option in
        n) NODES=$OPTARG ;;
        m) MODEL=$OPTARG ;;
        v) VERBOSE=1 ;;
        *) exit 1 ;;
    esac
done
shift $((OPTIND - 1))
python3 -m trainer.main nodes=$NODES model=$MODEL verbose=$VERBOSE "$@"
