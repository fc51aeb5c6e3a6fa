#!/bin/bash
# ${V:?why} of what has a value by then
# with: MODEL=/m
MODEL=${MODEL:-/models/base}
: "${MODEL:?}"
python3 -m trainer.main model.path=${MODEL:?give the model} data.path="${DATA:-${HOME:?}}"
