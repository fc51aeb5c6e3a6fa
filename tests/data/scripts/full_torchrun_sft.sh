#!/bin/bash
# Supervised fine-tuning with torchrun; the size of the job is given as arguments.
#
# arguments: 4 /save/here trainer.total_epochs=2
# with: MASTER_ADDR=10.1.1.1 NNODES=2 LR=5e-6
set -x

if [ "$#" -lt 2 ]; then
    echo "Usage: full_torchrun_sft.sh <nproc_per_node> <save_path> [other_configs...]"
    exit 1
fi

nproc_per_node=$1
save_path=$2

# Shift the arguments so $@ refers to the rest
shift 2

torchrun --nnodes=${NNODES:-1} --nproc_per_node=$nproc_per_node \
     --master_addr="${MASTER_ADDR:-127.0.0.1}" --master_port=${MASTER_PORT:-29501} \
     -m verlike.trainer.fsdp_sft_trainer \
    data.train_files=$HOME/data/gsm8k_sft/train.parquet \
    data.prompt_key=extra_info \
    +data.prompt_dict_keys=['question'] \
    +data.response_dict_keys=['answer'] \
    optim.lr=${LR:-1e-4} \
    data.micro_batch_size_per_gpu=4 \
    model.partial_pretrain=Org/Some-0.5B-Instruct \
    trainer.default_local_dir=$save_path \
    trainer.experiment_name=sft-`basename $save_path` \
    trainer.logger='["console"]' \
    trainer.device=npu $@
