#!/bin/bash
python3 -m trainer.main run.name="$1" run.size=$SIZE "${@:2}"
