#!/bin/bash
# ${V:offset:length} and ${#V}
# with: NAME=qwen DATE=x
NAME=${NAME:-deepseek_v3}
python3 -m trainer.main run.a=${NAME:0:4} run.b=${NAME: -2} run.c=${NAME:2} run.d=${#NAME} run.e=${NAME:1:-1}
