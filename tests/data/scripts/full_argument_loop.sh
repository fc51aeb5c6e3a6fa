#!/bin/bash
# A script with options of its own, defaults per model size, and a dry run.
#
# arguments: --size 32b --nodes 4 --algo rloo --extra trainer.val_before_train=True
# with: SAVE_FREQ=5 WANDB_MODE=online
set -e

SIZE=7b
NODES=1
ALGO=grpo
DRY_RUN=false
EXTRA_ARGS=()

print_help() {
    cat << HELP
Usage: $0 [--size 7b|32b|72b] [--nodes N] [--algo NAME] [--extra ARG]...
HELP
}

while [ $# -gt 0 ]; do
    key="$1"
    case $key in
        --size) SIZE="$2"; shift; shift ;;
        --nodes) NODES="$2"; shift 2 ;;
        --algo) ALGO="$2"; shift 2 ;;
        --extra) EXTRA_ARGS+=("$2"); shift 2 ;;
        --dry-run) DRY_RUN=true; shift ;;
        -h|--help) print_help; exit 0 ;;
        *) echo "Unknown option: $1"; print_help; exit 1 ;;
    esac
done

declare -A TP_OF=([7b]=1 [32b]=4 [72b]=8)
TP=${TP_OF[$SIZE]}
if [[ -z "$TP" ]]; then
    echo "no size $SIZE"; exit 1
fi
case "$ALGO" in
    grpo|rloo) CRITIC=False ;;
    ppo) CRITIC=True ;;
    *) echo "no algorithm $ALGO"; exit 1 ;;
esac
BATCH=$(( 128 * NODES ))
MINI=$(( BATCH / 4 ))
if (( MINI > 256 )); then MINI=256; fi

export WANDB_MODE=${WANDB_MODE:-offline}

cmd="python3 -m verlike.trainer.main_ppo \
  algorithm.adv_estimator=$ALGO \
  data.train_batch_size=$BATCH \
  actor.ppo_mini_batch_size=$MINI \
  critic.enable=$CRITIC \
  model.path=org/Model-${SIZE^^} \
  rollout.tensor_model_parallel_size=$TP \
  trainer.save_freq=${SAVE_FREQ:--1} \
  trainer.nnodes=$NODES"

if [ "$DRY_RUN" = true ]; then
    echo $cmd "${EXTRA_ARGS[@]}"
    exit 0
fi
$cmd "${EXTRA_ARGS[@]}"
