#!/usr/bin/env bash
# A mixture of experts on several nodes with Megatron: the arguments in arrays.
#
# with: NNODES=8 TP=4 PP=2 EP=8 CKPT=/ckpt GEN_TP=8 ROUTER=1
set -xeuo pipefail

############################ Quick config ############################
NNODES=${NNODES:-4}
NPUS_PER_NODE=${NPUS_PER_NODE:-16}
TP=${TP:-2}
PP=${PP:-4}
EP=${EP:-16}
GEN_TP=${GEN_TP:-4}
CKPT=${CKPT:-${HOME}/ckpts}
MODEL=${MODEL:-${HOME}/models/Moe-30B}
offload=True
max_prompt_length=$((1024 * 2))
max_response_length=$((1024 * 8))
actor_ppo_max_token_len=$(((max_prompt_length + max_response_length) * 10 / 10))
infer_tokens=$((max_prompt_length + max_response_length))

export HCCL_BUFFSIZE=300
export HCCL_EXEC_TIMEOUT=${HCCL_EXEC_TIMEOUT:-3600}
export PYTORCH_NPU_ALLOC_CONF="expandable_segments:True"

############################ Parameter groups ########################
DATA=(
    data.train_files="$HOME/data/train.parquet"
    data.val_files="$HOME/data/val.parquet"
    data.max_prompt_length=$max_prompt_length
    data.max_response_length=$max_response_length
    data.train_batch_size=$((NNODES * NPUS_PER_NODE * 4))
)

MODEL_ARGS=(
    actor_rollout_ref.model.path="$MODEL"
    +actor_rollout_ref.model.override_config.attention_dropout=0.
)

ACTOR=(
    actor_rollout_ref.actor.strategy=megatron
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=${TP}
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=${PP}
    actor_rollout_ref.actor.megatron.expert_model_parallel_size=${EP}
    # keep the whole state on the host between steps
    actor_rollout_ref.actor.megatron.param_offload=${offload}
    actor_rollout_ref.actor.megatron.grad_offload=${offload}
    +actor_rollout_ref.actor.megatron.override_transformer_config.use_flash_attn=True
    '+actor_rollout_ref.actor.megatron.override_transformer_config.pipeline_layout=[["embedding","decoder"],["decoder","loss"]]'
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=${actor_ppo_max_token_len}
)
if [ "${ROUTER:-0}" = 1 ]; then
    ACTOR+=(+actor_rollout_ref.actor.megatron.override_transformer_config.moe_router_dtype=fp32)
fi

ROLLOUT=(
    actor_rollout_ref.rollout.name=vllm
    actor_rollout_ref.rollout.tensor_model_parallel_size=${GEN_TP}
    actor_rollout_ref.rollout.max_num_batched_tokens=${infer_tokens}
    actor_rollout_ref.rollout.n=8
    actor_rollout_ref.rollout.val_kwargs.temperature=1.0  # as for training
    +actor_rollout_ref.rollout.engine_kwargs.vllm.compilation_config.cudagraph_capture_sizes="[8, 16, 32]"
)

TRAINER=(
    trainer.logger=['console','tensorboard']
    trainer.project_name=moe
    trainer.experiment_name="moe-${NNODES}x${NPUS_PER_NODE}-tp${TP}pp${PP}ep${EP}"
    trainer.nnodes="${NNODES}"
    trainer.n_gpus_per_node="${NPUS_PER_NODE}"
    trainer.default_local_dir="${CKPT}/moe"
    trainer.device=npu
)

########################### Launch ###########################
python3 -m verlike.trainer.main_ppo \
    --config-name=ppo_megatron_trainer.yaml \
    "${DATA[@]}" \
    "${MODEL_ARGS[@]}" \
    "${ACTOR[@]}" \
    "${ROLLOUT[@]}" \
    "${TRAINER[@]}" \
    "$@"
