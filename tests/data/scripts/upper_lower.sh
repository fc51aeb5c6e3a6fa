#!/bin/bash
# ${V,,} and its kin
# with: DEVICE=NPU NAME=abc
DEVICE=${DEVICE:-Npu}
NAME=${NAME:-grpo}
python3 -m trainer.main device=${DEVICE,,} run.name=${NAME^^} run.first=${NAME^} run.low=${DEVICE,}
