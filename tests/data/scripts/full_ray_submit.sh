#!/bin/bash
# Submits to a standing Ray cluster; the runtime environment is written in place.
#
# with: RAY_ADDRESS=http://10.0.0.1:8265 NNODES=4 TOKENS=100 EXP=second
set -euo pipefail
WORKING_DIR=${WORKING_DIR:-"${PWD}"}
RAY_ADDRESS=${RAY_ADDRESS:-"http://localhost:8265"}
NNODES=${NNODES:-2}
EXP=${EXP:-first}
RAY_DATA_HOME=${RAY_DATA_HOME:-"${HOME}/verlike"}
CKPTS_DIR=${CKPTS_DIR:-"${RAY_DATA_HOME}/ckpts/${EXP}"}
clip_ratio_low=0.2
clip_ratio_high=0.28
temperature=1.0
top_k=-1 # 0 for HF rollout, -1 for vLLM rollout
use_dynamic_bsz=True
overlong_buffer_len=$((1024 * 4))

ray job submit --no-wait --address "${RAY_ADDRESS}" \
    --runtime-env-json="{
        \"working_dir\": \"${WORKING_DIR}\",
        \"env_vars\": {
            \"VLLM_MAX_TOKENS\": \"${TOKENS:-4096}\",
            \"EXPERIMENT\": \"${EXP}\",
            \"HCCL_WHITELIST_DISABLE\": \"1\"
        }
    }" \
    -- python3 -m recipe.dapo.main_dapo \
    data.train_files="${RAY_DATA_HOME}/data/dapo-math.parquet" \
    data.truncation='left' \
    actor_rollout_ref.actor.clip_ratio_low=${clip_ratio_low} \
    actor_rollout_ref.actor.clip_ratio_high=${clip_ratio_high} \
    actor_rollout_ref.actor.use_dynamic_bsz=${use_dynamic_bsz} \
    actor_rollout_ref.rollout.temperature=${temperature} \
    actor_rollout_ref.rollout.top_k="${top_k}" \
    +reward_model.overlong_buffer.len=${overlong_buffer_len} \
    trainer.logger=['console','wandb'] \
    trainer.nnodes="${NNODES}" \
    trainer.n_gpus_per_node=16 \
    trainer.default_local_dir="${CKPTS_DIR}" \
    trainer.resume_mode=auto
