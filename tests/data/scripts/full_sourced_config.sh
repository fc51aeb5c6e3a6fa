#!/bin/bash
# The common part is sourced; functions build the arguments.
#
# with: BATCH=128 MODEL_PATH=/models/x KL=0.01 HCCL_CONNECT_TIMEOUT=60
set -eo pipefail
SCRIPT_DIR="$( cd "$( dirname "${BASH_SOURCE[0]}" )" >/dev/null 2>&1 && pwd )"
PROJECT_ROOT="$(dirname "$SCRIPT_DIR")"
. "$SCRIPT_DIR/files/lib/config.sh"
source "$SCRIPT_DIR/files/lib/functions.sh"

log() { echo "[$(date '+%Y-%m-%d')] $*"; }

build_actor_args() {
    local kl="$1"
    ACTOR_ARGS=(
        actor.strategy=fsdp2
        actor.kl_loss_coef="$kl"
    )
    if [[ "$kl" != "0" && "$kl" != "0.0" ]]; then
        ACTOR_ARGS+=(actor.use_kl_loss=True)
    else
        ACTOR_ARGS+=(actor.use_kl_loss=False)
    fi
}

launch_training() {
    log "starting ${1}"
    python3 -m verlike.trainer.main_ppo \
        "${COMMON[@]}" \
        "${ACTOR_ARGS[@]}" \
        model.path="$MODEL_PATH" \
        "${WORDS[@]}" \
        trainer.experiment_name="$1"
}

build_actor_args "${KL:-0.001}"
add trainer.project_name demo
add trainer.device npu
launch_training "kl_${KL:-0.001}" 2>&1 | tee "train_$(date +%Y).log"
