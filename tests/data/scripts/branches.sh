#!/bin/bash
# if / elif / else over an input
# with: ALGO=reinforce KL=true
ALGO=${ALGO:-grpo}
USE_KL=False
if [ "$ALGO" = "grpo" ]; then
    EST=grpo
elif [[ "$ALGO" == re* ]]; then
    EST=reinforce_plus_plus
else
    echo "unknown algorithm $ALGO" >&2
    exit 1
fi
if test "${KL:-false}" = true; then USE_KL=True; fi
python3 -m trainer.main algorithm.adv_estimator=$EST algorithm.use_kl=$USE_KL
