#!/usr/bin/env bash
# GRPO with FSDP on one node, as people write such a script.
#
# with: MODEL_PATH=/models/other NGPUS=4 OFFLOAD=True ROLLOUT_N=16 PROJECT=mine
# arguments: trainer.total_epochs=3 'data.prompt_key=my key'
set -x

export HYDRA_FULL_ERROR=1
export VLLM_USE_V1=1
# Ascend: the queue of operators
export TASK_QUEUE_ENABLE=${TASK_QUEUE_ENABLE:-2}

MODEL_PATH=${MODEL_PATH:-$HOME/models/Base-7B}
DATA_DIR=${DATA_DIR:-"$HOME/data/gsm"}
NGPUS=${NGPUS:-8}
ROLLOUT_N=${ROLLOUT_N:-5}
OFFLOAD=${OFFLOAD:-False}
PROJECT=${PROJECT:-grpo_demo}
max_prompt=$((1024 * 1))
max_response=$((1024 * 4))
gsm_train=$DATA_DIR/train.parquet
math_train=$DATA_DIR/math.parquet
train_files="['$gsm_train', '$math_train']"

python3 -m verlike.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_files="$train_files" \
    data.val_files="['$DATA_DIR/test.parquet']" \
    data.train_batch_size=1024 \
    data.max_prompt_length=${max_prompt} \
    data.max_response_length=${max_response} \
    data.filter_overlong_prompts=True \
    data.truncation='error' \
    actor_rollout_ref.model.path=$MODEL_PATH \
    actor_rollout_ref.actor.optim.lr=1e-6 \
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=$(((max_prompt + max_response) * 2)) \
    actor_rollout_ref.actor.fsdp_config.param_offload=$OFFLOAD \
    actor_rollout_ref.actor.fsdp_config.optimizer_offload=$OFFLOAD \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=$ROLLOUT_N \
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 \
    +actor_rollout_ref.rollout.engine_kwargs.vllm.disable_mm=True \
    algorithm.use_kl_in_reward=False \
    trainer.logger='["console","tensorboard"]' \
    trainer.project_name="$PROJECT" \
    trainer.experiment_name="$(basename "$MODEL_PATH")_n${ROLLOUT_N}" \
    trainer.n_gpus_per_node=$NGPUS \
    trainer.nnodes=1 \
    trainer.device=npu "$@" 2>&1 | tee grpo.log
