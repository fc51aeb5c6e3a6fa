#!/bin/bash
# ray job submit: its runtime_env becomes flags
# with: LEVEL=2 ADDRESS=http://h:8265
export NOT_SENT=1
RUNTIME_ENV='{"env_vars": {"TORCH_LEVEL": "'${LEVEL:-1}'", "FIXED": "a b"}}'
ray job submit --address="${ADDRESS:-http://127.0.0.1:8265}" --no-wait \
    --runtime-env-json="$RUNTIME_ENV" \
    -- python3 -m trainer.main a.b=${LEVEL:-1} "c.d=x y"
