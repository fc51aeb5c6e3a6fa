#!/bin/bash
# uv run
# with: X=2
uv run --frozen --extra npu python3 -m trainer.main a.b=${X:-1} "$@"
