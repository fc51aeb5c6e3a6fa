#!/bin/bash
# One script for several devices: it looks at the machine, and the variable wins.
#
# with: DEVICE=npu NUM=4 PROFILE=1
set -u
detect_device() {
    if command -v npu-smi &> /dev/null; then
        echo npu
    elif command -v nvidia-smi &> /dev/null; then
        echo cuda
    else
        echo cpu
    fi
}
DEVICE=${DEVICE:-npu}
[ "$DEVICE" = auto ] && DEVICE=$(detect_device)

case "$DEVICE" in
    npu)
        export ASCEND_GLOBAL_LOG_LEVEL=3
        export HCCL_SOCKET_IFNAME=${IFNAME:-eth0}
        DEVICE_ARGS=(
            trainer.device=npu
            actor.attn_implementation=sdpa
        )
        NUM=${NUM:-16}
        ;;
    cuda)
        export NCCL_DEBUG=WARN
        DEVICE_ARGS=(trainer.device=cuda)
        NUM=${NUM:-8}
        ;;
    *)
        echo "Unsupported device: $DEVICE" >&2
        exit 1
        ;;
esac

PROFILE_ARGS=()
if [[ "${PROFILE:-0}" == "1" ]]; then
    PROFILE_ARGS+=(
        "profiler.steps=[1,2,5]"
        profiler.tool=$([ "$DEVICE" = npu ] && echo npu || echo nsys)
    )
fi

python3 -m verlike.trainer.main_ppo \
    "${DEVICE_ARGS[@]}" \
    ${PROFILE_ARGS[@]+"${PROFILE_ARGS[@]}"} \
    trainer.n_gpus_per_node=$NUM \
    trainer.nnodes=1 "$@"
