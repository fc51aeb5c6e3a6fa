#!/bin/bash
# case with patterns, alternatives, ;& and ;;&
# with: ENGINE=megatron SIZE=72B
case "${ENGINE:-fsdp}" in
    fsdp|fsdp2) STRATEGY=${ENGINE:-fsdp}; OFFLOAD=True ;;
    meg*)
        STRATEGY=megatron
        OFFLOAD=False
        ;;
    *) echo "no engine ${ENGINE}"; exit 2 ;;
esac
case ${SIZE:-7B} in
    7B) N=1 ;&
    [0-9]B) M=2 ;;
    72B) N=8 ;;&
    *B) M=9 ;;
    *) N=0 ;;
esac
python3 -m trainer.main strategy=$STRATEGY offload=$OFFLOAD n=$N m=${M:-0}
