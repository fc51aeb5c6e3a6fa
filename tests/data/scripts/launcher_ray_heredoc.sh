#!/bin/bash
# ray job submit with a runtime_env made by a here-document, and env before the command
# with: LEVEL=2
RUNTIME_ENV_JSON=$(cat <<END
{
  "env_vars": {
    "LEVEL": "${LEVEL:-1}",
    "PATHS": "/a:/b"
  }
}
END
)
ray job submit --runtime-env-json "$RUNTIME_ENV_JSON" -- env INNER=1 python3 -u -m trainer.main a.b=1
