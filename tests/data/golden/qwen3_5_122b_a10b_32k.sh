#!/usr/bin/env bash
# qwen3_5_122b_a10b_32k: GRPO, Qwen3.5-122B-A10B, 4K prompt + 32K response, 4 nodes x 16 NPUs
# Written by `npurun render --as bash`.
# Flags exported here reach Ray's workers only if `ray start` on each node had them too.
set -euo pipefail

# flags
export CPU_AFFINITY_CONF=1
export VLLM_ALLREDUCE_USE_SYMM_MEM=0
export VLLM_ASCEND_ENABLE_FLASHCOMM1=1
export VLLM_ASCEND_ENABLE_PREFETCH_MLP=1
export VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE=1
export VLLM_USE_V1=1

# data
DATA_ARGS=(
  data.train_files=/root/verl/datasets/geo3k/train.parquet
  data.val_files=/root/verl/datasets/geo3k/test.parquet
  data.train_batch_size=16
  data.max_prompt_length=4096
  data.max_response_length=32768
  data.truncation=error
  data.filter_overlong_prompts=True
)

# algorithm
ALGORITHM_ARGS=(
  algorithm.adv_estimator=grpo
  algorithm.use_kl_in_reward=False
)

# model
MODEL_ARGS=(
  actor_rollout_ref.model.path=/root/verl/models/Qwen3.5-122B-A10B
  actor_rollout_ref.model.trust_remote_code=True
  actor_rollout_ref.model.use_remove_padding=False
)

# rollout
ROLLOUT_ARGS=(
  actor_rollout_ref.rollout.name=vllm
  actor_rollout_ref.rollout.tensor_model_parallel_size=16
  actor_rollout_ref.rollout.expert_parallel_size=16
  actor_rollout_ref.rollout.gpu_memory_utilization=0.6
  actor_rollout_ref.rollout.n=5
  actor_rollout_ref.rollout.dtype=bfloat16
  actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2
  actor_rollout_ref.rollout.log_prob_use_dynamic_bsz=False
  actor_rollout_ref.rollout.calculate_log_probs=True
  actor_rollout_ref.rollout.ignore_eos=False
  actor_rollout_ref.rollout.enforce_eager=False
  actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes=4096
  +actor_rollout_ref.rollout.engine_kwargs.vllm.compilation_config.cudagraph_mode=FULL_DECODE_ONLY
  '+actor_rollout_ref.rollout.engine_kwargs.vllm.compilation_config.cudagraph_capture_sizes=[4,12,24,48,64]'
  ++actor_rollout_ref.rollout.engine_kwargs.vllm.additional_config.enable_cpu_binding=True
  ++actor_rollout_ref.rollout.engine_kwargs.vllm.async_scheduling=True
)

# actor
ACTOR_ARGS=(
  actor_rollout_ref.actor.use_dynamic_bsz=False
  actor_rollout_ref.actor.use_kl_loss=True
  actor_rollout_ref.actor.kl_loss_coef=0.01
  actor_rollout_ref.actor.kl_loss_type=low_var_kl
  actor_rollout_ref.actor.entropy_coeff=0
  actor_rollout_ref.actor.ppo_mini_batch_size=16
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1
  actor_rollout_ref.actor.optim.lr=1e-6
  +actor_rollout_ref.actor.optim.override_optimizer_config.overlap_cpu_optimizer_d2h_h2d=True
  actor_rollout_ref.actor.checkpoint.strict=False
  'actor_rollout_ref.actor.checkpoint.save_contents=['"'"'model'"'"']'
  actor_rollout_ref.actor.megatron.use_mbridge=True
  actor_rollout_ref.actor.megatron.vanilla_mbridge=False
  actor_rollout_ref.actor.megatron.use_remove_padding=False
  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2
  actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=4
  actor_rollout_ref.actor.megatron.context_parallel_size=4
  actor_rollout_ref.actor.megatron.expert_model_parallel_size=16
  actor_rollout_ref.actor.megatron.expert_tensor_parallel_size=1
  actor_rollout_ref.actor.megatron.param_offload=True
  actor_rollout_ref.actor.megatron.optimizer_offload=True
  actor_rollout_ref.actor.megatron.grad_offload=True
  actor_rollout_ref.actor.megatron.dtype=bfloat16
  ++actor_rollout_ref.actor.megatron.override_transformer_config.attention_backend=auto
  +actor_rollout_ref.actor.megatron.override_transformer_config.context_parallel_algo=kvallgather_cp_algo
  +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform
  +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full
  +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1
  +actor_rollout_ref.actor.megatron.override_transformer_config.use_flash_attn=True
  +actor_rollout_ref.actor.megatron.override_transformer_config.sequence_parallel=True
  +actor_rollout_ref.actor.megatron.override_transformer_config.use_fused_rmsnorm=True
  +actor_rollout_ref.actor.megatron.override_transformer_config.use_fused_swiglu=True
  +actor_rollout_ref.actor.megatron.override_transformer_config.use_naive_l2norm=True
  +actor_rollout_ref.actor.megatron.override_transformer_config.moe_aux_loss_coeff=0.01
  +actor_rollout_ref.actor.megatron.override_transformer_config.moe_z_loss_coeff=0.001
  +actor_rollout_ref.actor.megatron.override_transformer_config.moe_permute_fusion=True
  +actor_rollout_ref.actor.megatron.override_transformer_config.moe_grouped_gemm=True
  +actor_rollout_ref.actor.megatron.override_transformer_config.moe_token_dispatcher_type=alltoall
  +actor_rollout_ref.actor.megatron.override_transformer_config.moe_router_dtype=fp32
)

# ref
REF_ARGS=(
  actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=2
  actor_rollout_ref.ref.log_prob_use_dynamic_bsz=False
  actor_rollout_ref.ref.megatron.tensor_model_parallel_size=2
  actor_rollout_ref.ref.megatron.pipeline_model_parallel_size=4
  actor_rollout_ref.ref.megatron.context_parallel_size=4
  actor_rollout_ref.ref.megatron.expert_model_parallel_size=16
  actor_rollout_ref.ref.megatron.expert_tensor_parallel_size=1
  actor_rollout_ref.ref.megatron.param_offload=True
)

# trainer
TRAINER_ARGS=(
  trainer.critic_warmup=0
  'trainer.logger=["console"]'
  trainer.project_name=verl_grpo_qwen3_5_122b_geo3k
  trainer.experiment_name=qwen3_5_122b_megatron_npu_4k_32k
  trainer.n_gpus_per_node=16
  trainer.nnodes=4
  trainer.save_freq=15
  trainer.val_before_train=False
  trainer.test_freq=-1
  trainer.total_training_steps=100
  trainer.total_epochs=15
)

# extra
EXTRA_ARGS=(
  model_engine=megatron
)

exec python3 -m verl.trainer.main_ppo \
  "${DATA_ARGS[@]}" \
  "${ALGORITHM_ARGS[@]}" \
  "${MODEL_ARGS[@]}" \
  "${ROLLOUT_ARGS[@]}" \
  "${ACTOR_ARGS[@]}" \
  "${REF_ARGS[@]}" \
  "${TRAINER_ARGS[@]}" \
  "${EXTRA_ARGS[@]}"
