#!/bin/bash
# A value that breaks the JSON of the runtime_env
# with: NAME=a\"b
ray job submit --runtime-env-json="{\"env_vars\": {\"NAME\": \"${NAME:-plain}\", \"FIXED\": \"1\"}}" -- python3 -m trainer.main a.b=1
