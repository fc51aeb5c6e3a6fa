#!/bin/bash
# python with options of its own
# with: X=1
export PYTHONPATH=/src:${PYTHONPATH:-}
PYTHON=${PYTHON:-python3}
$PYTHON -u -X faulthandler -W ignore -m trainer.main a.b=1
