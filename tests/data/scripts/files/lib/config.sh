# Sourced by scripts of the folder above.
MODEL_PATH=${MODEL_PATH:-/models/base}
export HCCL_CONNECT_TIMEOUT=${HCCL_CONNECT_TIMEOUT:-1800}
COMMON=(
    data.train_batch_size=${BATCH:-256}
    # shared by all recipes
    trainer.logger=['console','tensorboard']
)
