#!/bin/bash
# Run by uv, under nohup, with the variables in front of the command.
#
# with: CONFIG=other STEPS=7 CUDA=1
# arguments: --note ignored
cd "$(dirname "$0")/work" || exit 1
CONFIG=${CONFIG:-base}
STEPS=${STEPS:-100}
COMMON_ARGS="trainer.total_training_steps=${STEPS} trainer.val_before_train=False"
COMMON_ARGS="$COMMON_ARGS trainer.config_name=${CONFIG}"
RUNNER="uv run --no-sync"

HYDRA_FULL_ERROR=1 \
PYTHONUNBUFFERED=1 \
WANDB_RUN_ID=run-${CONFIG} \
nohup $RUNNER python -m recipe.agent.main \
    $COMMON_ARGS \
    "recipe.tools=[{name: search, url: 'http://127.0.0.1:8000/x?a=1&b=2'}]" \
    hydra.run.dir=outputs/${CONFIG} \
    > "agent_${CONFIG}.log" 2>&1
