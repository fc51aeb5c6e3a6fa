#!/bin/bash
# A function of the name of a command, and `command` that passes it by
# with: X=2
python3() { command python3 "$@" added.last=${X:-1}; }
python3 -m trainer.main a.b=1
