#!/bin/bash
# ray job submit with a working directory, the address from the environment, and a nested quote
# with: DIR=/w LEVEL=2
export RAY_ADDRESS="http://127.0.0.1:8265"
ray job submit --working-dir "${DIR:-.}" --no-wait \
    --runtime-env-json '{"env_vars":{"LEVEL":"'"${LEVEL:-1}"'"},"working_dir":"/other"}' \
    -- python3 -m trainer.main "a.b=['x', \"y\"]" c.d=1
