#!/bin/bash
# eval of a whole command: quotes in it count
# with: NAME=n
CMD="python3 -m trainer.main a.b='x y' run.name=${NAME:-base}"
CMD+=" trainer.logger=[\\\"console\\\"]"
echo "$CMD"
eval "$CMD"
