#!/bin/bash
# export of a name that has no value yet stays what the environment has
# with: VISIBLE=0,1 COUNT=3
export VISIBLE COUNT
(( COUNT += 2 ))
python3 -m trainer.main devices="$VISIBLE" count=$COUNT
