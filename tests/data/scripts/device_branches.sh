#!/bin/bash
# Branches on the device
# with: DEVICE=gpu
DEVICE=${DEVICE:-npu}
if [ "$DEVICE" = "npu" ]; then
    export HCCL_CONNECT_TIMEOUT=1500
    ATTENTION=flash_npu
    N=16
elif [ "$DEVICE" = "gpu" ]; then
    export NCCL_DEBUG=WARN
    ATTENTION=flash
    N=8
else
    exit 1
fi
case $DEVICE in
    gpu|cuda) BACKEND=nccl ;;
    npu) BACKEND=hccl ;;
esac
python3 -m trainer.main trainer.device=$DEVICE attention=$ATTENTION n=$N backend=$BACKEND
